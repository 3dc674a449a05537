import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import type { TillSettings } from './settings.ts';
import type { ProcessRow } from './transactions/process.ts';

interface SilentProcess {
  readonly seq: bigint;
  readonly sinceMs: number;
  looks: number;
}

/**
 * Watches the other processes and gives back the floats of dead ones. Silence is measured on this
 * process's own clock, never by time stamps (R4); a wrong verdict does no harm (R6).
 */
export class Sweeper {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #settings: TillSettings;
  readonly #silences = new Map<string, SilentProcess>();
  /** Processes that are not fenced, this one included. */
  live = 1;
  fenced = 0;

  constructor(database: Database, clock: Clock, settings: TillSettings) {
    this.#database = database;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** One look; throws when the database does not answer. `self` is never fenced here. */
  async look(self: string | undefined): Promise<void> {
    const rows = await this.#database.call<Record<never, never>, readonly ProcessRow[]>(
      'till.look',
      {},
    );
    this.live = Math.max(1, rows.filter(({ fenced }) => !fenced).length);
    const others = rows.filter(({ id }) => id !== self);
    const known = new Set(others.map(({ id }) => id));
    for (const id of this.#silences.keys()) if (!known.has(id)) this.#silences.delete(id);
    for (const row of others) {
      if (row.fenced || (this.#isSilent(row) && (await this.#fence(row))))
        await this.#sweep(row.id);
    }
  }

  #isSilent({ id, seq }: ProcessRow): boolean {
    const nowMs = this.#clock.monotonicMs();
    const silence = this.#silences.get(id);
    if (silence === undefined || silence.seq !== seq) {
      this.#silences.set(id, { seq, sinceMs: nowMs, looks: 1 });
      return false;
    }
    silence.looks++;
    return (
      silence.looks >= this.#settings.silentLooks &&
      nowMs - silence.sinceMs >= this.#settings.silenceMs
    );
  }

  async #fence({ id, seq }: ProcessRow): Promise<boolean> {
    const fenced = await this.#database.call<object, boolean>('till.fence', { id, seq });
    if (fenced) this.fenced++;
    else this.#silences.delete(id);
    return fenced;
  }

  async #sweep(id: string): Promise<void> {
    const input = { id, floatsMax: this.#settings.sweepFloatsMax };
    while (!(await this.#database.call<object, boolean>('till.sweep', input))) continue;
  }
}
