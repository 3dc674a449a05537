import { minuteMs } from '../../base/calendar.ts';
import type { Clock } from '../../base/clock.ts';
import type { FaultKind } from '../../base/fault.ts';
import { bucketGrowth, type RequestMetrics } from '../../telemetry/request-metrics.ts';

/** Counts of past hours have a resolution of ten minutes. */
export const slotMs = 600_000;
/** "Now" covers this many minutes. */
export const recentMinutes = 5;

/** Begins the kinds of first bytes; the rest is the bucket, which each grows by `bucketGrowth`. */
export const firstBytePrefix = 'first:';
/**
 * The kind that counts answers beyond the bound of their requests. The attempts of these answers
 * count under another kind, too.
 */
export const overrunKind = 'overrun';

/**
 * A channel's count of one kind within a slot (its beginning, wall clock, ms): `ok`, the kind of a
 * fault, `overrun`, or the bucket of a first byte.
 */
export interface ChannelCount {
  readonly slot: number;
  readonly channel: string;
  readonly kind: string;
  readonly count: number;
}

const firstByteKind = (bucket: number): string => `${firstBytePrefix}${bucket}`;

/** The milliseconds within which this share of first bytes came; undefined without any. */
export function firstByteShare(
  counts: Iterable<Pick<ChannelCount, 'kind' | 'count'>>,
  share: number,
): number | undefined {
  const buckets = new Map<number, number>();
  let total = 0;
  for (const { kind, count } of counts) {
    if (!kind.startsWith(firstBytePrefix)) continue;
    add(buckets, Number(kind.slice(firstBytePrefix.length)), count);
    total += count;
  }
  let before = 0;
  for (const [bucket, count] of [...buckets].sort(([a], [b]) => a - b)) {
    before += count;
    if (before >= total * share) return Math.round(bucketGrowth ** (bucket - 0.5));
  }
  return undefined;
}

/** Counts of the last minutes, all channels together. */
export interface RecentCounts {
  readonly requests: number;
  readonly errors: number;
  readonly firsts: readonly { readonly kind: string; readonly count: number }[];
}

/** One channel's attempts of the last minutes. */
export interface RecentAttempts {
  readonly attempts: number;
  readonly failed: number;
}

interface Tally {
  ok: number;
  readonly others: Map<string, number>;
  readonly faults: Map<string, number>;
  readonly firsts: Map<number, number>;
}

interface Minute {
  readonly at: number;
  requests: number;
  errors: number;
  readonly firsts: Map<number, number>;
  /** Of each channel. */
  readonly answered: Map<string, number>;
  readonly failed: Map<string, number>;
}

/** One channel's counts at the last read. */
interface LastRead {
  ok: number;
  failed: number;
  all: number;
  readonly firsts: number[];
}

/**
 * Counts of this process that are not written yet. `RequestMetrics` counts the requests once for
 * all readers; this class reads the increase every few seconds.
 */
export class ChannelCounts {
  readonly #clock: Clock;
  readonly #requests: RequestMetrics;
  readonly #seen = new Map<string, LastRead>();
  #slot = 0;
  #tallies = new Map<string, Tally>();
  /** Counts of past slots, and counts that could not be written. */
  #waiting: ChannelCount[] = [];
  #minutes: Minute[] = [];

  constructor(clock: Clock, requests: RequestMetrics) {
    this.#clock = clock;
    this.#requests = requests;
  }

  /** Counts one failed attempt. */
  failed({ channel, fault }: { readonly channel: string; readonly fault: FaultKind }): void {
    const now = this.#clock.now();
    add(this.#tally(channel, now).faults, fault);
    add(this.#minute(now).failed, channel);
  }

  /** Counts one answer beyond the bound of its request. */
  overran(channel: string): void {
    add(this.#tally(channel, this.#clock.now()).others, overrunKind);
  }

  recent(): RecentCounts {
    this.#read();
    const minutes = this.#lastMinutes();
    const firsts = new Map<number, number>();
    for (const minute of minutes)
      for (const [bucket, count] of minute.firsts) add(firsts, bucket, count);
    return {
      requests: minutes.reduce((sum, { requests }) => sum + requests, 0),
      errors: minutes.reduce((sum, { errors }) => sum + errors, 0),
      firsts: [...firsts].map(([bucket, count]) => ({ kind: firstByteKind(bucket), count })),
    };
  }

  /** The same of one channel, by attempt; as of the last call of `recent`. */
  recentOf(channel: string): RecentAttempts {
    const sum = (of: (minute: Minute) => Map<string, number>): number =>
      this.#lastMinutes().reduce((total, minute) => total + (of(minute).get(channel) ?? 0), 0);
    const failed = sum((minute) => minute.failed);
    return { attempts: sum((minute) => minute.answered) + failed, failed };
  }

  #lastMinutes(): readonly Minute[] {
    const from = this.#clock.now() - recentMinutes * minuteMs;
    return this.#minutes.filter(({ at }) => at > from - minuteMs);
  }

  /** Takes the counts to write; they are no longer kept here. */
  take(): readonly ChannelCount[] {
    this.#read();
    this.#close();
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  /** Takes back counts that could not be written. Beyond the limit, the oldest are lost. */
  putBack(counts: readonly ChannelCount[]): void {
    this.#waiting = [...counts, ...this.#waiting].slice(-waitingMax);
  }

  /** Adds the increase since the last read to the current minute. */
  #read(): void {
    const now = this.#clock.now();
    const minute = this.#minute(now);
    for (const { channel, ok, failed, all } of this.#requests.channels()) {
      const seen = this.#seenOf(channel);
      minute.requests += all - seen.all;
      minute.errors += failed - seen.failed;
      if (channel !== '' && ok > seen.ok) {
        this.#tally(channel, now).ok += ok - seen.ok;
        add(minute.answered, channel, ok - seen.ok);
      }
      Object.assign(seen, { ok, failed, all });
    }
    for (const [channel, { counts }] of this.#requests.firsts)
      this.#readFirsts(channel, counts, minute, now);
  }

  #readFirsts(channel: string, counts: readonly number[], minute: Minute, now: number): void {
    const { firsts: seen } = this.#seenOf(channel);
    for (const [bucket, count] of counts.entries()) {
      const fresh = count - (seen[bucket] ?? 0);
      if (fresh === 0) continue;
      seen[bucket] = count;
      add(this.#tally(channel, now).firsts, bucket, fresh);
      add(minute.firsts, bucket, fresh);
    }
  }

  #seenOf(channel: string): LastRead {
    let seen = this.#seen.get(channel);
    if (seen === undefined) {
      seen = { ok: 0, failed: 0, all: 0, firsts: [] };
      this.#seen.set(channel, seen);
    }
    return seen;
  }

  #tally(channel: string, now: number): Tally {
    const slot = now - (now % slotMs);
    if (slot !== this.#slot) {
      this.#close();
      this.#slot = slot;
    }
    const known = this.#tallies.get(channel);
    if (known !== undefined) return known;
    const tally = {
      ok: 0,
      others: new Map<string, number>(),
      faults: new Map<string, number>(),
      firsts: new Map<number, number>(),
    };
    this.#tallies.set(channel, tally);
    return tally;
  }

  #close(): void {
    for (const [channel, { ok, others, faults, firsts }] of this.#tallies) {
      const write = (kind: string, count: number) =>
        this.#waiting.push({ slot: this.#slot, channel, kind, count });
      if (ok > 0) write('ok', ok);
      for (const [fault, count] of faults) write(fault, count);
      for (const [kind, count] of others) write(kind, count);
      for (const [bucket, count] of firsts) write(firstByteKind(bucket), count);
    }
    this.#tallies = new Map();
  }

  #minute(now: number): Minute {
    const at = now - (now % minuteMs);
    const last = this.#minutes.at(-1);
    if (last?.at === at) return last;
    const minute = {
      at,
      requests: 0,
      errors: 0,
      firsts: new Map<number, number>(),
      answered: new Map<string, number>(),
      failed: new Map<string, number>(),
    };
    this.#minutes.push(minute);
    if (this.#minutes.length > recentMinutes + 1) this.#minutes.shift();
    return minute;
  }
}

/** The most counts that wait for the database. */
const waitingMax = 100_000;

function add<Key>(counts: Map<Key, number>, key: Key, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
