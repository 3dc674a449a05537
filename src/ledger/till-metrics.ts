import type { Nano } from '../base/money.ts';
import { type MetricFamily, metricFamily } from '../telemetry/exposition.ts';
import { DurationHistogram, ownTimeRange } from '../telemetry/request-metrics.ts';
import type { Float } from './float.ts';

/** Counters of one till since it was opened, for metrics. */
export class TillStats {
  /** Charges committed by batches. */
  settled = 0;
  shortfallNano: Nano = 0n;
  /** Finished requests settled after their process was fenced. */
  late = 0;
  /** Times this process found itself fenced. */
  fenced = 0;
  /**
   * Times the database had forgotten what it committed: a failover to a lagging replica, a backup
   * restored.
   */
  behind = 0;
  /** Times memory and database disagreed: a bug. */
  broken = 0;
  batches = 0;
  /** How long each charge waited for its batch, and then for the commit of the batch. */
  readonly queued = new DurationHistogram(ownTimeRange);
  readonly committed = new DurationHistogram(ownTimeRange);
  /** Batches whose outcome was unknown at first. */
  unknownBatches = 0;
  waited = 0;
  waitedMs = 0;
  /** Requests refused for lack of money. */
  insufficient = 0;
  /** Charges that the database would not take. */
  refused = 0;
  undelivered = 0;
}

/** What a till knows of itself at one scrape. */
interface TillFigures {
  readonly stats: TillStats;
  readonly held: Iterable<Readonly<Float>>;
  readonly unsettled: number;
  readonly running: number;
  readonly admitting: boolean;
}

const yuan = (nano: Nano): number => Number(nano) / 1e9;

const counter = (name: string, help: string, total: number): MetricFamily =>
  metricFamily(`tollgate_till_${name}`, 'counter', help, total);
const gauge = (name: string, help: string, now: number): MetricFamily =>
  metricFamily(`tollgate_till_${name}`, 'gauge', help, now);

/** A till's metrics at one scrape. Only users' floats count: a limit of a key is no money. */
export function tillFamilies({
  stats,
  held,
  unsettled,
  running,
  admitting,
}: TillFigures): readonly MetricFamily[] {
  const { floats, waiters, free, reserved, granted } = sumOf(held);
  return [
    gauge(
      'admitting',
      '1 while money can be reserved: the database answers and is not far behind',
      admitting ? 1 : 0,
    ),
    gauge('floats', 'Accounts of which this process holds money', floats),
    metricFamily(
      'tollgate_till_float_yuan',
      'gauge',
      'Money that this process holds of accounts, in yuan',
      [
        [{ part: 'free' }, yuan(free)],
        [{ part: 'reserved' }, yuan(reserved)],
        [{ part: 'unsettled' }, yuan(granted - free - reserved)],
      ],
    ),
    gauge('running', 'Requests with money set aside', running),
    gauge('waiters', 'Requests that wait for money now', waiters),
    gauge('unsettled', 'Charges that are not known to be committed', unsettled),
    counter('settled_total', 'Charges committed', stats.settled),
    counter('batches_total', 'Transactions that committed them', stats.batches),
    counter(
      'refused_total',
      'Charges that the database will never take: see settle_failed',
      stats.refused,
    ),
    counter('shortfall_yuan_total', 'Cost that nobody paid, in yuan', yuan(stats.shortfallNano)),
    counter('late_total', 'Requests settled after their process was fenced', stats.late),
    counter('fenced_total', 'Times this process was fenced', stats.fenced),
    counter('behind_total', 'Times the database had forgotten what it had committed', stats.behind),
    counter('broken_total', 'Times memory and database disagreed', stats.broken),
    counter(
      'unknown_batches_total',
      'Batches sent again, their outcome unknown',
      stats.unknownBatches,
    ),
    counter(
      'undelivered_total',
      'Answers withheld because their charge was not known in time',
      stats.undelivered,
    ),
    counter(
      'insufficient_total',
      'Requests refused for lack of money after a wait',
      stats.insufficient,
    ),
    stats.queued.family(
      'tollgate_till_queue_seconds',
      'Time that a charge waited until its batch was sent',
    ),
    stats.committed.family(
      'tollgate_till_commit_seconds',
      'Time from there until its batch was committed',
    ),
    counter('waits_total', 'Requests that waited for money', stats.waited),
    counter('wait_seconds_total', 'Time that requests waited for money', stats.waitedMs / 1_000),
  ];
}

function sumOf(held: TillFigures['held']) {
  let [floats, waiters] = [0, 0];
  let [free, reserved, granted] = [0n, 0n, 0n];
  for (const float of held) {
    waiters += float.waiters.length;
    if (float.limit !== undefined) continue;
    floats += 1;
    free += float.free;
    reserved += float.reserved;
    granted += float.granted;
  }
  return { floats, waiters, free, reserved, granted };
}
