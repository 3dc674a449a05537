import * as z from 'zod';
import { groupOfLatestKey } from '../../accounts/user-keys.ts';
import { priceVersionAt } from '../../catalog/price-versions.ts';
import type { Model, Snapshot } from '../../catalog/snapshot.ts';
import type { Price } from '../../catalog/price.ts';
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../../storage/database.ts';
import { hourMs } from '../../usage/ranges.ts';
import { speedsByHour, summarizeSpeeds } from '../../usage/histogram.ts';
import { qualitySynonyms, imageResolutions } from '../../providers/media-request.ts';
import type { ImagePriceNames, ModelDetail, ModelRow, ModelsView } from '../contract.ts';
import { allPricesOf, multiplierText } from '../prices.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { instant } from '../format.ts';

export interface ModelsContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
}

const modelsInput = z.object({ group: z.string().optional() });
const speedHours = 24;

/** The models on sale, at a group's prices, with their recent speed. */
export function modelRoutes(rooms: ModelsContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'models',
      role: 'user',
      input: modelsInput,
      handle: (visit) => list(rooms, visit),
    }),
    defineRoute({
      method: 'GET',
      path: 'models/*',
      role: 'user',
      input: modelsInput,
      handle: (visit) => detail(rooms, visit),
    }),
  ];
}

async function list(
  { database, catalog }: ModelsContext,
  { owner, input }: SignedInRequest<z.output<typeof modelsInput>>,
): Promise<ModelsView> {
  const snapshot = catalog();
  const group = await groupFor(database, snapshot, owner.id, input.group);
  const multiplier = snapshot.groups.get(group)?.multiplierPpm ?? 0n;
  return {
    group,
    groups: [...snapshot.groups.keys()],
    items: snapshot
      .listing(group)
      .map((model) =>
        modelRow(model, snapshot.offer(group, model.id)?.price ?? model.price, multiplier),
      ),
  };
}

/** The requested group; else the group of the key used last. */
async function groupFor(
  database: Database,
  snapshot: Snapshot,
  ownerId: string,
  wanted: string | undefined,
): Promise<string> {
  if (wanted !== undefined) return snapshot.groups.has(wanted) ? wanted : throwProblem('not_found');
  const name = await database.snapshot(() => groupOfLatestKey(ownerId, 'used'));
  return name !== undefined && snapshot.groups.has(name)
    ? name
    : ([...snapshot.groups.keys()][0] ?? throwProblem('not_found'));
}

const imagePriceNames: ImagePriceNames = {
  also_called: qualitySynonyms,
  resolutions: imageResolutions.map(({ name, pixelsMax }) => ({
    name,
    pixels_max: Number.isFinite(pixelsMax) ? pixelsMax : null,
  })),
};

export function modelRow(model: Model, price: Price, multiplierPpm: bigint): ModelRow {
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

async function detail(
  { database, clock, catalog }: ModelsContext,
  visit: SignedInRequest<z.output<typeof modelsInput>>,
): Promise<ModelDetail> {
  const snapshot = catalog();
  const id = visit.params['*'] ?? '';
  const sold = [...snapshot.groups.keys()].flatMap((name) => snapshot.offer(name, id) ?? []);
  const [first] = sold;
  if (first === undefined) return throwProblem('not_found');
  const { model } = first;
  const group = await groupFor(database, snapshot, visit.owner.id, visit.input.group);
  const now = clock.now();
  const version = await database.snapshot(() => priceVersionAt(id, now));
  const to = Math.ceil(now / hourMs) * hourMs;
  const lately = summarizeSpeeds(
    await database.snapshot(() => speedsByHour({ model: id, from: to - speedHours * hourMs, to })),
  );
  const { image = {}, durations } = model;
  return {
    ...modelRow(
      model,
      snapshot.offer(group, id)?.price ?? model.price,
      snapshot.groups.get(group)?.multiplierPpm ?? 0n,
    ),
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
    speed:
      lately.requests === 0
        ? null
        : {
            requests: lately.requests,
            first_byte_median_ms: lately.medianMs ?? null,
            total_median_ms: lately.medianDurationMs ?? null,
            success_share: (lately.requests - lately.cut) / lately.requests,
          },
  };
}
