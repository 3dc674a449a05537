import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openWorkers, type Workers } from '../../test/support/limited-workers.ts';
import { allow } from '../../test/support/limiter-suite.ts';
import { long } from '../../test/support/long.ts';
import { recallTimeoutMs } from './limit-keeper.ts';
import type { Allowance, LimitExceeded, Pass } from './limiter.ts';
import { leaseMs } from './worker-limiter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const processes = 3;
/** Of a message. */
const delayMsMax = 30;
/** Requests of a lease count from its beginning: so much too early at most. */
const shiftMs = 2 * leaseMs + 4 * delayMsMax;
/** Tokens that are set aside for each request. */
const setAside = 100;

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      enter: fc.nat(processes - 1),
      count: fc.integer({ min: 1, max: 150 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      finish: fc.integer({ min: 1, max: 60 }),
      used: fc.integer({ min: 0, max: setAside }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ waitMs: fc.integer({ min: 1, max: 250 }) }) },
  { weight: 1, arbitrary: fc.record({ end: fc.nat(processes - 1) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

test.each<Partial<Allowance>>([
  { rpm: 1_200 },
  { concurrency: 200 },
  { tpm: 180_000 },
  { rpm: 1_200, tpm: 200_000, concurrency: 200 },
])('no more enters than %j allows, and later all of it, whatever the order of messages', (limits) =>
  fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 40, maxLength: 100 }),
      fc.array(fc.integer({ min: 0, max: delayMsMax }), { minLength: 1, maxLength: 20 }),
      async (actions, delays) => {
        let messages = 0;
        const delayMs = (): number => delays[messages++ % delays.length] ?? 0;
        const run = new Run(openWorkers(processes, { delayMs }), limits);
        for (const each of actions) await run.do(each);
        const { entered, allowed } = await run.afterRest();
        expect(entered).toBeGreaterThanOrEqual(allowed);
        // In 0.2 s the allowance of a minute grows by a 300th.
        expect(entered).toBeLessThanOrEqual(Math.ceil(allowed * (1 + 1 / 300)));
      },
    ),
    { numRuns: long ? 40 : 10, endOnFailure: true },
  ),
);

/** Compares what workers let in with what the limits of one subject allow. */
class Run {
  readonly #workers: Workers;
  readonly #allowance: Allowance;
  readonly #limits: { readonly rpm: number; readonly tpm: number; readonly concurrency: number };
  readonly #begin = Date.now();
  /** Running requests, with the place of their process. */
  readonly #running = new Map<Pass, number>();
  readonly #ended = new Set<number>();
  #requestsFullAt = 0;
  #tokens = 0;

  constructor(workers: Workers, limits: Partial<Allowance>) {
    this.#workers = workers;
    this.#allowance = allow(limits);
    const { rpm = Infinity, tpm = Infinity, concurrency = Infinity } = limits;
    this.#limits = { rpm, tpm, concurrency };
  }

  async do(each: Action): Promise<void> {
    if ('enter' in each) {
      for (let i = 0; i < each.count; i++) this.#enter(each.enter);
      return;
    }
    if ('finish' in each)
      for (const pass of [...this.#running.keys()].slice(0, each.finish)) {
        this.#running.delete(pass);
        this.#tokens += each.used - setAside;
        pass.finish(each.used);
      }
    else if ('end' in each) this.#end(each.end);
    else await elapse(each.waitMs);
  }

  #enter(place: number): void {
    if (this.#ended.has(place)) return;
    const entered = this.#workers.worker(place).enter('u', this.#allowance, setAside);
    if (entered instanceof Promise) void entered.then((later) => this.#answered(place, later));
    else this.#answered(place, entered);
  }

  #answered(place: number, entered: Pass | LimitExceeded): void {
    if ('limitOf' in entered || this.#ended.has(place)) return;
    this.#running.set(entered, place);
    this.#tokens += setAside;
    const minutes = 1 + (Date.now() - this.#begin) / 60_000;
    atMost('running requests', this.#running.size, this.#limits.concurrency);
    this.#enteredAt(Date.now());
    atMost('tokens', this.#tokens, this.#limits.tpm * minutes + 0.001);
  }

  /** Over any stretch of time, no more than the burst and the rate allow. */
  #enteredAt(now: number): void {
    const eachMs = 60_000 / this.#limits.rpm;
    this.#requestsFullAt = Math.max(this.#requestsFullAt, now) + eachMs;
    atMost('ms of requests', this.#requestsFullAt - now, 60_000 + shiftMs);
  }

  /** One process always stays. */
  #end(place: number): void {
    if (this.#ended.has(place) || this.#ended.size === processes - 1) return;
    this.#ended.add(place);
    this.#workers.end(place);
    for (const [pass, at] of this.#running) if (at === place) this.#running.delete(pass);
  }

  /**
   * How many enter at once after all requests have ended, and a minute and the longest debt have
   * passed; and how many should: the whole allowance.
   */
  async afterRest(): Promise<{ entered: number; allowed: number }> {
    await elapse(recallTimeoutMs + 1_000);
    for (const pass of this.#running.keys()) pass.finish(setAside);
    vi.advanceTimersByTime(180_000);
    const { rpm, tpm, concurrency } = this.#limits;
    const allowed = Math.min(rpm, tpm / setAside, concurrency);
    const worker = this.#workers.worker([0, 1, 2].find((place) => !this.#ended.has(place)) ?? 0);
    let entered = 0;
    for (let i = 0; i < allowed + 50; i++)
      void Promise.resolve(worker.enter('u', this.#allowance, setAside)).then((answer) => {
        if ('finish' in answer) entered += 1;
      });
    await elapse(200);
    return { entered, allowed };
  }
}

function atMost(what: string, count: number, most: number): void {
  if (count > most) throw new Error(`${count} ${what}, allowed are ${most}`);
}

/** Much faster than `advanceTimersByTimeAsync`, which waits for each timer in real time. */
async function elapse(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5) {
    vi.advanceTimersByTime(Math.min(left, 5));
    for (let i = 0; i < 3; i++) await Promise.resolve();
  }
}
