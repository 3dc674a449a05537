import type { ChargeView } from '../../src/console/contract.ts';
import { formatCount } from '../format/count.ts';
import type overviewWords from '../words/en/overview.ts';
import type usageWords from '../words/en/usage.ts';

/** What a charge is for, in its own unit: tokens, images, seconds; empty where nothing is counted. */
export function usedText(
  { kind, tokens, quantity }: Pick<ChargeView, 'kind' | 'tokens' | 'quantity'>,
  words: typeof overviewWords.start,
  units: typeof usageWords.units,
): string {
  // Calls of tools come with the tokens of their answer, which say more.
  if (quantity !== null && (quantity.unit !== 'call' || tokens === null)) {
    const amount = formatCount(quantity.amount);
    const text = units[quantity.unit](amount);
    if (quantity.unit === 'image') return words.images(amount);
    if (quantity.unit === 'second') return kind === 'video' ? words.video(text) : words.audio(text);
    return text;
  }
  if (tokens === null) return kind === 'video' ? words.aVideo : '';
  return tokens.output > 0
    ? words.output(formatCount(tokens.output))
    : words.input(formatCount(tokens.input));
}
