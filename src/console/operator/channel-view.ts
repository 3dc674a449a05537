import { capabilities } from '../../base/capability.ts';
import type { StoredCatalog, StoredChannel } from '../../catalog/stored-catalog.ts';
import { kindsFor } from '../../gateway/models/offers.ts';
import type { ChannelCount } from '../../gateway/reports/counts.ts';
import { channelAcrossNodes, keyAcrossNodes, countTotals } from '../../gateway/reports/report.ts';
import { adaptersOf } from '../../providers/bridges/index.ts';
import type { Vendor } from '../../providers/vendor.ts';
import type { ChannelLoss } from '../../usage/totals.ts';
import type { ChannelKey, ChannelModel, ChannelStateName, ChannelView } from '../contract.ts';
import { instant, instantOrNull, yuan, yuanOrNull } from '../format.ts';
import { wholePpm, pricesOf } from '../prices.ts';
import { type ChannelActivity, notServing } from './serving.ts';

/** All data that a channel's view is made from, read at one moment. */
export interface ChannelReadings extends ChannelActivity {
  readonly catalog: StoredCatalog;
  readonly vendors: ReadonlyMap<string, Vendor>;
  /** The last characters of each channel's keys; undefined: the key is too short to show any. */
  readonly endings: ReadonlyMap<string, readonly (string | undefined)[]>;
  /** Of the last hour. */
  readonly counts: readonly ChannelCount[];
  /** Of the last 24 hours, nano-yuan, by channel; where costs are entered. */
  readonly costs: ReadonlyMap<string, bigint>;
  /**
   * Answers of the last 24 hours beyond what their requests can have cost, for each channel that
   * requests were sent to; `losses` is the money lost by them.
   */
  readonly overruns: ReadonlyMap<string, number>;
  readonly losses: ReadonlyMap<string, ChannelLoss>;
}

export function channelView(channel: StoredChannel, readings: ChannelReadings): ChannelView {
  const {
    name,
    vendor,
    baseUrl,
    secret,
    groups,
    priority,
    weight,
    billsCancelledInput,
    origin,
    version,
  } = channel;
  const seen = channelAcrossNodes(readings.reports, name);
  const hour = countTotals(readings.counts.filter((count) => count.channel === name));
  const running = seen.running + (readings.tasks.get(name) ?? 0);
  const shown = shownState(seen, running > 0 || readings.overruns.has(name));
  const state = notServing(channel, readings) ?? shown;
  return {
    name,
    vendor,
    base_url: baseUrl ?? null,
    secret: {
      set: secret !== undefined,
      last4: secret?.last4 ?? null,
      set_at: instantOrNull(secret?.since),
    },
    keys: keysOf(name, readings),
    groups,
    models: modelsOf(channel, readings),
    priority,
    weight,
    bills_cancelled_input: billsCancelledInput ?? false,
    state,
    why:
      seen.why === undefined
        ? null
        : { code: whyCode(seen.why), since: instant(seen.since), until: instantOrNull(seen.until) },
    running,
    last_hour: {
      requests: hour.requests,
      error_share: hour.requests === 0 ? null : hour.errors / hour.requests,
      first_byte_median_ms: hour.medianMs ?? null,
      first_byte_p95_ms: hour.p95Ms ?? null,
    },
    vendor_cost_24h: yuanOrNull(readings.costs.get(name)),
    overruns_24h: overrunsOf(name, readings),
    costs: [...channel.costs].map(([model, price]) => ({
      model,
      prices: pricesOf(price, wholePpm),
    })),
    origin,
    version,
  };
}

/** Processes report counts every few seconds; losses are there with their charges. */
export function overrunsOf(
  name: string,
  { overruns, losses }: Pick<ChannelReadings, 'overruns' | 'losses'>,
): ChannelView['overruns_24h'] {
  const loss = losses.get(name);
  return {
    answers: Math.max(overruns.get(name) ?? 0, loss?.answers ?? 0),
    loss: yuan(loss?.amount ?? 0n),
  };
}

/** Fewer attempts say nothing of a channel. */
const failingFrom = 5;

/**
 * `failing`: more than half of the last five minutes' attempts failed, though routing has no reason
 * yet to prefer other channels, or there are none. `untried`: there is no reason to call it healthy
 * either.
 */
function shownState(
  { state, recent: { attempts, failed } }: ReturnType<typeof channelAcrossNodes>,
  tried: boolean,
): ChannelStateName {
  if (state !== 'healthy') return state;
  if (attempts >= failingFrom && failed * 2 > attempts) return 'failing';
  return tried || attempts > 0 ? 'healthy' : 'untried';
}

function keysOf(name: string, { endings, reports }: ChannelReadings): readonly ChannelKey[] {
  const own = endings.get(name) ?? [];
  return own.map((last4, index) => {
    const { state, why } =
      own.length === 1 ? channelAcrossNodes(reports, name) : keyAcrossNodes(reports, name, index);
    return {
      number: index + 1,
      last4: last4 ?? null,
      state,
      why: why === undefined ? null : whyCode(why),
    };
  });
}

/** The reason for a channel's trouble, as a code. */
export const whyCode = (fault: string): string =>
  fault === 'credentials'
    ? 'credentials_refused'
    : fault === 'quota'
      ? 'vendor_account_empty'
      : fault;

function modelsOf(
  { models, vendor }: StoredChannel,
  { catalog, vendors }: ChannelReadings,
): readonly ChannelModel[] {
  const known = new Map(
    catalog.models.filter(({ active }) => active).map((model) => [model.id, model]),
  );
  const speaker = vendors.get(vendor);
  const speaks = speaker === undefined ? {} : adaptersOf(speaker);
  return [...models].map(([id, upstream]) => {
    const kind = known.get(id)?.kind;
    const can = capabilities.filter(
      (capability) =>
        kind !== undefined && kindsFor[capability].includes(kind) && capability in speaks,
    );
    return { id, upstream, priced: kind !== undefined, capabilities: can };
  });
}

/** A channel after a planned change; undefined: removed. */
export type ChannelAfter = Pick<StoredChannel, 'name' | 'models' | 'state' | 'groups'> | undefined;

/**
 * Models that the channel sells now and that no channel would sell in some group after the change.
 */
export function unservedBy(
  { channels, models }: StoredCatalog,
  name: string,
  then: ChannelAfter,
): readonly string[] {
  const offers = (all: readonly ChannelAfter[]): ReadonlySet<string> =>
    new Set(
      all.flatMap((channel) =>
        channel === undefined || channel.state !== 'active'
          ? []
          : [...channel.models.keys()].flatMap((model) =>
              channel.groups.map((group) => `${group} ${model}`),
            ),
      ),
    );
  const now = offers(channels);
  const later = offers([...channels.filter((channel) => channel.name !== name), then]);
  const sold = new Set(models.filter(({ active }) => active).map(({ id }) => id));
  const lost = [...now]
    .filter((offer) => !later.has(offer))
    .map((offer) => offer.slice(offer.indexOf(' ') + 1));
  return [...new Set(lost)].filter((id) => sold.has(id)).sort();
}
