import { pause, type Timers } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { type Database, DatabaseError } from '../storage/database.ts';

/**
 * A procedure that can be repeated until its outcome is known, because its ids make it happen once.
 */
export interface RetriedCall {
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
export class BackgroundRetries {
  readonly #database: Database;
  readonly #random: Random;
  readonly #timers: Timers;
  readonly #errands: RetriedCall[] = [];
  #running: Promise<void> | undefined;

  constructor(database: Database, random: Random, timers: Timers) {
    this.#database = database;
    this.#random = random;
    this.#timers = timers;
  }

  get size(): number {
    return this.#errands.length;
  }

  add(errand: RetriedCall): void {
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

/** Nothing of this process is taken any more, once it is done. */
export function queueFence(errands: BackgroundRetries, id: string): void {
  errands.add({ procedure: 'till.fence', input: () => ({ id }), refused: () => {} });
}

/**
 * Resolves when the process is fenced and whatever it held has been given back, some floats at a
 * time.
 */
export async function queueFenceAndSweep(
  errands: BackgroundRetries,
  id: string,
  floatsMax: number,
): Promise<void> {
  queueFence(errands, id);
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

/**
 * Whether sending the same again would fail the same: the database refused these very rows, or a
 * script of ours stumbled over them. Everything else (a connection, a password, a table that is
 * away) is not known to have failed, or not because of them, and is sent again (R3).
 */
export function isFinal(error: unknown): boolean {
  return !(error instanceof DatabaseError) || error.kind === 'constraint';
}

/** Soon at first, then about once a second, and not all processes at the same instant. */
export function retryMs(attempt: number, random: Random): number {
  return Math.min(1_000, 10 * 2 ** attempt) * (0.5 + random() / 2);
}
