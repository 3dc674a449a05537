import { type Fraction, fraction, unity, product } from '../base/fraction.ts';
import { objectOf, parse } from '../base/json.ts';
import type { Measure } from '../base/quantities.ts';
import type { BundledModel } from '../catalog/bundled.ts';
import { divided, readDecimal } from '../catalog/decimal.ts';
import { roundedRateText } from '../catalog/price-members.ts';
import type { ModelKind } from '../catalog/snapshot.ts';
import type { ForeignInstallation, UnitWorth } from './new-api.ts';
import type { ImportNote } from './report.ts';

/**
 * Prices there are ratios (QuantumNous/new-api setting/ratio_setting/{model_ratio,cache_ratio}.go
 * and relay/helper/price.go, read 2026-11):
 *
 *     units = ModelRatio × GroupRatio for an input token; for other tokens, times
 *       CompletionRatio: output; CacheRatio: read from the cache;
 *       CreateCacheRatio: written to the cache (for an hour × 1.6);
 *       ImageRatio: image input; AudioRatio: audio input;
 *       AudioRatio × AudioCompletionRatio: audio output
 *     dollars = units ÷ QuotaPerUnit; with 500,000 a ratio of 1 is 2 dollars for a million tokens
 *
 * or ModelPrice, dollars for a call. Here prices are yuan for a million tokens, or for a call,
 * rounded up once to the decimals of a price.
 */
export interface Ratios {
  /** A price as in the configuration file, or the reason why there is none. */
  priceOf(model: string, kind: ModelKind, known: BundledModel | undefined): RatioPrice | string;
  /** Multipliers of groups, by name. */
  readonly groups: ReadonlyMap<string, Fraction>;
  /** Groups that users could choose by themselves; undefined: not known. */
  readonly usable: ReadonlySet<string> | undefined;
  /** Saved options that could not be read, or are not imported. */
  readonly notes: readonly ImportNote[];
}

export interface RatioPrice {
  readonly price: Readonly<Record<string, string>>;
  /** Decisions made because an entry is missing; one sentence each. */
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
 * The usual factor of a cache write for five minutes, and the factor of an hour's write over that.
 */
const usualCacheWrite: Fraction = { numerator: 5n, denominator: 4n };
const hourOverMinutes: Fraction = { numerator: 8n, denominator: 5n };

/** The options that hold ratios or prices of models, by model. */
const tableOptions = [
  'ModelRatio',
  'ModelPrice',
  'CompletionRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'ImageRatio',
  'AudioRatio',
  'AudioCompletionRatio',
] as const;
const groupsOption = 'GroupRatio';
const modesOption = 'billing_setting.billing_mode';
const importedOptions = new Set<string>([...tableOptions, groupsOption, modesOption]);

type RatioTable = ReadonlyMap<string, Fraction>;
type Tables = ReadonlyMap<(typeof tableOptions)[number], RatioTable | undefined>;

export function readRatios(foreign: ForeignInstallation, worth: UnitWorth): Ratios {
  const notes: ImportNote[] = [];
  const table = (option: string): RatioTable | undefined => savedTable(foreign, option, notes);
  const tables: Tables = new Map(tableOptions.map((option) => [option, table(option)]));
  const modes = objectOf(parse(foreign.options.get(modesOption) ?? '')) ?? {};
  return {
    groups: table(groupsOption) ?? new Map([['default', unity]]),
    usable: usableGroups(foreign),
    notes: [...notes, ...ignoredOptions(foreign)],
    priceOf(model, kind, known) {
      if (modes[model] === 'tiered_expr')
        return 'its price is an expression there: write its tiers down';
      const call = tables.get('ModelPrice')?.get(model);
      if (call !== undefined) return perCall(call, kind, worth);
      const ratio = tables.get('ModelRatio')?.get(model);
      if (ratio === undefined) return 'no ratio is saved for it';
      if (!tokenKinds.includes(kind))
        return `its ratio counts tokens, and a ${kind} model is sold otherwise`;
      return perToken(model, ratio, tables, known, worth);
    },
  };
}

/** The price of a call. For an image model, a call is one image. */
function perCall(dollars: Fraction, kind: ModelKind, { rate }: UnitWorth): RatioPrice | string {
  if (kind === 'video')
    return 'its price is for a call or a second, as the channel has it: write it down for a second';
  const unit = kind === 'image' ? 'image' : 'request';
  return {
    price: { [unit]: roundedRateText(unit, product(dollars, rate)) },
    notes: kind === 'image' ? ['every picture costs the same, whatever its size'] : [],
  };
}

function perToken(
  model: string,
  ratio: Fraction,
  tables: Tables,
  known: BundledModel | undefined,
  worth: UnitWorth,
): RatioPrice {
  const notes: string[] = [];
  const input = divided(product(ratio, million, worth.rate), worth.perDollar);
  const completion = completionOf(model, tables, known, notes);
  const cacheRatios = tables.get('CacheRatio');
  const cached =
    cacheRatios === undefined ? bundledShare(known, 'cached_input') : cacheRatios.get(model);
  const written =
    tables.get('CreateCacheRatio')?.get(model) ??
    (known?.facts.price.rates.cache_write_5m === undefined ? undefined : usualCacheWrite);
  const sound = tables.get('AudioRatio')?.get(model);
  const spoken = sound && product(sound, tables.get('AudioCompletionRatio')?.get(model) ?? unity);
  const factors: readonly (readonly [Measure, Fraction | undefined])[] = [
    ['input', unity],
    ['cached_input', cached],
    ['cache_write_5m', written],
    ['cache_write_1h', written && product(written, hourOverMinutes)],
    ['output', completion],
    ['audio_input', sound],
    ['audio_output', spoken],
    ['image_input', tables.get('ImageRatio')?.get(model)],
  ];
  const price = factors.flatMap(([measure, factor]) =>
    factor === undefined ? [] : [[measure, roundedRateText(measure, product(input, factor))]],
  );
  return { price: Object.fromEntries(price), notes };
}

/**
 * The completion ratio of a model. That program has most of these ratios in its code, where they
 * follow the vendors' own prices; so does the bundled list, which replaces an absent ratio.
 */
function completionOf(
  model: string,
  tables: Tables,
  known: BundledModel | undefined,
  notes: string[],
): Fraction {
  const saved = tables.get('CompletionRatio')?.get(model);
  if (saved !== undefined) return saved;
  const share = bundledShare(known, 'output');
  notes.push(
    share === undefined
      ? 'output costs as much as input: no ratio is saved for it'
      : 'output over input as the vendor has it: no ratio is saved for it',
  );
  return share ?? unity;
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

/**
 * Options whose name is about prices or access to models; each release of that program adds some.
 */
const aboutPrices = /ratio|pric(?:e|ing)|billing|tier|discount|usable_group|ratelimit/i;

/**
 * Numbers by name, as an administrator saved them; undefined: not saved, or unreadable, which is
 * added to `notes`.
 */
function savedTable(
  { options }: ForeignInstallation,
  name: string,
  notes: ImportNote[],
): RatioTable | undefined {
  const json = options.get(name);
  if (json === undefined || json.trim() === '') return undefined;
  const what = `option ${name}`;
  const saved = objectOf(parse(json));
  if (saved === undefined) {
    notes.push({ what, note: 'it cannot be read, and counts as not saved' });
    return undefined;
  }
  const table = new Map<string, Fraction>();
  for (const [key, written] of Object.entries(saved)) {
    const value = readDecimal(written);
    if (value !== undefined) table.set(key, value);
    else
      notes.push({
        what,
        note: `what it says of ${key} is no ratio ('${String(written)}'), and counts as not saved`,
      });
  }
  return table;
}

/** The groups that users could choose by themselves; undefined: not saved. */
function usableGroups({ options }: ForeignInstallation): ReadonlySet<string> | undefined {
  const saved = objectOf(parse(options.get('UserUsableGroups') ?? ''));
  return saved && new Set(Object.keys(saved));
}

/**
 * A note on the tables about prices that the importer does not read: discounts of one group in
 * another, tiers, tools, and options of later releases.
 */
function ignoredOptions({ options }: ForeignInstallation): readonly ImportNote[] {
  const names = [...options].flatMap(([name, value]) =>
    aboutPrices.test(name) &&
    !importedOptions.has(name) &&
    Object.keys(objectOf(parse(value)) ?? {}).length > 0
      ? [name]
      : [],
  );
  if (names.length === 0) return [];
  const note = `these say there what something costs or who may have it, and are not taken; whoever paid less by them pays the plain price here: ${names.sort().join(', ')}`;
  return [{ what: 'options', note }];
}
