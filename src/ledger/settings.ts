/**
 * The till's limits; each can be set by whoever opens it, tests above all. What follows from the
 * protocol's proofs is in till.md.
 */
export interface TillSettings {
  /** Charges in one transaction. */
  readonly batchItemsMax: number;
  /**
   * While many requests run and time is short, a batch waits at most so long for the answers that
   * are about to come.
   */
  readonly gatherMs: number;
  /** A process that has nothing to say says so. */
  readonly heartbeatMs: number;
  /**
   * After so long without a good batch nothing new is admitted (R10); less than `silenceMs`, so
   * that it stops before anybody can fence it.
   */
  readonly doubtfulMs: number;
  /** A process is fenced when it was silent for so long, and so many looks (R4). */
  readonly silenceMs: number;
  readonly silentLooks: number;
  readonly lookEveryMs: number;
  /**
   * Floats of a dead process given back in one transaction, which must not keep accounts locked for
   * long.
   */
  readonly sweepFloatsMax: number;
  /** Who called in an account is asked so often. */
  readonly callsEveryMs: number;
  /** A last byte waits for its commit no longer than this. */
  readonly settleWaitMs: number;
  /** More charges than this waiting for the database: nothing new is admitted. */
  readonly unsettledMax: number;
  readonly accountsHeldMax: number;
  /** A float that nobody uses goes back. */
  readonly idleMs: number;
  /** How long requests wait for money before they are refused. */
  readonly streamWaitMs: number;
  readonly wholeWaitMs: number;
  /**
   * Of one account. The first burst on an account waits for its first draw as a whole, so this is
   * what a burst may be; till.md has 256.
   */
  readonly waitersMax: number;
  /**
   * Charges answered so recently are kept in memory, in case the database forgets them (failover to
   * a lagging replica).
   */
  readonly rememberMs: number;
  readonly rememberedMax: number;
  /** `close` waits no longer than this for the database. */
  readonly closeWaitMs: number;
}

export const tillSettings: TillSettings = {
  batchItemsMax: 512,
  gatherMs: 4,
  heartbeatMs: 4_000,
  doubtfulMs: 10_000,
  silenceMs: 15_000,
  silentLooks: 5,
  lookEveryMs: 2_000,
  sweepFloatsMax: 100,
  callsEveryMs: 1_000,
  settleWaitMs: 30_000,
  unsettledMax: 20_000,
  accountsHeldMax: 20_000,
  idleMs: 10_000,
  streamWaitMs: 1_500,
  wholeWaitMs: 30_000,
  waitersMax: 4_096,
  rememberMs: 60_000,
  rememberedMax: 20_000,
  closeWaitMs: 30_000,
};
