import { pause, type Timers } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { type Database, isFinal } from '../storage/database.ts';

/**
 * A procedure that is safe to repeat until its outcome is known, because its ids make it happen
 * once.
 */
export interface RetriedCall {
  readonly procedure: string;
  /** Called for each try. */
  readonly input: () => unknown;
  readonly done?: (reply: unknown) => void;
  /** The database will never do it. */
  readonly refused: (error: unknown) => void;
}

/**
 * The till's work in the database besides batches: one call after the other, each repeated until it
 * is done or refused for good.
 */
export class BackgroundRetries {
  readonly #database: Database;
  readonly #random: Random;
  readonly #timers: Timers;
  readonly #calls: RetriedCall[] = [];
  #running: Promise<void> | undefined;

  constructor(database: Database, random: Random, timers: Timers) {
    this.#database = database;
    this.#random = random;
    this.#timers = timers;
  }

  get size(): number {
    return this.#calls.length;
  }

  add(call: RetriedCall): void {
    this.#calls.push(call);
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    for (let call = this.#calls[0]; call !== undefined; call = this.#calls[0]) {
      await this.#perform(call);
      this.#calls.shift();
    }
    this.#running = undefined;
  }

  async #perform({ procedure, input, done, refused }: RetriedCall): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      let reply: unknown;
      try {
        reply = await this.#database.call(procedure, input());
      } catch (error) {
        if (isFinal(error)) return refused(error);
        await pause(this.#timers, retryMs(attempt, this.#random));
        continue;
      }
      return done?.(reply);
    }
  }
}

/** Queues the fence of a process: once it is done, the database takes nothing more from it. */
export function queueFence(retries: BackgroundRetries, id: string): void {
  retries.add({ procedure: 'till.fence', input: () => ({ id }), refused: () => {} });
}

/**
 * Resolves when the process is fenced and everything it held is given back, some floats at a time.
 */
export async function queueFenceAndSweep(
  retries: BackgroundRetries,
  id: string,
  floatsMax: number,
): Promise<void> {
  queueFence(retries, id);
  const sweepSome = (): Promise<boolean> =>
    new Promise((resolve) => {
      retries.add({
        procedure: 'till.sweep',
        input: () => ({ id, floatsMax }),
        done: (isSwept) => resolve(isSwept === true),
        refused: () => resolve(true),
      });
    });
  while (!(await sweepSome())) continue;
}

/**
 * Short at first, then about once a second, and spread so that processes do not retry at the same
 * instant.
 */
export function retryMs(attempt: number, random: Random): number {
  return Math.min(1_000, 10 * 2 ** attempt) * (0.5 + random() / 2);
}
