import * as z from 'zod';
import { groupOfLatestKey } from '../../accounts/user-keys.ts';
import { qualitySynonyms } from '../../catalog/image-terms.ts';
import { priceVersionAt } from '../../catalog/price-versions.ts';
import { sampleModel } from '../../catalog/sample-model.ts';
import type { Model, Snapshot } from '../../catalog/snapshot.ts';
import type { Price } from '../../catalog/price.ts';
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../../storage/database.ts';
import { imageResolutions } from '../../providers/media-request.ts';
import type {
  ImagePriceNames,
  ModelDetail,
  ModelRow,
  ModelsView,
  PricedModel,
} from '../contract.ts';
import { allPricesOf, multiplierText } from '../prices.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import { instant } from '../format.ts';
import type { ModelFigures } from './model-figures.ts';

export interface ModelsContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly figures: ModelFigures;
}

const modelsInput = z.object({ group: z.string().optional() });

/** The models on sale, at a group's prices, with their recent speed. */
export function modelRoutes(context: ModelsContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'models',
      role: 'user',
      input: modelsInput,
      async handle({ owner, input }): Promise<ModelsView> {
        const snapshot = context.catalog();
        const group = await groupFor(context.database, snapshot, owner.id, input.group);
        const items = await modelRows(context, snapshot, group);
        const sample = sampleModel(snapshot.listing(group)) ?? null;
        return { group, groups: [...snapshot.groups.keys()], items, sample_model: sample };
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'models/*',
      role: 'user',
      input: modelsInput,
      async handle({ owner, input, params }): Promise<ModelDetail> {
        const snapshot = context.catalog();
        const group = await groupFor(context.database, snapshot, owner.id, input.group);
        return modelDetail(context, snapshot, params['*'] ?? '', group);
      },
    }),
  ];
}

/** The models that a group can call, at its prices. */
export async function modelRows(
  { figures }: Pick<ModelsContext, 'figures'>,
  snapshot: Snapshot,
  group: string,
): Promise<readonly ModelRow[]> {
  const offers = snapshot.listing(group).flatMap(({ id }) => snapshot.offer(group, id) ?? []);
  const abilities = await figures.abilitiesOfAll(offers);
  const speeds = await figures.speeds();
  return offers.map(({ model, price, group: { multiplierPpm } }, index) => ({
    ...pricedRow(model, price, multiplierPpm),
    ...(abilities[index] ?? noAbilities),
    speed: speeds.get(model.id) ?? null,
  }));
}

/** The requested group; else the group of the key used last. */
async function groupFor(
  database: Database,
  snapshot: Snapshot,
  ownerId: string,
  wanted: string | undefined,
): Promise<string> {
  if (wanted !== undefined) return snapshot.groups.has(wanted) ? wanted : throwProblem('not_found');
  const name = await database.snapshot(() => groupOfLatestKey(ownerId));
  return name !== undefined && snapshot.groups.has(name)
    ? name
    : ([...snapshot.groups.keys()][0] ?? throwProblem('not_found'));
}

const noAbilities = { tools: false, reasoning: false };

const imagePriceNames: ImagePriceNames = {
  also_called: qualitySynonyms,
  resolutions: imageResolutions.map(({ name, pixelsMax }) => ({
    name,
    pixels_max: Number.isFinite(pixelsMax) ? pixelsMax : null,
  })),
};

export function pricedRow(model: Model, price: Price, multiplierPpm: bigint): PricedModel {
  const { id, ownedBy, kind, context, outputTokensMax, modalities, shutdownDate } = model;
  return {
    id,
    vendor: ownedBy,
    kind,
    context: context ?? null,
    output_tokens_max: outputTokensMax ?? null,
    modalities: modalities ?? null,
    prices: allPricesOf(price, multiplierPpm),
    shutdown_date: shutdownDate ?? null,
  };
}

/** One model, at the prices of `group`; a model that no group can call is not found. */
export async function modelDetail(
  { database, clock, figures }: Pick<ModelsContext, 'database' | 'clock' | 'figures'>,
  snapshot: Snapshot,
  id: string,
  group: string,
): Promise<ModelDetail> {
  const sold = [...snapshot.groups.keys()].flatMap((name) => snapshot.offer(name, id) ?? []);
  const [first] = sold;
  if (first === undefined) return throwProblem('not_found');
  const { model } = first;
  const offer = snapshot.offer(group, id);
  const version = await database.snapshot(() => priceVersionAt(id, clock.now()));
  const { image = {}, durations } = model;
  return {
    ...pricedRow(
      model,
      offer?.price ?? model.price,
      snapshot.groups.get(group)?.multiplierPpm ?? 0n,
    ),
    ...figures.abilities(offer ?? first),
    ...(await figures.history(id)),
    by_group: sold.map(({ price, group: { name, multiplierPpm } }) => ({
      group: name,
      multiplier: multiplierText(multiplierPpm),
      prices: allPricesOf(price, multiplierPpm),
    })),
    created_at: instant(model.created * 1_000),
    price_version:
      version === undefined
        ? null
        : { version: version.version, since: instant(version.effectiveAt) },
    image:
      model.kind !== 'image'
        ? null
        : {
            sizes: image.sizes ?? null,
            qualities: image.qualities ?? null,
            images_max: image.nMax ?? null,
            usual_size: image.usual?.size ?? null,
            usual_quality: image.usual?.quality ?? null,
            price_names: imagePriceNames,
          },
    durations: durations ?? null,
  };
}
