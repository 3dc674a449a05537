import assert from 'node:assert/strict';
import { toolMeasures } from '../base/quantities.ts';
import { convertedNanoPerMillion } from './price-members.ts';
import { costOf, type Price, type Tariff, tariffOf, type Rates } from './price.ts';
import {
  type Candidate,
  type Channel,
  channelId,
  type Group,
  type Model,
  type ModelKind,
  type Offer,
  type Snapshot,
  withEachKey,
} from './snapshot.ts';

/** Everything that is sold, as the database records it. */
export interface Catalog {
  /** Changes whenever anything else in it does. */
  readonly version: string;
  readonly groups: readonly Group[];
  readonly models: readonly Model[];
  readonly channels: readonly Channel[];
}

/** Whether Tollgate can call this vendor for models of this kind. */
export type Serves = (vendor: string, kind: ModelKind) => boolean;

type Offers = ReadonlyMap<string, Offer>;

/**
 * Computes the offer of every (group, model) beforehand, so that finding one costs two map look-ups
 * and no allocation.
 */
export function buildSnapshot(
  catalog: Catalog,
  serves: Serves,
  fees: ListFees = () => ({}),
): Snapshot {
  const groups = new Map(catalog.groups.map((group) => [group.name, group]));
  const models = new Map(catalog.models.map((model) => [model.id, model]));
  const channels = new Map(catalog.channels.map((channel) => [channel.name, channel]));
  const candidates = candidatesByModel(catalog.channels, models, serves, fees);
  const tariffs = tariffCache();
  const offers = new Map<string, Offers>();
  const listings = new Map<string, readonly Model[]>();
  for (const group of catalog.groups) {
    const sold = offersOf(group, models, candidates, tariffs);
    offers.set(group.name, sold);
    listings.set(
      group.name,
      [...sold.values()].map((offer) => offer.model).sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
  }
  return {
    version: catalog.version,
    groups,
    models,
    channels,
    offer: (group, model) => offers.get(group)?.get(model),
    listing: (group) => listings.get(group) ?? [],
  };
}

function candidatesByModel(
  channels: readonly Channel[],
  models: ReadonlyMap<string, Model>,
  serves: Serves,
  fees: ListFees,
): Map<string, Candidate[]> {
  const byModel = new Map<string, Candidate[]>();
  for (const channel of channels) {
    if (channel.resting) continue;
    const keys = withEachKey(channel);
    for (const [publicId, upstreamModel] of channel.models) {
      const model = models.get(publicId);
      if (model === undefined || !serves(channel.vendor, model.kind)) continue;
      const candidates = byModel.get(publicId) ?? [];
      const listFees = takesListFees(model.kind, model.price)
        ? { listFees: fees(channel.vendor, upstreamModel) }
        : {};
      for (const keyed of keys)
        candidates.push({
          ...candidateOf(keyed, keys.length, publicId, upstreamModel),
          ...listFees,
        });
      byModel.set(publicId, candidates);
    }
  }
  for (const candidates of byModel.values()) candidates.sort((a, b) => a.priority - b.priority);
  return byModel;
}

/** The keys of a channel share its weight. */
function candidateOf(
  channel: Channel,
  keys: number,
  model: string,
  upstreamModel: string,
): Candidate {
  const durations = channel.durations?.get(model);
  const price = channel.costs?.get(model);
  return {
    channel,
    id: channelId(channel),
    priority: channel.priority,
    weight: channel.weight / keys,
    upstreamModel,
    latencyKey: `${channel.name}@${channel.revision} ${model}`,
    ...(price === undefined ? {} : { cost: usualCost(price) }),
    ...(durations === undefined ? {} : { durations }),
  };
}

/**
 * The request by which costs are compared: three input tokens for each output token; models that
 * are sold by the piece are compared by the piece.
 */
const usualRequest = {
  input: 3_000,
  output: 1_000,
  image: 1,
  megapixel: 1,
  second: 10,
  character: 1_000,
  request: 1,
};
const usualCost = (price: Price): number =>
  Number(costOf(tariffOf(price, 1_000_000n), usualRequest).total);

function offersOf(
  group: Group,
  models: ReadonlyMap<string, Model>,
  byModel: ReadonlyMap<string, readonly Candidate[]>,
  tariff: (model: string, price: Price, multiplierPpm: bigint) => Tariff,
): Offers {
  const offers = new Map<string, Offer>();
  for (const [id, all] of byModel) {
    const model = models.get(id);
    const candidates = all.filter((candidate) => candidate.channel.groups.includes(group.name));
    if (model === undefined || candidates.length === 0) continue;
    const price = withListFees(
      model.kind,
      model.price,
      candidates.map(({ listFees = {} }) => listFees),
    );
    offers.set(id, {
      model,
      group,
      price,
      candidates,
      tariff: tariff(id, price, group.multiplierPpm),
    });
  }
  return offers;
}

/** Groups with the same multiplier share their tariffs, unless their channels have other fees. */
function tariffCache(): (model: string, price: Price, multiplierPpm: bigint) => Tariff {
  const made = new Map<string, Tariff>();
  return (model, price, multiplierPpm) => {
    const key = `${multiplierPpm} ${toolMeasures.map((measure) => price.rates[measure] ?? '').join()} ${model}`;
    const tariff = made.get(key) ?? tariffOf(price, multiplierPpm);
    made.set(key, tariff);
    return tariff;
  };
}

/** The vendors' list fees of tools that they run, by vendor and the vendor's id of a model. */
export type ListFees = (vendor: string, model: string) => Rates;

type InDollars = (vendor: string, model: string) => Readonly<Partial<Record<keyof Rates, string>>>;

/** The list fees in yuan. `usdRatePpm`: millionths of a yuan for a dollar. */
export const listFeesAt =
  (inDollars: InDollars, usdRatePpm: bigint): ListFees =>
  (vendor, model) => {
    const fees = inDollars(vendor, model);
    return Object.fromEntries(
      toolMeasures.flatMap((measure) => {
        const dollars = fees[measure];
        if (dollars === undefined) return [];
        const rate = convertedNanoPerMillion(measure, dollars, usdRatePpm);
        assert(typeof rate === 'bigint', `list fee of ${vendor} for ${measure}: ${dollars}`);
        return [[measure, rate]];
      }),
    );
  };

/**
 * Whether a price takes list fees: only chat models run tools, and a price that names one fee names
 * all fees, unless `listFees` is set.
 */
const takesListFees = (kind: ModelKind, { rates, listFees }: Price): boolean =>
  kind === 'chat' && (listFees ?? toolMeasures.every((measure) => rates[measure] === undefined));

/**
 * The price with the list fees that it takes: for each tool, the dearest of the channels. `fees`:
 * the list fees of each channel.
 */
export function withListFees(kind: ModelKind, price: Price, fees: readonly Rates[]): Price {
  if (!takesListFees(kind, price)) return price;
  const added = toolMeasures.flatMap((measure) => {
    const [first, ...more] = fees.flatMap((each) => each[measure] ?? []);
    if (first === undefined || price.rates[measure] !== undefined) return [];
    return [[measure, more.reduce((most, fee) => (fee > most ? fee : most), first)] as const];
  });
  return added.length === 0
    ? price
    : { ...price, rates: { ...price.rates, ...Object.fromEntries(added) } };
}

/** The snapshot in force. A request keeps the one it began with. */
export function currentSnapshot(first: Snapshot): {
  readonly get: () => Snapshot;
  readonly replace: (next: Snapshot) => void;
} {
  let snapshot = first;
  return {
    get: () => snapshot,
    replace: (next) => {
      snapshot = next;
    },
  };
}
