import type { Fraction } from '../base/fraction.ts';
import { decimalText, divideUp, type Nano } from '../base/money.ts';
import type { Measure } from '../base/quantities.ts';
import { reason, type Reason } from '../base/reason.ts';
import { exactDecimal, roundedUp } from './decimal.ts';
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

/** The unit that each member prices: a price is yuan for one such unit. */
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
 * The decimals of a price that fit in nano-yuan per million units: yuan × 10⁹ for a million tokens,
 * yuan × 10¹⁵ for one of any other unit.
 */
function pricePlaces(measure: Measure): number {
  return priceUnits[measure] === 'million tokens' ? 9 : 15;
}

/**
 * Yuan for one unit, as written → nano-yuan per million, exactly; or the reason why it is wrong.
 */
export function nanoPerMillion(measure: Measure, yuan: string): Nano | Reason {
  return exactDecimal(yuan, pricePlaces(measure));
}

/** The inverse. */
export const rateText = (measure: Measure, rate: Nano): string =>
  decimalText(rate, pricePlaces(measure));

/** Yuan for one unit as text, rounded up to the decimals that a price may have. */
export const roundedRateText = (measure: Measure, yuan: Fraction): string =>
  rateText(measure, roundedUp(yuan, pricePlaces(measure)));

const million = 1_000_000n;

/**
 * As `nanoPerMillion`, for a price in another currency, `ratePpm` millionths of a yuan each,
 * rounded up to the nano.
 */
export function convertedNanoPerMillion(
  measure: Measure,
  amount: string,
  ratePpm: bigint,
): Nano | Reason {
  const exact = exactDecimal(amount, pricePlaces(measure));
  return typeof exact !== 'bigint' ? exact : divideUp(exact * ratePpm, million);
}

/**
 * The members that make a price complete, by kind: a price needs every member of one of the rows,
 * so that nothing is free by oversight.
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

/** The reason why a price is not complete for this kind; undefined when it is. */
export function priceLacks(kind: ModelKind, price: Price): Reason | undefined {
  const has = (measure: Measure): boolean =>
    price.rates[measure] !== undefined || price.by?.measure === measure;
  if (enough[kind].some((row) => row.every(has))) return undefined;
  const choices = enough[kind].map((row) => row.join(' ')).join('|');
  return reason('price_lacks', { kind, choices });
}

/**
 * The measure that the variants in `by` belong to: the plain member beside them, else the measure
 * by which this kind is usually sold.
 */
export function variantMeasure(kind: ModelKind, rates: Rates): Measure {
  const beside = (['second', 'image', 'megapixel', 'character', 'request'] as const).find(
    (measure) => rates[measure] !== undefined,
  );
  if (beside !== undefined) return beside;
  if (kind === 'image') return 'image';
  return rates.output === undefined ? 'second' : 'output';
}
