import type { Random } from '../../src/base/random.ts';
import { type Database, DatabaseError } from '../../src/storage/database.ts';
import type { VirtualTime } from './virtual-time.ts';

/** How often the way to the database fails, of a thousand calls each. */
export interface Faults {
  readonly lostBefore: number;
  readonly lostAfter: number;
  /** The caller gives up; the database does it anyway, up to a minute later. */
  readonly late: number;
  /** Slow, but answered. */
  readonly slow: number;
}

export const noFaults: Faults = { lostBefore: 0, lostAfter: 0, late: 0, slow: 0 };

/**
 * What becomes of one call. `late`: after so many milliseconds the database does it all the same.
 */
export type Fate =
  | 'answered'
  | 'lost before'
  | 'lost after'
  | 'slow'
  | { readonly late: number }
  | { readonly delayed: number };

/**
 * What becomes of a call whose outcome the caller does not learn; the sabotage of R3 answers here.
 */
export type OnUnknown = (procedure: string) => unknown;

/**
 * The way from the simulated processes to the one real database, on which calls run one at a time.
 */
export class SimulatedNetwork {
  calls = 0;
  unknown = 0;
  late = 0;
  /** Calls that their callers have given up, and that the database will do all the same. */
  stray = 0;
  outageUntil = 0;
  /** Says what becomes of a call; undefined leaves it to chance. */
  script: (procedure: string, input: unknown) => Fate | undefined = () => undefined;
  faults: Faults;
  readonly #database: Database;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #onUnknown: OnUnknown;

  constructor(
    database: Database,
    time: VirtualTime,
    random: Random,
    faults: Faults = noFaults,
    onUnknown: OnUnknown = () => undefined,
  ) {
    this.#database = database;
    this.#time = time;
    this.#random = random;
    this.faults = faults;
    this.#onUnknown = onUnknown;
  }

  /**
   * The database as one process sees it. What arrives for it goes through `deliver`, which may drop
   * it, keep it, or call `lost` instead.
   */
  for(deliver: (arrival: () => void, lost: () => void) => void): Database {
    const { dialect } = this.#database;
    const only = (): never => {
      throw new Error('the till calls procedures, nothing else');
    };
    return {
      dialect,
      query: only,
      transact: only,
      snapshot: only,
      close: only,
      call: <Input, Output>(procedure: string, input: Input) =>
        new Promise<Output>((resolve, reject) => {
          const pass = (answer: Answer): void =>
            answer.ok ? resolve(answer.value as Output) : reject(answer.error);
          this.#call(procedure, input, (answer) =>
            deliver(
              () => pass(answer),
              () => pass(this.#unknownAnswer(procedure)),
            ),
          );
        }),
    };
  }

  #call(procedure: string, input: unknown, answer: (answer: Answer) => void): void {
    this.calls++;
    const there = 0.1 + this.#random() * 3;
    const back = 0.1 + this.#random() * 3;
    const unknown = (ms: number): void => {
      this.unknown++;
      this.#time.after(ms, () => answer(this.#unknownAnswer(procedure)));
    };
    if (this.#time.now < this.outageUntil) {
      const kind = this.#random() < 0.5 ? 'busy' : 'unknown';
      this.#time.after(there, () =>
        answer({ ok: false, error: new DatabaseError(kind, 'the database is away') }),
      );
      return;
    }
    const fate = this.script(procedure, input) ?? this.#roll(procedure);
    if (fate === 'lost before') unknown(there + back);
    else if (fate === 'lost after') {
      this.#stray(there, procedure, input);
      unknown(there + back + this.#random() * 500);
    } else if (typeof fate === 'object' && 'late' in fate) {
      this.late++;
      this.#stray(there + fate.late, procedure, input);
      unknown(there + this.#random() * 2_000);
    } else {
      const delay =
        fate === 'slow' ? this.#random() * 4_000 : fate === 'answered' ? 0 : fate.delayed;
      this.#time.after(there + delay, async () => {
        const outcome = await this.#execute(procedure, input);
        this.#time.after(back, () => answer(outcome));
      });
    }
  }

  #roll(procedure: string): Fate {
    const { lostBefore, lostAfter, late, slow } = this.faults;
    const dice = this.#random() * 1000;
    // A sweep is many calls, and what matters is what happens between them.
    if (dice > 1000 - (procedure === 'till.sweep' ? 10 * slow : slow)) return 'slow';
    if (dice < lostBefore) return 'lost before';
    if (dice < lostBefore + lostAfter) return 'lost after';
    return dice < lostBefore + lostAfter + late ? { late: this.#random() * 60_000 } : 'answered';
  }

  #unknownAnswer(procedure: string): Answer {
    try {
      const value = this.#onUnknown(procedure);
      if (value !== undefined) return { ok: true, value };
    } catch (error) {
      return { ok: false, error };
    }
    return { ok: false, error: new DatabaseError('unknown', 'the connection was lost') };
  }

  #stray(ms: number, procedure: string, input: unknown): void {
    this.stray++;
    this.#time.after(ms, async () => {
      await this.#execute(procedure, input);
      this.stray--;
    });
  }

  async #execute(procedure: string, input: unknown): Promise<Answer> {
    try {
      return { ok: true, value: await this.#database.call(procedure, input) };
    } catch (error) {
      return { ok: false, error };
    }
  }
}

type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };
