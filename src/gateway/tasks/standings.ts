import type { Database } from '../../storage/database.ts';
import { type Standing, writeStandings } from './rows.ts';

const atOnceMax = 512;

/**
 * What polls came to, on its way to the database: what gathers while a write runs is the next one.
 * A lost one costs a poll, once its lease has run out.
 */
export class Standings {
  readonly #database: Database;
  readonly #failed: (error: unknown) => void;
  #waiting: Standing[] = [];
  #writing: Promise<void> | undefined;

  constructor(database: Database, failed: (error: unknown) => void) {
    this.#database = database;
    this.#failed = failed;
  }

  add(standing: Standing): void {
    this.#waiting.push(standing);
    this.#writing ??= this.#write();
  }

  async idle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, atOnceMax);
      await writeStandings(this.#database, some).catch(this.#failed);
    }
    this.#writing = undefined;
  }
}
