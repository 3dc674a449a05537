/**
 * The till's limits; the caller of `openTill` can set each, tests above all. docs/guides/ledger.md
 * explains the protocol.
 */
export interface TillSettings {
  /** Charges in one transaction. */
  readonly batchItemsMax: number;
  /**
   * While many requests run and the thread is busy, a batch waits at most this long for more
   * answers.
   */
  readonly gatherMs: number;
  /** A process with nothing to send sends an empty batch after this time. */
  readonly heartbeatMs: number;
  /**
   * After this time without a good batch the till admits nothing new (R10). Less than `silenceMs`,
   * so that it stops before another process can fence it.
   */
  readonly doubtfulMs: number;
  /** A process is fenced after this much silence, seen in this many looks (R4). */
  readonly silenceMs: number;
  readonly silentLooks: number;
  readonly lookEveryMs: number;
  /**
   * Floats of a dead process given back in one transaction, which must not lock accounts for long.
   */
  readonly sweepFloatsMax: number;
  /** A last byte waits for its commit no longer than this. */
  readonly settleWaitMs: number;
  /** With more charges than this waiting for the database, the till admits nothing new. */
  readonly unsettledMax: number;
  readonly accountsHeldMax: number;
  /** A float that is unused for this long goes back. */
  readonly idleMs: number;
  /** How long requests wait for money before they are refused. */
  readonly streamWaitMs: number;
  readonly wholeWaitMs: number;
  /**
   * Per account. The first burst on an account waits for its first draw as a whole, so this is the
   * largest burst.
   */
  readonly waitersMax: number;
  /**
   * Charges settled within this time are kept in memory, in case the database forgets them
   * (failover to a lagging replica).
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
