import type { Nano } from '../../base/money.ts';
import type { Quantities } from '../../base/quantities.ts';
import { costOf, type Tariff } from '../../catalog/price.ts';
import { linesText } from '../settle.ts';

/** What a video costs, and how that comes about. */
export interface VideoBill {
  readonly total: Nano;
  readonly text: string;
}

/** `variants`: the names that its price may go by, the most telling first. */
export function billOf(
  tariff: Tariff,
  quantities: Quantities,
  variants: readonly string[],
): VideoBill {
  const variant = variants.find((name) => tariff.variants?.listed.has(name));
  const { lines, total } = costOf(tariff, quantities, variant);
  return { total, text: linesText(lines) };
}
