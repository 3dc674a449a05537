import type { Clock } from '../../base/clock.ts';
import type { StoredChannel } from '../../catalog/stored-catalog.ts';
import {
  channelAcrossNodes,
  type NodeReport,
  nodeReports,
  parkedEverywhereSince,
} from '../../gateway/reports/report.ts';
import { openTasksByChannel } from '../../gateway/tasks/queries.ts';
import type { Database } from '../../storage/database.ts';
import type { NotServingName } from '../contract.ts';

/** What the processes report of the channels, and their open tasks, read at one moment. */
export interface ChannelActivity {
  readonly reports: readonly NodeReport[];
  /** Tasks that have not ended, by channel. */
  readonly tasks: ReadonlyMap<string, number>;
}

export async function channelActivity(database: Database, clock: Clock): Promise<ChannelActivity> {
  return {
    reports: await nodeReports(database, clock),
    tasks: await openTasksByChannel(database),
  };
}

/** After this time every process has loaded a change, and has reported what it runs. */
const heardAfterMs = 4_000;

/**
 * Why a channel takes no new requests; undefined: it serves its models. The gateway tries a parked
 * channel again by itself, each process at its own time: one process that does not have it parked
 * serves. A cooling channel counts as one that serves: it rests for seconds.
 */
export function notServing(
  { name, state, changedAt }: StoredChannel,
  { reports, tasks }: ChannelActivity,
): NotServingName | undefined {
  if (state === 'disabled') return 'disabled';
  if (state === 'active')
    return parkedEverywhereSince(reports, name) === undefined ? undefined : 'parked';
  // Drained: no process that knows of the change runs anything on the channel any more.
  const heard = reports.every(({ at }) => at >= changedAt + heardAfterMs);
  const running = channelAcrossNodes(reports, name).running + (tasks.get(name) ?? 0);
  return running === 0 && heard ? 'drained' : 'draining';
}

/** A channel, and why it takes no new requests; undefined: it does. */
export interface JudgedChannel {
  readonly channel: StoredChannel;
  readonly why: NotServingName | undefined;
}

export const judged = (
  channels: readonly StoredChannel[],
  activity: ChannelActivity,
): readonly JudgedChannel[] =>
  channels.map((channel) => ({ channel, why: notServing(channel, activity) }));

/** The channels that list a model. */
export const judgedOf = (
  model: string,
  channels: readonly StoredChannel[],
  activity: ChannelActivity,
): readonly JudgedChannel[] =>
  judged(
    channels.filter(({ models }) => models.has(model)),
    activity,
  );

/** The channels that take no new requests, and why, by name. */
export const notServingByName = (
  channels: readonly JudgedChannel[],
): Readonly<Record<string, NotServingName>> =>
  Object.fromEntries(
    channels.flatMap(({ channel: { name }, why }) => (why === undefined ? [] : [[name, why]])),
  );

/** Whether one of the channels that list a model takes requests for it. */
export const isServed = (channels: readonly JudgedChannel[]): boolean =>
  channels.some(({ why }) => why === undefined);
