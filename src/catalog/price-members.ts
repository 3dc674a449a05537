import { divideUp, type Nano } from '../base/money.ts';
import type { Measure } from '../base/quantities.ts';
import { exactDecimal } from './decimal.ts';
import type { Price, Rates } from './price.ts';
import type { ModelKind } from './snapshot.ts';

type PriceUnitName =
  | 'million tokens'
  | 'image'
  | 'megapixel'
  | 'second'
  | 'character'
  | 'request'
  | 'call';

/** What the number behind each member buys: a price is yuan for this. */
export const priceUnits: Readonly<Record<Measure, PriceUnitName>> = {
  input: 'million tokens',
  cached_input: 'million tokens',
  cache_write_5m: 'million tokens',
  cache_write_1h: 'million tokens',
  output: 'million tokens',
  reasoning: 'million tokens',
  audio_input: 'million tokens',
  audio_output: 'million tokens',
  image_input: 'million tokens',
  image_output: 'million tokens',
  image: 'image',
  megapixel: 'megapixel',
  second: 'second',
  character: 'character',
  request: 'request',
  web_search: 'call',
  web_fetch: 'call',
  file_search: 'call',
  code_session: 'call',
  grounding_query: 'call',
  mcp_call: 'call',
};

/**
 * Decimals of a price that nano-yuan per million units hold: yuan × 10⁹ for a million tokens, yuan
 * × 10¹⁵ for one of anything else.
 */
export function pricePlaces(measure: Measure): number {
  return priceUnits[measure] === 'million tokens' ? 9 : 15;
}

/** Yuan for one unit, as written → nano-yuan per million, exactly; or why not. */
export function nanoPerMillion(measure: Measure, yuan: string): Nano | string {
  return exactDecimal(yuan, pricePlaces(measure));
}

const million = 1_000_000n;

/**
 * The same for a price in another currency, `ratePpm` millionths of a yuan each, rounded up to the
 * nano.
 */
export function convertedNanoPerMillion(
  measure: Measure,
  amount: string,
  ratePpm: bigint,
): Nano | string {
  const exact = exactDecimal(amount, pricePlaces(measure));
  return typeof exact === 'string' ? exact : divideUp(exact * ratePpm, million);
}

/**
 * The members of which a model of each kind needs one whole row, so that nothing it does is free by
 * oversight.
 */
const enough: Readonly<Record<ModelKind, readonly (readonly Measure[])[]>> = {
  chat: [['input', 'output'], ['request']],
  completion: [['input', 'output'], ['request']],
  embedding: [['input'], ['request']],
  rerank: [['input'], ['request']],
  moderation: [['input'], ['request']],
  image: [['image'], ['megapixel'], ['image_output'], ['output'], ['request']],
  transcription: [['second'], ['input'], ['audio_input'], ['request']],
  speech: [['character'], ['second'], ['output'], ['audio_output'], ['request']],
  video: [['second'], ['output'], ['request']],
};

/** What a price for this kind still lacks; undefined when it is complete. */
export function priceLacks(kind: ModelKind, price: Price): string | undefined {
  const has = (measure: Measure): boolean =>
    price.rates[measure] !== undefined || price.by?.measure === measure;
  if (enough[kind].some((row) => row.every(has))) return undefined;
  const choices = enough[kind].map((row) => row.join(' and '));
  return `a ${kind} model needs a price for ${choices.join(', or ')} (0 where it is free)`;
}

/**
 * What the variants in `by` are variants of: the plain member beside them, else what the kind is
 * usually sold by.
 */
export function variantMeasure(kind: ModelKind, rates: Rates): Measure {
  const beside = (['second', 'image', 'megapixel', 'character', 'request'] as const).find(
    (measure) => rates[measure] !== undefined,
  );
  if (beside !== undefined) return beside;
  if (kind === 'image') return 'image';
  return rates.output === undefined ? 'second' : 'output';
}
