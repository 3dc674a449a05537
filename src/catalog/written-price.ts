import type { Nano } from '../base/money.ts';
import { measures } from '../base/quantities.ts';
import type { WrittenPrice } from './config-schema.ts';
import type { Price, PriceTier, Rates } from './price.ts';
import { nanoPerMillion, priceLacks, variantMeasure } from './price-members.ts';
import type { Path } from './problem.ts';
import type { Report } from './report.ts';
import type { ModelKind } from './snapshot.ts';

type WrittenRates = Omit<WrittenPrice, 'tiers' | 'by'>;

/** A price as written → as charged. What is wrong with it as a price of this kind of model is reported below `path`. */
export function readPrice(
  kind: ModelKind,
  written: WrittenPrice,
  report: Report,
  path: Path,
): Price {
  const rates = ratesOf(written);
  const price: Price = {
    rates,
    tiers: readTiers(written, report, path),
    by: readVariants(kind, rates, written, report, path),
  };
  const lacks = priceLacks(kind, price);
  if (lacks !== undefined) report.add(path, lacks);
  return price;
}

/** `cache_write` is the price of both retentions, unless one has its own. */
function ratesOf({ cache_write: both, ...written }: Partial<WrittenRates>): Rates {
  const rates: Partial<Record<string, Nano | undefined>> = {
    cache_write_5m: both,
    cache_write_1h: both,
  };
  for (const measure of measures) rates[measure] = written[measure] ?? rates[measure];
  return Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== undefined));
}

function readTiers(written: WrittenPrice, report: Report, path: Path): readonly PriceTier[] {
  let last = 0;
  return (written.tiers ?? []).map(({ above_input_tokens: aboveInputTokens, ...rest }, index) => {
    if (aboveInputTokens <= last)
      report.add(
        [...path, 'tiers', index, 'above_input_tokens'],
        `must be more than in the tier before it (${last})`,
      );
    last = aboveInputTokens;
    return { aboveInputTokens, rates: ratesOf(rest) };
  });
}

function readVariants(
  kind: ModelKind,
  plain: Rates,
  { by }: WrittenPrice,
  report: Report,
  path: Path,
): Price['by'] {
  if (by === undefined || Object.keys(by).length === 0) return undefined;
  const measure = variantMeasure(kind, plain);
  const rates: Record<string, Nano> = {};
  for (const [variant, yuan] of Object.entries(by)) {
    const rate = nanoPerMillion(measure, yuan);
    if (typeof rate === 'bigint') rates[variant] = rate;
    else report.add([...path, 'by', variant], rate);
  }
  return { measure, rates };
}
