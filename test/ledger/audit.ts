import type { Random } from '../../src/base/random.ts';
import { check } from '../../src/ledger/check.ts';
import type { Database, Row } from '../../src/storage/database.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface Finished {
  readonly id: string;
  readonly account: string;
  readonly cost: bigint;
  /** Whose memory it is in until the client is answered. */
  readonly process: SimulatedProcess | undefined;
}

export interface Delivered {
  readonly id: string;
  readonly amount: bigint;
  readonly shortfall: bigint;
}

class Violation extends Error {}

/** What clients saw, compared with what the database has. */
export class Audit {
  violation: Violation | undefined;
  paid = 0;
  readonly refusals = { insufficient: 0, unavailable: 0, crowded: 0, left: 0 };
  readonly #database: Database;
  readonly #finished = new Map<string, Finished>();
  readonly #delivered: Delivered[] = [];
  #verified = 0;
  readonly #refused = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #withheld: { readonly id: string; readonly process: SimulatedProcess }[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  violate(what: string, error?: unknown): void {
    this.violation ??= new Violation(
      error === undefined
        ? what
        : `${what}: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }

  turnedAway(why: keyof Audit['refusals']): void {
    this.refusals[why]++;
  }

  finished(request: Finished): void {
    this.#finished.set(request.id, request);
  }

  /** The last byte has left. */
  deliver(request: Delivered): void {
    this.#answered.add(request.id);
    this.paid++;
    this.#delivered.push(request);
    const cost = this.#finished.get(request.id)?.cost;
    if (request.amount + request.shortfall !== cost)
      this.violate(
        `${request.id}: ${request.amount} + ${request.shortfall} is not its cost ${cost}`,
      );
  }

  /** The client was told that it failed. */
  refused(id: string): void {
    this.#answered.add(id);
    this.#refused.add(id);
  }

  withheld(id: string, process: SimulatedProcess): void {
    this.#withheld.push({ id, process });
  }

  somePaid(random: Random): Delivered | undefined {
    return this.#delivered[Math.floor(random() * this.#delivered.length)];
  }

  /**
   * The instant after a crash: the ledger is whole, what was delivered is recorded, and no more is
   * lost than the process had set aside.
   */
  async verifyCrash(process: SimulatedProcess): Promise<void> {
    await this.#prove();
    await this.#verifyDelivered();
    await this.#verifyCharges();
    await this.#verifyLoss(process);
  }

  async verifyEnd(): Promise<void> {
    await this.#prove();
    await this.#verifyDelivered();
    await this.#verifyCharges();
    await this.#verifyWithheld();
    const [left] = await this.#database.query(
      `SELECT (SELECT COUNT(*) FROM process) AS processes, (SELECT COUNT(*) FROM till_float) AS floats,
        (SELECT COALESCE(SUM(held), 0) FROM account) - (SELECT COALESCE(SUM(amount), 0) FROM hold WHERE state='open') AS held`,
    );
    for (const [what, count] of Object.entries(left ?? {}))
      if (count !== 0n) this.violate(`at the end there are ${what}: ${count}`);
    this.#raise();
  }

  /** A till was closed while requests ran on it. */
  async verifyUnfinished(): Promise<void> {
    await this.#prove();
  }

  #raise(): void {
    if (this.violation !== undefined) throw this.violation;
  }

  async #prove(): Promise<void> {
    const report = await check(this.#database);
    if (!report.ok) this.violate(`check: ${JSON.stringify(report.problems[0])}`);
  }

  async #verifyDelivered(): Promise<void> {
    const fresh = this.#delivered.slice(this.#verified);
    this.#verified = this.#delivered.length;
    if (fresh.length === 0) return;
    const known = await this.#transfers(fresh.map(({ id }) => id));
    for (const { id, amount, shortfall } of fresh) {
      const row = known.get(id);
      if (row === undefined) this.violate(`${id} was delivered and has no charge`);
      else if (row['amount'] !== amount || row['shortfall'] !== shortfall)
        this.violate(`${id} was delivered for ${amount} and charged ${row['amount']}`);
    }
  }

  /** Nobody is charged twice, for nothing, or more than the cost. */
  async #verifyCharges(): Promise<void> {
    const seen = new Set<string>();
    for (const row of await this.#database.query(
      "SELECT id, debit, amount FROM transfer WHERE credit='revenue'",
    )) {
      const id = String(row['id']).replace('/late', '');
      const request = this.#finished.get(id);
      if (request === undefined) this.violate(`${id} was charged and never finished`);
      else if (this.#refused.has(id)) this.violate(`${id} was refused and charged`);
      else if (seen.has(id)) this.violate(`${id} was charged twice`);
      else if (row['debit'] !== request.account || BigInt(row['amount'] ?? 0) > request.cost)
        this.violate(`${id} was charged wrongly`);
      seen.add(id);
    }
  }

  async #verifyWithheld(): Promise<void> {
    const survived = this.#withheld.filter(({ process }) => process.isAlive).map(({ id }) => id);
    const known = await this.#transfers(survived);
    const refunds = await this.#database.query(
      "SELECT ref, SUM(amount) AS amount FROM transfer WHERE code='refund' GROUP BY ref",
    );
    const refunded = new Map(refunds.map((row) => [row['ref'], row['amount']]));
    for (const id of survived) {
      const amount = known.get(id)?.['amount'];
      if (amount === undefined) this.violate(`${id} was withheld and has no record`);
      else if (amount !== (refunded.get(id) ?? 0n))
        this.violate(`${id} was withheld, charged ${amount} and refunded ${refunded.get(id)}`);
    }
  }

  /** Σ over one crash ≤ granted − spent of its floats, as long as nobody has taken them over. */
  async #verifyLoss(process: SimulatedProcess): Promise<void> {
    const rows = await this.#database.query(
      'SELECT f.account, f.granted-f.spent AS unspent FROM till_float f JOIN process p ON p.id=f.process WHERE p.id=$1 AND p.fenced=0',
      [process.till.process ?? ''],
    );
    const unspent = new Map(rows.map((row) => [row['account'], BigInt(row['unspent'] ?? 0)]));
    const pending = [...this.#finished.values()].filter(
      ({ id, process: its }) => its === process && !this.#answered.has(id),
    );
    const committed = await this.#transfers(pending.map(({ id }) => id));
    for (const { account, queued, limit } of process.till.held) {
      const left = unspent.get(account);
      if (left === undefined || limit !== undefined) continue;
      let lost = queued;
      for (const { id, account: payer } of pending)
        if (payer === account) lost -= BigInt(committed.get(id)?.['amount'] ?? 0);
      if (lost > left) this.violate(`a crash lost ${lost} of ${account}, more than its float`);
    }
  }

  async #transfers(ids: readonly string[]): Promise<ReadonlyMap<string, Row>> {
    const found = new Map<string, Row>();
    for (let i = 0; i < ids.length; i += 200) {
      const some = ids.slice(i, i + 200).flatMap((id) => [id, `${id}/late`]);
      const places = some.map((_, place) => `$${place + 1}`).join(',');
      const rows = await this.#database.query(
        `SELECT t.id, t.amount, u.cost, u.shortfall FROM transfer t JOIN usage u ON u.id=t.id WHERE t.id IN (${places})`,
        some,
      );
      for (const row of rows) found.set(String(row['id']).replace('/late', ''), row);
    }
    return found;
  }
}
