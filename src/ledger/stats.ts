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
  /**
   * Times the database had forgotten what it had committed: a failover to a lagging replica, a
   * backup restored.
   */
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

/** What an operator should hear of, once each. */
export type TillEvent =
  | {
      readonly event: 'fenced' | 'behind' | 'broken';
      readonly process: string;
      readonly unsettled: number;
      readonly error: unknown;
    }
  | { readonly event: 'refused'; readonly id: string; readonly error: unknown }
  | { readonly event: 'stuck'; readonly account: string; readonly error: unknown }
  | { readonly event: 'unknown_outcome'; readonly error: unknown };
