import type { Random } from '../base/random.ts';
import { pause, type Timers } from '../base/timers.ts';
import type { Database } from '../storage/database.ts';
import { isFinal, retryMs } from './known.ts';

/**
 * A procedure that can be repeated until its outcome is known, because its ids make it happen once.
 */
export interface Errand {
  readonly procedure: string;
  /** Asked anew for each try. */
  readonly input: () => unknown;
  readonly done?: (reply: unknown) => void;
  /** The database will never do it. */
  readonly refused: (error: unknown) => void;
}

/**
 * What has to be done in the database besides batches, one after the other, each until it is known
 * to be done.
 */
export class Errands {
  readonly #database: Database;
  readonly #random: Random;
  readonly #timers: Timers;
  readonly #errands: Errand[] = [];
  #running: Promise<void> | undefined;

  constructor(database: Database, random: Random, timers: Timers) {
    this.#database = database;
    this.#random = random;
    this.#timers = timers;
  }

  get size(): number {
    return this.#errands.length;
  }

  add(errand: Errand): void {
    this.#errands.push(errand);
    this.#running ??= this.#run();
  }

  /** Resolves when there is nothing left to do. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    for (let errand = this.#errands[0]; errand !== undefined; errand = this.#errands[0]) {
      await this.#perform(errand);
      this.#errands.shift();
    }
    this.#running = undefined;
  }

  async #perform({ procedure, input, done, refused }: Errand): Promise<void> {
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

/** Nothing of this process is taken any more, once it is done. */
export function fence(errands: Errands, id: string): void {
  errands.add({ procedure: 'till.fence', input: () => ({ id }), refused: () => {} });
}

/**
 * Resolves when the process is fenced and whatever it held has been given back, some floats at a
 * time.
 */
export async function fenceAndSweep(
  errands: Errands,
  id: string,
  floatsMax: number,
): Promise<void> {
  fence(errands, id);
  const sweepSome = (): Promise<boolean> =>
    new Promise((resolve) => {
      errands.add({
        procedure: 'till.sweep',
        input: () => ({ id, floatsMax }),
        done: (isSwept) => resolve(isSwept === true),
        refused: () => resolve(true),
      });
    });
  while (!(await sweepSome())) continue;
}
