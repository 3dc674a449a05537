import { lineless } from '../catalog/editing.ts';
import { priceSchema } from '../catalog/config-schema.ts';
import type { RecordedCatalogue } from '../catalog/recorded.ts';
import { readPrice } from '../catalog/written-price.ts';
import providers from './data/litellm-providers.json' with { type: 'json' };
import type { Fraction } from '../base/fraction.ts';
import { type Described, priceOf } from './litellm-costs.ts';

/** LiteLLM's list of prices: models by id. Undefined when it is another kind of list. */
export function litellmList(value: unknown): ReadonlyMap<string, Described> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'models' in value)
    return undefined;
  const entries = Object.entries(value).flatMap(([id, model]: [string, unknown]) =>
    typeof model === 'object' &&
    model !== null &&
    'litellm_provider' in model &&
    id !== 'sample_spec'
      ? [[id, model as Described] as const]
      : [],
  );
  return entries.length === 0 ? undefined : new Map(entries);
}

export interface ListedPrice {
  readonly id: string;
  readonly price: Readonly<Record<string, unknown>>;
}

/**
 * Prices for those models that are sold: listed by the very id, or below the provider that one of
 * its channels buys from. The list knows hundreds more, and some without a price that could be
 * charged: `without` are those that are sold.
 */
export function pricesFrom(
  list: ReadonlyMap<string, Described>,
  { models, channels }: RecordedCatalogue,
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

/** `deepseek/deepseek-chat`, and the plain id where the list gives it to this vendor alone. */
function namesOf(vendor: string, upstream: string): readonly string[] {
  const theirs = Object.entries(providers).flatMap(([provider, ours]) =>
    ours.vendor === vendor ? [`${provider}/${upstream}`] : [],
  );
  return [...theirs, upstream];
}

function isPrice(
  kind: RecordedCatalogue['models'][number]['kind'],
  written: Readonly<Record<string, unknown>>,
): boolean {
  const report = lineless();
  const price = report.parse(priceSchema, written, []);
  if (price !== undefined) readPrice(kind, price, report, []);
  return report.clean;
}
