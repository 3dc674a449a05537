import { type Fraction, fraction, one, product } from '../base/fraction.ts';
import type { BundledModel } from '../catalog/bundled.ts';
import { decimalText } from '../catalog/decimal.ts';
import type { ModelKind } from '../catalog/snapshot.ts';
import type { Foreign, Worth } from './foreign.ts';
import { divided, roundedUp } from './fraction.ts';
import { objectIn } from './new-api.ts';
import { savedTable, type Table, untakenOptions, usableGroups } from './options.ts';
import type { Note } from './report.ts';

/**
 * Prices there are ratios (QuantumNous/new-api setting/ratio_setting/{model_ratio,cache_ratio}.go
 * and relay/helper/price.go, read 2026-11):
 *
 *     units for a token = ModelRatio × GroupRatio, an output token × CompletionRatio, one read from
 *     the cache × CacheRatio,
 *                         one written to it × CreateCacheRatio (for an hour × 1.6), a token of a
 *                         picture × ImageRatio,
 *                         one of sound × AudioRatio, one of spoken output × AudioRatio ×
 *                         AudioCompletionRatio
 *     dollars = units ÷ QuotaPerUnit; with 500,000 a ratio of 1 is 2 dollars for a million tokens
 *
 * or ModelPrice, dollars for a call. Here they are yuan for a million tokens, or for a call,
 * rounded up once to what a price can say.
 */
export interface Ratios {
  /** A price as in the configuration file, or why there is none. */
  priceOf(model: string, kind: ModelKind, known: BundledModel | undefined): RatioPrice | string;
  /** Multipliers of groups, by name. */
  readonly groups: ReadonlyMap<string, Fraction>;
  /** Groups that users could choose by themselves; undefined: not known. */
  readonly usable: ReadonlySet<string> | undefined;
  /** What was saved and could not be read, or is not. */
  readonly notes: readonly Note[];
}

export interface RatioPrice {
  readonly price: Readonly<Record<string, string>>;
  /** What was decided for want of an entry; one sentence each. */
  readonly notes: readonly string[];
}

const tokenKinds: readonly ModelKind[] = [
  'chat',
  'completion',
  'embedding',
  'rerank',
  'moderation',
];
const million = fraction(1_000_000n);
/**
 * What is written into a cache for five minutes where no ratio says otherwise, and how much more an
 * hour is.
 */
const usualCacheWrite: Fraction = { numerator: 5n, denominator: 4n };
const hourOverMinutes: Fraction = { numerator: 8n, denominator: 5n };
const tokenPlaces = 9;
const callPlaces = 15;

export function readRatios(foreign: Foreign, worth: Worth): Ratios {
  const notes: Note[] = [];
  const table = (name: string): Table | undefined => savedTable(foreign, name, notes);
  const tables: Tables = {
    model: table('ModelRatio'),
    call: table('ModelPrice'),
    completion: table('CompletionRatio'),
    cache: table('CacheRatio'),
    cacheWrite: table('CreateCacheRatio'),
    image: table('ImageRatio'),
    audio: table('AudioRatio'),
    audioOutput: table('AudioCompletionRatio'),
    modes: objectIn(foreign.options.get('billing_setting.billing_mode') ?? '') ?? {},
  };
  return {
    groups: table('GroupRatio') ?? new Map([['default', one]]),
    usable: usableGroups(foreign),
    notes: [...notes, ...untakenOptions(foreign)],
    priceOf(model, kind, known) {
      if (tables.modes[model] === 'tiered_expr')
        return 'its price is an expression there: write its tiers down';
      const call = tables.call?.get(model);
      if (call !== undefined) return perCall(call, kind, worth);
      const ratio = tables.model?.get(model);
      if (ratio === undefined) return 'no ratio is saved for it';
      if (!tokenKinds.includes(kind))
        return `its ratio counts tokens, and a ${kind} model is sold otherwise`;
      return perToken(model, ratio, tables, known, worth);
    },
  };
}

interface Tables {
  readonly model: Table | undefined;
  readonly call: Table | undefined;
  readonly completion: Table | undefined;
  readonly cache: Table | undefined;
  readonly cacheWrite: Table | undefined;
  readonly image: Table | undefined;
  readonly audio: Table | undefined;
  readonly audioOutput: Table | undefined;
  readonly modes: Readonly<Record<string, unknown>>;
}

/** A call is one picture where pictures are made. */
function perCall(dollars: Fraction, kind: ModelKind, { rate }: Worth): RatioPrice | string {
  if (kind === 'video')
    return 'its price is for a call or a second, as the channel has it: write it down for a second';
  const yuan = decimalText(roundedUp(product(dollars, rate), callPlaces), callPlaces);
  return kind === 'image'
    ? { price: { image: yuan }, notes: ['every picture costs the same, whatever its size'] }
    : { price: { request: yuan }, notes: [] };
}

function perToken(
  model: string,
  ratio: Fraction,
  tables: Tables,
  known: BundledModel | undefined,
  worth: Worth,
): RatioPrice {
  const notes: string[] = [];
  const input = divided(product(ratio, million, worth.rate), worth.perDollar);
  const completion = completionOf(model, tables, known, notes);
  const cached =
    tables.cache === undefined ? bundledShare(known, 'cached_input') : tables.cache.get(model);
  const written =
    tables.cacheWrite?.get(model) ??
    (known?.facts.price.rates.cache_write_5m === undefined ? undefined : usualCacheWrite);
  const sound = tables.audio?.get(model);
  const factors: Readonly<Record<string, Fraction | undefined>> = {
    input: one,
    cached_input: cached,
    cache_write_5m: written,
    cache_write_1h: written && product(written, hourOverMinutes),
    output: completion,
    audio_input: sound,
    audio_output: sound && product(sound, tables.audioOutput?.get(model) ?? one),
    image_input: tables.image?.get(model),
  };
  const price = Object.entries(factors).flatMap(([member, factor]) =>
    factor === undefined
      ? []
      : [[member, decimalText(roundedUp(product(input, factor), tokenPlaces), tokenPlaces)]],
  );
  return { price: Object.fromEntries(price), notes };
}

/**
 * That program has most of them in its code, where they follow the vendors' own prices, as the
 * bundled list does.
 */
function completionOf(
  model: string,
  { completion }: Tables,
  known: BundledModel | undefined,
  notes: string[],
): Fraction {
  const saved = completion?.get(model);
  if (saved !== undefined) return saved;
  const share = bundledShare(known, 'output');
  notes.push(
    share === undefined
      ? 'output costs as much as input: no ratio is saved for it'
      : 'output over input as the vendor has it: no ratio is saved for it',
  );
  return share ?? one;
}

function bundledShare(
  known: BundledModel | undefined,
  member: 'output' | 'cached_input',
): Fraction | undefined {
  const { input, [member]: other } = known?.facts.price.rates ?? {};
  return input === undefined || other === undefined || input === 0n
    ? undefined
    : { numerator: other, denominator: input };
}
