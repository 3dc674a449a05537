import type { Nano } from '../base/money.ts';

/** Counters of one till since it was opened, for metrics (till.md §8). */
export class TillStats {
  /** Charges committed by batches. */
  settled = 0;
  shortfallNano: Nano = 0n;
  /** Finished requests settled after their process was fenced. */
  late = 0;
  /** Times this process found itself fenced. */
  fenced = 0;
  /** Times the database had forgotten what it had committed: a failover to a lagging replica, a backup restored. */
  behind = 0;
  /** Times memory and database disagreed: a bug. */
  broken = 0;
  batches = 0;
  /** Batches whose outcome was not known at first. */
  unknownBatches = 0;
  waited = 0;
  waitedMs = 0;
  /** Requests refused for lack of money. */
  insufficient = 0;
  /** Charges that the database would not take. */
  refused = 0;
  undelivered = 0;
}

/** What is read of a till at each scrape, by its metric's name. */
export function tillMetrics(stats: TillStats): Readonly<Record<string, { readonly help: string; readonly total: () => number }>> {
  return {
    tollgate_till_settled_total: { help: 'Charges committed', total: () => stats.settled },
    tollgate_till_refused_total: { help: 'Charges that the database will never take: see settle_failed', total: () => stats.refused },
    tollgate_till_shortfall_yuan_total: { help: 'Cost that nobody paid, in yuan', total: () => Number(stats.shortfallNano) / 1e9 },
    tollgate_till_late_total: { help: 'Requests settled after their process was fenced', total: () => stats.late },
    tollgate_till_fenced_total: { help: 'Times this process was fenced', total: () => stats.fenced },
    tollgate_till_unknown_batches_total: { help: 'Batches sent again, their outcome unknown', total: () => stats.unknownBatches },
    tollgate_till_undelivered_total: {
      help: 'Answers withheld because their charge was not known in time',
      total: () => stats.undelivered,
    },
    tollgate_till_waits_total: { help: 'Requests that waited for money', total: () => stats.waited },
    tollgate_till_wait_seconds_total: { help: 'Time that requests waited for money', total: () => stats.waitedMs / 1_000 },
  };
}

/** What an operator should hear of, once each. */
export type TillEvent =
  | { readonly event: 'fenced' | 'behind' | 'broken'; readonly process: string; readonly unsettled: number; readonly error: unknown }
  | { readonly event: 'refused'; readonly id: string; readonly error: unknown }
  | { readonly event: 'stuck'; readonly account: string; readonly error: unknown }
  | { readonly event: 'unknown_outcome'; readonly error: unknown };
