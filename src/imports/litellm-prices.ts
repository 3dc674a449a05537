import { type Fraction, fraction, unity, product } from '../base/fraction.ts';
import { objectOf } from '../base/json.ts';
import { isMeasure } from '../base/quantities.ts';
import { readPrice } from '../catalog/config-price.ts';
import { reportWithoutLines } from '../catalog/config-report.ts';
import { priceSchema } from '../catalog/config-schema.ts';
import { readDecimal } from '../catalog/decimal.ts';
import { priceUnits, roundedRateText } from '../catalog/price-members.ts';
import type { ModelKind } from '../catalog/snapshot.ts';
import type { StoredCatalog } from '../catalog/stored-catalog.ts';
import providers from './data/litellm-providers.json' with { type: 'json' };

/** LiteLLM's list of prices: models by id. Undefined when it is another kind of list. */
export function litellmList(value: unknown): ReadonlyMap<string, LitellmEntry> | undefined {
  const list = objectOf(value);
  if (list === undefined || 'models' in list) return undefined;
  const entries = Object.entries(list).flatMap(([id, written]) => {
    const model = objectOf(written);
    return model !== undefined && 'litellm_provider' in model && id !== 'sample_spec'
      ? [[id, model] as const]
      : [];
  });
  return entries.length === 0 ? undefined : new Map(entries);
}

export interface ListedPrice {
  readonly id: string;
  readonly price: Readonly<Record<string, unknown>>;
}

/**
 * Prices for the models that are sold here, found under the model's id or under the provider from
 * which one of its channels buys. The list knows hundreds more. `without`: models sold here that
 * the list lacks, or lists without a usable price.
 */
export function pricesFrom(
  list: ReadonlyMap<string, LitellmEntry>,
  { models, channels }: StoredCatalog,
  rate: Fraction,
): { readonly prices: readonly ListedPrice[]; readonly without: readonly string[] } {
  const prices: ListedPrice[] = [];
  const without: string[] = [];
  for (const { id, kind, active } of models) {
    if (!active) continue;
    const upstreams = channels.flatMap(({ vendor, models: sold }) =>
      sold.has(id) ? [{ vendor, upstream: sold.get(id) ?? id }] : [],
    );
    const names = [id, ...upstreams.flatMap(({ vendor, upstream }) => namesOf(vendor, upstream))];
    const found = names.map((name) => list.get(name)).find((model) => model !== undefined);
    const price = found && priceOf(found, kind, rate);
    if (price === undefined || !isPrice(kind, price)) without.push(id);
    else prices.push({ id, price });
  }
  return { prices, without };
}

/**
 * The names of a model in the list: `deepseek/deepseek-chat` for each of the vendor's providers,
 * and the plain id.
 */
function namesOf(vendor: string, upstream: string): readonly string[] {
  const theirs = Object.entries(providers).flatMap(([provider, ours]) =>
    ours.vendor === vendor ? [`${provider}/${upstream}`] : [],
  );
  return [...theirs, upstream];
}

function isPrice(kind: ModelKind, written: LitellmEntry): boolean {
  const report = reportWithoutLines();
  const price = report.parse(priceSchema, written, []);
  if (price !== undefined) readPrice(kind, price, report, []);
  return report.clean;
}

/**
 * A model as LiteLLM describes it, in its list or in `model_info`: members by name, numbers as they
 * are written.
 */
export type LitellmEntry = Readonly<Record<string, unknown>>;

/** A name or a number as text; '' for anything else. */
export const entryText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/**
 * The price in dollars of one unit, by LiteLLM's names (BerriAI/litellm
 * model_prices_and_context_window.json, read 2026-11), and the measure that it prices here. Names
 * that end with `_above_128k_tokens` and `_above_200k_tokens` are tiers.
 */
const members: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cached_input',
  cache_creation_input_token_cost: 'cache_write_5m',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'audio_input',
  output_cost_per_audio_token: 'audio_output',
  input_cost_per_image_token: 'image_input',
  output_cost_per_image_token: 'image_output',
  output_cost_per_image: 'image',
  input_cost_per_second: 'second',
  output_cost_per_second: 'second',
  input_cost_per_character: 'character',
  input_cost_per_query: 'request',
  input_cost_per_request: 'request',
};

const tiers = [128, 200, 272] as const;
const million = fraction(1_000_000n);

const kinds: Readonly<Record<string, ModelKind>> = {
  chat: 'chat',
  responses: 'chat',
  completion: 'completion',
  embedding: 'embedding',
  image_generation: 'image',
  audio_transcription: 'transcription',
  audio_speech: 'speech',
  rerank: 'rerank',
  moderation: 'moderation',
  moderations: 'moderation',
  video_generation: 'video',
};

export const modelKindOf = ({ mode }: LitellmEntry): ModelKind | undefined =>
  typeof mode === 'string' ? kinds[mode] : undefined;

/** The measures by which each kind is sold; a model's other prices count it in another way. */
const sellsBy: Readonly<Record<ModelKind, RegExp>> = {
  chat: /^(?:input|output|cached_input|cache_write_.*|reasoning|audio_.*|image_.*|request)$/,
  completion: /^(?:input|output|cached_input)$/,
  embedding: /^(?:input|image_input|request)$/,
  rerank: /^(?:input|request)$/,
  moderation: /^(?:input|request)$/,
  image: /^(?:image|input|output|cached_input|image_input|image_output)$/,
  transcription: /^(?:second|input|output|audio_input)$/,
  speech: /^(?:character|input|output|audio_output)$/,
  video: /^second$/,
};

/**
 * A price as in the configuration file, `rate` yuan for a dollar, rounded up; undefined when the
 * model has no price, or is free.
 */
export function priceOf(
  model: LitellmEntry,
  kind: ModelKind,
  rate: Fraction,
): Readonly<Record<string, unknown>> | undefined {
  const base = ratesOf(model, '', kind, rate);
  // A list that lost its figures has 0 for each, and a model that is free by mistake is sold for
  // nothing: the operator must name free models.
  if (!Object.values(base).some((amount) => amount !== '0')) return undefined;
  const above = tiers.flatMap((thousands) => {
    const rates = ratesOf(model, `_above_${thousands}k_tokens`, kind, rate);
    return Object.keys(rates).length === 0
      ? []
      : [{ above_input_tokens: String(thousands * 1_000), ...rates }];
  });
  return above.length === 0 ? base : { ...base, tiers: above };
}

function ratesOf(
  model: LitellmEntry,
  suffix: string,
  kind: ModelKind,
  rate: Fraction,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([theirs, ours]) => {
      const dollars = readDecimal(model[theirs + suffix]);
      if (dollars === undefined || !isMeasure(ours) || !sellsBy[kind].test(ours)) return [];
      const unit = priceUnits[ours] === 'million tokens' ? million : unity;
      return [[ours, roundedRateText(ours, product(dollars, unit, rate))]];
    }),
  );
}

/**
 * Its limits, as the configuration file has them. `max_tokens` is LiteLLM's old name for
 * `max_output_tokens`; where a model has no output, it repeats `max_input_tokens`.
 */
export function limitsOf(model: LitellmEntry, kind: ModelKind): Readonly<Record<string, string>> {
  const count = (name: string): string | undefined => {
    const written = entryText(model[name]);
    return /^[1-9]\d*$/.test(written) ? written : undefined;
  };
  const limits = {
    context: count('max_input_tokens'),
    max_output:
      count('max_output_tokens') ??
      (kind === 'chat' || kind === 'completion' ? count('max_tokens') : undefined),
  };
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
