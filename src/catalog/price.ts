import assert from 'node:assert/strict';
import {
  ceiling,
  type Fraction,
  fraction,
  fractionText,
  isOne,
  ofMillionths,
  unity,
  product,
} from '../base/fraction.ts';
import { divideUp, type Nano } from '../base/money.ts';
import {
  isToolMeasure,
  type Measure,
  measures,
  type Quantities,
  type ToolMeasure,
} from '../base/quantities.ts';
import { type PriceWindows, windowAt, type WindowSpan, type Times } from './price-windows.ts';

/**
 * Nano-yuan per million units of each measure (per million tokens; per million images, seconds,
 * characters, requests or calls of a tool).
 */
export type Rates = Readonly<Partial<Record<Measure, Nano>>>;

/**
 * The prices of a whole request with strictly more input tokens (cache reads and writes count), or
 * output tokens, than this. Of the tiers by input alone, the last one reached applies; tiers by
 * output apply in addition. Where several tiers name a measure, the later one wins. A measure that
 * no tier names keeps its base rate.
 */
export interface PriceTier {
  /** -1: any length of input. */
  readonly aboveInputTokens: number;
  /** Absent: any length of output. */
  readonly aboveOutputTokens?: number | undefined;
  readonly rates: Rates;
  readonly times?: Times | undefined;
}

/**
 * Rates of one measure by variant (`1024x1024/hd`, `720p`); they win over the measure's plain rate.
 */
export interface Variants {
  readonly measure: Measure;
  readonly rates: Readonly<Record<string, Nano>>;
}

/** A service tier or speed that has its own price: `flex`, `fast`. */
export interface Mode {
  readonly times: Times;
  /** The capabilities that it is sold for. Absent: all. */
  readonly only?: readonly string[] | undefined;
}

export interface Price {
  readonly rates: Rates;
  /** By input ascending. */
  readonly tiers: readonly PriceTier[];
  readonly by: Variants | undefined;
  /** By name. A mode that is not listed is not sold. */
  readonly modes?: Readonly<Record<string, Mode>> | undefined;
  /** By the vendor's name of the region in which the model must run. */
  readonly places?: Readonly<Record<string, Times>> | undefined;
  readonly windows?: PriceWindows | undefined;
  /**
   * Whether tools without a fee here have the vendors' list fees. Absent: where no fee is named.
   */
  readonly listFees?: boolean | undefined;
}

/**
 * `rate` is the group's price, nano-yuan per million units; `cost` is quantity × rate, rounded up
 * once. `terms`: the factors of the model's plain price, and their reasons. `model`: the model that
 * has this price, where it is not the requested one.
 */
export interface PriceLine {
  readonly measure: Measure;
  readonly quantity: number;
  readonly rate: Nano;
  readonly cost: Nano;
  readonly terms?: string | undefined;
  readonly model?: string | undefined;
}

export interface Bill {
  readonly lines: readonly PriceLine[];
  readonly total: Nano;
}

/**
 * A price at one group's multiplier and under one set of terms, made once, so that a charge is a
 * few multiplications.
 */
export interface Tariff {
  readonly bands: readonly Band[];
  readonly variants:
    | {
        readonly listed: ReadonlyMap<string, PricedMeasure>;
        readonly otherwise: PricedMeasure | undefined;
      }
    | undefined;
  /** Fees for calls of tools that the vendor runs. */
  readonly fees: ReadonlyMap<ToolMeasure, PricedMeasure>;
  /** The same price under other terms. Undefined: it has none. */
  readonly terms: TariffTerms | undefined;
}

/**
 * The names of the factors that apply to a tariff. Where a name is absent, no such factor applies.
 */
export interface Terms {
  readonly mode?: string | undefined;
  readonly place?: string | undefined;
  readonly window?: string | undefined;
}

export interface TariffTerms {
  readonly price: Price;
  /** The tariff under these terms. It is made once. */
  under(terms: Terms): Tariff;
  /** The window that holds at `at` (wall clock, ms), by name. */
  windowAt(at: number): string | undefined;
  /** The tariff at `at` of a request without a mode and a region. */
  plainAt(at: number): Tariff;
}

/** `rate`: nano-yuan per million units, at the group's multiplier. */
interface PricedMeasure {
  readonly measure: Measure;
  readonly rate: Nano;
  readonly terms?: string | undefined;
}

interface Band {
  readonly aboveInputTokens: number;
  /**
   * Prices of longer outputs, ascending; usually none. The prices of the band itself apply up to
   * the first of them.
   */
  readonly longer: readonly LongerBand[];
  readonly sold: readonly PricedMeasure[];
  readonly dearest: Dearest;
}

interface LongerBand extends Pick<Band, 'sold' | 'dearest'> {
  readonly aboveOutputTokens: number;
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

/** The class whose rate applies to a measure that has no rate of its own. */
function plainClass(measure: Measure): Measure | undefined {
  if (textInput.includes(measure) || mediaInput.includes(measure)) return 'input';
  return textOutput.includes(measure) || mediaOutput.includes(measure) ? 'output' : undefined;
}

/**
 * The rate of a measure; a class without a rate of its own costs as much as the plain class of its
 * side.
 */
export function rateOf(rates: Rates, measure: Measure): Nano | undefined {
  const plain = plainClass(measure);
  return rates[measure] ?? (plain && rates[plain]);
}

/**
 * The factor of a measure. A class that `times` does not name has the factor of the plain class of
 * its side.
 */
export function factorOf({ all, each }: Times, measure: Measure): Fraction {
  const plain = plainClass(measure);
  const own = each?.[measure] ?? (plain && each?.[plain]);
  return own ?? (isToolMeasure(measure) ? unity : (all ?? unity));
}

/**
 * Prepares `price` for a group whose multiplier is `multiplierPpm` millionths. Returns the tariff
 * of the plain terms, whose `terms` gives the others.
 */
export function tariffOf(price: Price, multiplierPpm: bigint): Tariff {
  if (price.modes === undefined && price.places === undefined && price.windows === undefined)
    return tariffUnder(price, multiplierPpm, {}, undefined);
  const terms = new OtherTerms(price, multiplierPpm);
  return terms.under(noTerms);
}

const noTerms: Terms = {};

/** The tariffs of one price under all its terms, each made when it is first needed. */
class OtherTerms implements TariffTerms {
  readonly price: Price;
  readonly #multiplierPpm: bigint;
  readonly #made = new Map<string, Tariff>();
  #span: WindowSpan = { name: undefined, from: 0, to: 0 };
  #plain: Tariff | undefined;

  constructor(price: Price, multiplierPpm: bigint) {
    this.price = price;
    this.#multiplierPpm = multiplierPpm;
  }

  under(terms: Terms): Tariff {
    const key = `${terms.mode ?? ''}|${terms.place ?? ''}|${terms.window ?? ''}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const tariff = tariffUnder(this.price, this.#multiplierPpm, terms, this);
    this.#made.set(key, tariff);
    return tariff;
  }

  windowAt(at: number): string | undefined {
    this.#look(at);
    return this.#span.name;
  }

  plainAt(at: number): Tariff {
    this.#look(at);
    return (this.#plain ??= this.under({ window: this.#span.name }));
  }

  /** Works out the window only when the last one has ended, not for each request. */
  #look(at: number): void {
    const { windows } = this.price;
    if (windows === undefined || (at >= this.#span.from && at < this.#span.to)) return;
    this.#span = windowAt(windows, at);
    this.#plain = undefined;
  }
}

/** The factors of the terms by name, in the order of a bill's `terms`. */
function factorsOf(
  price: Price,
  { mode, place, window }: Terms,
): readonly (readonly [string, Times])[] {
  const named = (
    name: string | undefined,
    times: Times | undefined,
  ): readonly (readonly [string, Times])[] =>
    name === undefined || times === undefined ? [] : [[name, times]];
  return [
    ...named(mode, mode === undefined ? undefined : price.modes?.[mode]?.times),
    ...named(place, place === undefined ? undefined : price.places?.[place]),
    ...named(window, price.windows?.list.find(({ name }) => name === window)?.times),
  ];
}

function tariffUnder(
  price: Price,
  multiplierPpm: bigint,
  terms: Terms,
  others: TariffTerms | undefined,
): Tariff {
  const factors = factorsOf(price, terms);
  const group = ofMillionths(multiplierPpm);
  // The rate is whole nanos per million units, rounded up here and nowhere else: a bill shows the
  // very numbers that were multiplied.
  const sold = (measure: Measure, base: Fraction, rateTerms: string): PricedMeasure => {
    let factor = product(base, group);
    let text = rateTerms;
    for (const [name, times] of factors) {
      const by = factorOf(times, measure);
      factor = product(factor, by);
      text += isOne(by) ? '' : `${text === '' ? '' : ' '}× ${fractionText(by)} (${name})`;
    }
    return text === ''
      ? { measure, rate: ceiling(factor) }
      : { measure, rate: ceiling(factor), terms: text };
  };
  const soldAbove = (input: number, output: number): readonly PricedMeasure[] => {
    const held = heldTiers(price.tiers, input, output);
    return measures.flatMap((measure) => {
      const exact = isToolMeasure(measure) ? undefined : exactRate(price.rates, held, measure);
      return exact === undefined ? [] : [sold(measure, exact.rate, exact.terms)];
    });
  };
  const fees = measures.filter(isToolMeasure).flatMap((measure) => {
    const rate = price.rates[measure];
    return rate === undefined ? [] : [[measure, sold(measure, fraction(rate), '')] as const];
  });
  const bands = bandsOf(price.tiers, soldAbove);
  return {
    bands,
    variants: variantsOf(price, (rate, measure) => sold(measure, rate, '')),
    fees: new Map(fees),
    terms: others,
  };
}

function variantsOf(
  { by, rates }: Price,
  sold: (rate: Fraction, measure: Measure) => PricedMeasure,
): Tariff['variants'] {
  if (by === undefined) return undefined;
  const listed = new Map(
    Object.entries(by.rates).map(([variant, rate]) => [variant, sold(fraction(rate), by.measure)]),
  );
  const plain = rateOf(rates, by.measure) !== undefined;
  const otherwise = plain
    ? undefined
    : [...listed.values()].reduce((max, line) => (line.rate > max.rate ? line : max));
  return { listed, otherwise };
}

/** The tiers that hold for a request just above these lengths, in their order. */
function heldTiers(
  tiers: readonly PriceTier[],
  input: number,
  output: number,
): readonly PriceTier[] {
  const reached = tiers.filter(
    (tier) => input >= tier.aboveInputTokens && output >= (tier.aboveOutputTokens ?? -1),
  );
  const lastByInput = reached.findLast((tier) => tier.aboveOutputTokens === undefined);
  return reached.filter((tier) => tier.aboveOutputTokens !== undefined || tier === lastByInput);
}

/** The rate of a measure under these tiers, and the text for a bill's `terms`. */
function exactRate(
  base: Rates,
  held: readonly PriceTier[],
  measure: Measure,
): { readonly rate: Fraction; readonly terms: string } | undefined {
  const plain = plainClass(measure);
  let found = baseRate(base, measure);
  // A class that no tier names follows the plain class of its side, unless it has a base rate of
  // its own.
  const follows =
    base[measure] === undefined && !held.some(({ rates }) => rates[measure] !== undefined)
      ? plain
      : undefined;
  for (const tier of held) {
    const named = tier.rates[measure] ?? (follows && tier.rates[follows]);
    const above = ` above ${tier.aboveOutputTokens === undefined ? `${tier.aboveInputTokens} input` : `${tier.aboveOutputTokens} output`} tokens`;
    if (named !== undefined) found = { rate: fraction(named), terms: above.trim() };
    const by = tier.times && factorOf(tier.times, measure);
    const rate = baseRate(base, measure)?.rate;
    if (named === undefined && by !== undefined && rate !== undefined && !isOne(by))
      found = { rate: product(rate, by), terms: `× ${fractionText(by)}${above}` };
  }
  return found;
}

function baseRate(
  base: Rates,
  measure: Measure,
): { readonly rate: Fraction; readonly terms: string } | undefined {
  const rate = rateOf(base, measure);
  return rate === undefined ? undefined : { rate: fraction(rate), terms: '' };
}

function bandsOf(
  tiers: readonly PriceTier[],
  soldAbove: (input: number, output: number) => readonly PricedMeasure[],
): readonly Band[] {
  const inputs = [-1, ...ascending(tiers.map(({ aboveInputTokens }) => aboveInputTokens))];
  const outputs = ascending(tiers.flatMap(({ aboveOutputTokens = -1 }) => aboveOutputTokens));
  const bands: Band[] = [];
  for (const input of inputs) {
    const below = bands.at(-1);
    const sold = soldAbove(input, -1);
    let most = dearest(sold, below?.dearest);
    const longer: LongerBand[] = [];
    const plain = most;
    for (const [i, output] of outputs.entries()) {
      const lines = soldAbove(input, output);
      most = dearest(lines, most, below?.longer[i]?.dearest);
      longer.push({ aboveOutputTokens: output, sold: lines, dearest: most });
    }
    bands.push({ aboveInputTokens: input, sold, dearest: plain, longer });
  }
  return bands;
}

const ascending = (limits: readonly number[]): readonly number[] =>
  [...new Set(limits.filter((limit) => limit >= 0))].sort((a, b) => a - b);

function dearest(
  lines: readonly PricedMeasure[],
  ...below: readonly (Dearest | undefined)[]
): Dearest {
  const most = (name: keyof Dearest, ...among: readonly (readonly Measure[])[]) =>
    [
      ...below.map((lower) => lower?.[name] ?? 0n),
      ...lines
        .filter((line) => among.some((some) => some.includes(line.measure)))
        .map(({ rate }) => rate),
    ].reduce((max, rate) => (rate > max ? rate : max), 0n);
  const rounded = BigInt(
    Math.max(0, lines.filter((line) => line.rate % million !== 0n).length - 1),
  );
  const lower = most('rounding');
  return {
    text: most('text', textInput),
    anyInput: most('anyInput', textInput, mediaInput),
    output: most('output', textOutput),
    anyOutput: most('anyOutput', textOutput, mediaOutput),
    request: most('request', ['request']),
    rounding: lower > rounded ? lower : rounded,
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

/** The first of these names that the price lists as a variant. `names`: the most specific first. */
export const variantIn = ({ variants }: Tariff, names: readonly string[]): string | undefined =>
  names.find((name) => variants?.listed.has(name));

/** The prices of the band for so many output tokens. */
function longerBand(band: Band, outputTokensSold: number): Pick<Band, 'sold' | 'dearest'> {
  return (
    band.longer.findLast(({ aboveOutputTokens }) => outputTokensSold > aboveOutputTokens) ?? band
  );
}

/** The output tokens of all classes. */
export function outputTokens(quantities: Quantities): number {
  return (
    (quantities.output ?? 0) +
    (quantities.reasoning ?? 0) +
    (quantities.audio_output ?? 0) +
    (quantities.image_output ?? 0)
  );
}

/** The input tokens of all classes. */
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
 * The bill for the delivered quantities: each line is quantity × rate, rounded up once, to the
 * nano. A measure without a rate and without a plain class that has one costs nothing. A charge is
 * one request unless `quantities` names another number. A variant that the price does not list
 * costs the plain rate, or the dearest variant where there is no plain rate.
 */
export function costOf(tariff: Tariff, quantities: Quantities, variant?: string): Bill {
  const { variants } = tariff;
  const reached =
    tariff.bands.length === 1 ? tariff.bands[0] : bandFor(tariff, inputTokens(quantities));
  const band =
    reached === undefined || reached.longer.length === 0
      ? reached
      : longerBand(reached, outputTokens(quantities));
  const special =
    variants === undefined ? undefined : (variants.listed.get(variant ?? '') ?? variants.otherwise);
  const lines: PriceLine[] = [];
  let total = 0n;
  for (const sold of band?.sold ?? [])
    if (sold.measure !== special?.measure) total += charge(lines, quantities, sold);
  if (special !== undefined) total += charge(lines, quantities, special);
  return { lines, total };
}

function charge(
  lines: PriceLine[],
  quantities: Quantities,
  { measure, rate, terms }: PricedMeasure,
): Nano {
  const quantity = quantities[measure] ?? (measure === 'request' ? 1 : 0);
  if (quantity === 0) return 0n;
  const amount = lineCost(quantity, rate);
  lines.push(
    terms === undefined
      ? { measure, quantity, rate, cost: amount }
      : { measure, quantity, rate, cost: amount, terms },
  );
  return amount;
}

/**
 * The fees for these calls of tools. A tool without a fee costs nothing here: requests with it are
 * refused.
 */
export function feesOf({ fees }: Tariff, calls: Quantities): Bill {
  const lines: PriceLine[] = [];
  let total = 0n;
  for (const fee of fees.values()) total += charge(lines, calls, fee);
  return { lines, total };
}

/** Seconds come with fractions; they count to the microsecond, everything else is whole. */
export function lineCost(quantity: number, rate: Nano): Nano {
  if (Number.isInteger(quantity)) return divideUp(BigInt(quantity) * rate, million);
  return divideUp(BigInt(Math.round(quantity * 1e6)) * rate, million * million);
}

/**
 * Media tokens of the input, whether the output may contain more than text, and the most units of
 * `request` (absent: 1).
 */
export interface MediaPlaces {
  readonly inputTokens: number;
  readonly output: boolean;
  readonly requests?: number | undefined;
}

const textOnly: MediaPlaces = { inputTokens: 0, output: false };

/**
 * The most that a request with this many text tokens in and this many tokens out can cost: no bill
 * of `costOf` exceeds it, however the vendor divides the tokens among cached, cache-write and
 * reasoning ones. Media tokens cost the dearest input class, since their class is not known
 * beforehand.
 */
export function worstCase(
  tariff: Tariff,
  textTokens: number,
  outputTokensMax: number,
  media = textOnly,
): Nano {
  const band = bandFor(tariff, textTokens + media.inputTokens);
  const { dearest: most } = band.longer.length === 0 ? band : longerBand(band, outputTokensMax);
  return (
    divideUp(
      inputCost(most, textTokens, media) + BigInt(outputTokensMax) * outputRate(most, media),
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
  const band = bandFor(tariff, textTokens + media.inputTokens);
  let most = Number.MAX_SAFE_INTEGER;
  for (const { aboveOutputTokens, dearest: dear } of [...band.longer].reverse()) {
    const tokens = tokensFor(dear, money, textTokens, media);
    if (tokens > aboveOutputTokens) return Math.min(tokens, most);
    most = aboveOutputTokens;
  }
  return Math.min(tokensFor(band.dearest, money, textTokens, media), most);
}

function tokensFor(most: Dearest, money: Nano, textTokens: number, media: MediaPlaces): number {
  const left = (money - most.rounding) * million - inputCost(most, textTokens, media);
  if (left < 0n) return 0;
  const rate = outputRate(most, media);
  const tokens = rate === 0n ? Number.MAX_SAFE_INTEGER : Number(left / rate);
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}

function inputCost(most: Dearest, textTokens: number, media: MediaPlaces): bigint {
  const { inputTokens: mediaTokens, requests } = media;
  const request = requests === undefined ? most.request : BigInt(requests) * most.request;
  return BigInt(textTokens) * most.text + BigInt(mediaTokens) * most.anyInput + request;
}

function outputRate(most: Dearest, media: MediaPlaces): bigint {
  return media.output ? most.anyOutput : most.output;
}
