import { assert } from '../base/assert.ts';
import { divideUp, type Nano } from '../base/money.ts';
import { type Measure, measures, type Quantities } from '../base/quantities.ts';

/** Nano-yuan per million units of each measure (per million tokens; per million images, seconds, characters or requests). */
export type Rates = Readonly<Partial<Record<Measure, Nano>>>;

/** Strictly more input tokens than this (cache reads and writes count) reprices the whole request; a measure that the tier lacks keeps its base rate. */
export interface PriceTier {
  readonly aboveInputTokens: number;
  readonly rates: Rates;
}

/** Rates of one measure by variant (`1024x1024/hd`, `720p`); they win over the measure's plain rate. */
export interface Variants {
  readonly measure: Measure;
  readonly rates: Readonly<Record<string, Nano>>;
}

export interface Price {
  readonly rates: Rates;
  /** Ascending. */
  readonly tiers: readonly PriceTier[];
  readonly by: Variants | undefined;
}

/** `rate` is what this group pays, nano-yuan per million units; `cost` is quantity × rate, rounded up once. */
export interface PriceLine {
  readonly measure: Measure;
  readonly quantity: number;
  readonly rate: Nano;
  readonly cost: Nano;
}

export interface Bill {
  readonly lines: readonly PriceLine[];
  readonly total: Nano;
}

/** A price at one group's multiplier, made once, so that a charge is a few multiplications. */
export interface Tariff {
  readonly bands: readonly Band[];
  readonly variants:
    | { readonly listed: ReadonlyMap<string, Sold>; readonly otherwise: Sold | undefined }
    | undefined;
}

/** `rate`: nano-yuan per million units, at the group's multiplier. */
interface Sold {
  readonly measure: Measure;
  readonly rate: Nano;
}

interface Band {
  readonly aboveInputTokens: number;
  readonly sold: readonly Sold[];
  readonly dearest: Dearest;
}

/** Rates that no request of this band or a lower one exceeds. */
interface Dearest {
  readonly text: bigint;
  readonly anyInput: bigint;
  readonly output: bigint;
  readonly anyOutput: bigint;
  readonly request: bigint;
  /** Nanos that rounding each line up may add over rounding once. */
  readonly rounding: bigint;
}

const million = 1_000_000n;
const textInput: readonly Measure[] = ['input', 'cached_input', 'cache_write_5m', 'cache_write_1h'];
const mediaInput: readonly Measure[] = ['audio_input', 'image_input'];
const textOutput: readonly Measure[] = ['output', 'reasoning'];
const mediaOutput: readonly Measure[] = ['audio_output', 'image_output'];

/** A class without a rate of its own costs what the plain one costs, on its side. */
export function rateOf(rates: Rates, measure: Measure): Nano | undefined {
  if (rates[measure] !== undefined) return rates[measure];
  if (textInput.includes(measure) || mediaInput.includes(measure)) return rates.input;
  if (textOutput.includes(measure) || mediaOutput.includes(measure)) return rates.output;
  return undefined;
}

/** Prepares `price` for a group whose multiplier is `multiplierPpm` millionths. */
export function tariffOf(price: Price, multiplierPpm: bigint): Tariff {
  // What a unit costs is whole nanos per million, rounded up here and nowhere else: a bill shows the very numbers that were multiplied.
  const sold = (measure: Measure, rate: Nano): Sold => ({
    measure,
    rate: divideUp(rate * multiplierPpm, million),
  });
  const bands: Band[] = [];
  for (const tier of [{ aboveInputTokens: -1, rates: {} }, ...price.tiers]) {
    const rates = { ...price.rates, ...tier.rates };
    const lines = measures.flatMap((measure) => {
      const rate = rateOf(rates, measure);
      return rate === undefined ? [] : [sold(measure, rate)];
    });
    bands.push({
      aboveInputTokens: tier.aboveInputTokens,
      sold: lines,
      dearest: dearest(lines, bands.at(-1)?.dearest),
    });
  }
  const { by } = price;
  if (by === undefined) return { bands, variants: undefined };
  const listed = new Map(
    Object.entries(by.rates).map(([variant, rate]) => [variant, sold(by.measure, rate)]),
  );
  const plain = rateOf(price.rates, by.measure) !== undefined;
  const otherwise = plain
    ? undefined
    : [...listed.values()].reduce((max, line) => (line.rate > max.rate ? line : max));
  return { bands, variants: { listed, otherwise } };
}

function dearest(lines: readonly Sold[], below: Dearest | undefined): Dearest {
  const most = (floor: bigint | undefined, ...among: readonly (readonly Measure[])[]) =>
    lines
      .filter((line) => among.some((some) => some.includes(line.measure)))
      .reduce((max, line) => (line.rate > max ? line.rate : max), floor ?? 0n);
  const rounded = BigInt(
    Math.max(0, lines.filter((line) => line.rate % million !== 0n).length - 1),
  );
  return {
    text: most(below?.text, textInput),
    anyInput: most(below?.anyInput, textInput, mediaInput),
    output: most(below?.output, textOutput),
    anyOutput: most(below?.anyOutput, textOutput, mediaOutput),
    request: most(below?.request, ['request']),
    rounding: below !== undefined && below.rounding > rounded ? below.rounding : rounded,
  };
}

/** The last band that so many input tokens reach. */
function bandFor(tariff: Tariff, inputTokens: number): Band {
  const { bands } = tariff;
  let at = bands.length - 1;
  while (at > 0 && inputTokens <= (bands[at]?.aboveInputTokens ?? 0)) at--;
  const band = bands[at];
  assert(band !== undefined, 'a tariff has a band');
  return band;
}

/** The first of these names that the price lists as a variant: what is most telling comes first. */
export const variantIn = ({ variants }: Tariff, names: readonly string[]): string | undefined =>
  names.find((name) => variants?.listed.has(name));

/** All tokens that went in, whatever their class. */
export function inputTokens(quantities: Quantities): number {
  return (
    (quantities.input ?? 0) +
    (quantities.cached_input ?? 0) +
    (quantities.cache_write_5m ?? 0) +
    (quantities.cache_write_1h ?? 0) +
    (quantities.audio_input ?? 0) +
    (quantities.image_input ?? 0)
  );
}

/**
 * What was delivered, priced: each line is quantity × rate, rounded up once, to the nano. A measure that the price does not
 * name and has no plain class to fall back on costs nothing. A charge is one request unless `quantities` says otherwise.
 * A variant that the price does not list costs the plain rate, or the dearest variant where there is no plain rate.
 */
export function costOf(tariff: Tariff, quantities: Quantities, variant?: string): Bill {
  const { variants } = tariff;
  const band =
    tariff.bands.length === 1 ? tariff.bands[0] : bandFor(tariff, inputTokens(quantities));
  const special =
    variants === undefined ? undefined : (variants.listed.get(variant ?? '') ?? variants.otherwise);
  const lines: PriceLine[] = [];
  let total = 0n;
  for (const sold of band?.sold ?? [])
    if (sold.measure !== special?.measure) total += charge(lines, quantities, sold);
  if (special !== undefined) total += charge(lines, quantities, special);
  return { lines, total };
}

function charge(lines: PriceLine[], quantities: Quantities, { measure, rate }: Sold): Nano {
  const quantity = quantities[measure] ?? (measure === 'request' ? 1 : 0);
  if (quantity === 0) return 0n;
  const amount = amountOf(quantity, rate);
  lines.push({ measure, quantity, rate, cost: amount });
  return amount;
}

/** Seconds come with fractions; they count to the microsecond, everything else is whole. */
function amountOf(quantity: number, rate: Nano): Nano {
  if (Number.isInteger(quantity)) return divideUp(BigInt(quantity) * rate, million);
  return divideUp(BigInt(Math.round(quantity * 1e6)) * rate, million * million);
}

/** Input beside text, whether more than text may come back, and how many units of request it is at most (1 unless said). */
export interface Media {
  readonly inputTokens: number;
  readonly output: boolean;
  readonly requests?: number | undefined;
}

const textOnly: Media = { inputTokens: 0, output: false };

/**
 * The most that a request with so much text going in and so many tokens coming out can cost: no `costOf` it exceeds this, whatever
 * the vendor says was cached, written to a cache or thought. Media tokens cost the dearest input class, since their class is not known beforehand.
 */
export function worstCase(
  tariff: Tariff,
  textTokens: number,
  outputTokens: number,
  media = textOnly,
): Nano {
  const { dearest: most } = bandFor(tariff, textTokens + media.inputTokens);
  return (
    divideUp(
      inputCost(most, textTokens, media) + BigInt(outputTokens) * outputRate(most, media),
      million,
    ) + most.rounding
  );
}

/** The most output tokens such that `worstCase` stays within `money`; 0 when there are none. */
export function outputTokensFor(
  tariff: Tariff,
  money: Nano,
  textTokens: number,
  media = textOnly,
): number {
  const { dearest: most } = bandFor(tariff, textTokens + media.inputTokens);
  const left = (money - most.rounding) * million - inputCost(most, textTokens, media);
  if (left < 0n) return 0;
  const rate = outputRate(most, media);
  const tokens = rate === 0n ? Number.MAX_SAFE_INTEGER : Number(left / rate);
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}

function inputCost(most: Dearest, textTokens: number, media: Media): bigint {
  const { inputTokens: mediaTokens, requests } = media;
  const request = requests === undefined ? most.request : BigInt(requests) * most.request;
  return BigInt(textTokens) * most.text + BigInt(mediaTokens) * most.anyInput + request;
}

function outputRate(most: Dearest, media: Media): bigint {
  return media.output ? most.anyOutput : most.output;
}
