import type { SqlValue } from './database.ts';

/** The conditions of a question whose parts may be left open, and the values for their places. */
export class Where {
  readonly params: SqlValue[] = [];
  readonly #conditions: string[] = [];

  /** `?` in the condition stands for the value. Without a value nothing is asked. */
  add(condition: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.#conditions.push(condition.replaceAll('?', this.place(value)));
  }

  /** A place for another value of the statement. */
  place(value: SqlValue): string {
    return `$${this.params.push(value)}`;
  }

  /** ` WHERE …`, or nothing. */
  get text(): string {
    return this.#conditions.length === 0 ? '' : ` WHERE ${this.#conditions.join(' AND ')}`;
  }
}
