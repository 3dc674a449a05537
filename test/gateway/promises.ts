import { check } from '../../src/ledger/check.ts';
import { vendorOutputTokensMin } from '../../src/gateway/pricing/bound.ts';
import { proofs } from '../../src/app/schema.ts';
import type { HedgedRequest } from '../../src/gateway/parts.ts';
import type { Database, Row } from '../../src/storage/database.ts';
import type { SimulatedProcess } from '../ledger/simulated-process.ts';
import type { VirtualTime } from '../ledger/virtual-time.ts';
import type { SimulatedClient } from './simulated-client.ts';
import type { SimulatedRequest } from './simulated-node.ts';
import type { SimulatedVendors } from './simulated-vendor.ts';

export interface Sent extends SimulatedRequest {
  readonly client: SimulatedClient;
  readonly process: SimulatedProcess;
  /** When its client went away, and its node heard of it. */
  leftAt: number | undefined;
}

/** What nobody may hear or read who is not the client: our key, the prompt, the answer. */
const secrets = /up-secret|secret words|w\d+\.\d/;
/** A thousandth of a yuan for a token. */
const nanoPerToken = 1_000_000n;
const chargesOfAll =
  'SELECT t.id, t.amount, u.cost, u.shortfall, u.estimated, u.status, u.channel, u.excess FROM transfer t JOIN usage u ON u.id=t.id';
/** No money of theirs ends. */
const rich = new Set(['user-0', 'user-1']);

/**
 * What the gateway promises, held against what clients and vendors saw and what the database holds.
 */
export class Promises {
  readonly requests: Sent[] = [];
  /** What happened, line by line: the same for the same seed. */
  readonly trace: string[] = [];
  violation: Error | undefined;
  /** Who answered where two were asked. */
  readonly hedges = { first: 0, second: 0, neither: 0 };
  /**
   * Charges that were committed after their clients had been refused, by nodes that then died
   * before they knew.
   */
  unreturned = 0;
  /** Answers whose vendors reported far more than they wrote. */
  lies = 0;
  readonly #database: Database;
  readonly #vendors: SimulatedVendors;
  readonly #time: VirtualTime;
  readonly #hedged = new Set<string>();
  readonly #byId = new Map<string, Sent>();

  constructor(database: Database, vendors: SimulatedVendors, time: VirtualTime) {
    this.#database = database;
    this.#vendors = vendors;
    this.#time = time;
  }

  add(request: Sent): Sent {
    this.requests.push(request);
    this.#byId.set(request.id, request);
    return request;
  }

  violate(what: string, error?: unknown): void {
    this.violation ??= new Error(
      error === undefined
        ? what
        : `${what}: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }

  raise(): void {
    if (this.violation !== undefined) throw this.violation;
  }

  /** A line of the log. */
  told(line: object): void {
    const text = JSON.stringify(line);
    if (secrets.test(text)) this.violate(`the log tells ${text}`);
  }

  /** Two channels were asked for one answer. */
  hedged(line: HedgedRequest): void {
    this.told(line);
    this.trace.push(`${this.#time.now.toFixed(3)} ${line.id} hedged, won: ${line.won}`);
    this.hedges[line.won] += 1;
    this.#hedged.add(line.id);
  }

  /** The last byte is at the client: its charge and its record are committed already. */
  async verifyGiven(id: string): Promise<void> {
    const request = this.#byId.get(id);
    if (request === undefined) return;
    const { client, process } = request;
    this.trace.push(`${this.#time.now.toFixed(3)} ${id} ${client.status} ${client.body.length}`);
    if (client.isWhole) {
      const rows = await this.#database.query(`${chargesOfAll} WHERE t.id IN ($1, $2)`, [
        id,
        `${id}/late`,
      ]);
      if (rows.length !== 1)
        this.violate(
          `${id} has its last byte and ${rows.length} charges (node alive: ${process.isAlive})`,
        );
    }
    this.#verifyBlame(request);
    this.#time.after(1_000, () => this.verifyStopped(request));
  }

  /** A vendor's trouble, or ours with it, is no fault of the client's. */
  #verifyBlame({ id, account, client: { status, body } }: Sent): void {
    if (status < 400) return;
    const calls = this.#vendors.asked.filter(({ request }) => request === id);
    const { error } = JSON.parse(body);
    const code: unknown = error.code;
    if (Object.keys(error).toSorted().join() !== 'code,message,param,type')
      this.violate(`${id} was refused in a shape of its own: ${body}`);
    if (status === 400 && calls.some((call) => call.status === 400)) return;
    if (status === 429 && code === 'insufficient_quota' && !rich.has(account)) return;
    if (status !== 503)
      this.violate(
        `${id} was told ${status} ${String(code)}, vendors told ${calls.map((call) => call.status).join()}`,
      );
  }

  /**
   * A second after its client has left or has everything, no vendor works for it: neither the one
   * that answered nor the one that was slower.
   */
  verifyStopped({ id, process, leftAt }: Sent): void {
    if (!process.isAlive || process.isStopped) return;
    const running = this.#vendors.asked.find((call) => call.request === id && !call.upstream.over);
    if (running === undefined) return;
    const answered = this.#hedged.has(id)
      ? 'another call has answered'
      : 'its client has everything';
    this.violate(
      `${id}: ${leftAt === undefined ? answered : `its client left at ${leftAt}`}, and call ${running.call} goes on`,
    );
  }

  async verifyEnd(): Promise<void> {
    const report = await check(this.#database, proofs);
    if (!report.ok) this.violate(`check: ${JSON.stringify(report.problems[0])}`);
    const charges = byRequest(await this.#database.query(chargesOfAll));
    const refunds = byRequest(
      await this.#database.query("SELECT ref AS id, amount FROM transfer WHERE code='refund'"),
    );
    for (const request of this.requests)
      this.#verifyRequest(request, charges.get(request.id) ?? [], refunds.get(request.id) ?? []);
    await this.#verifyStrangers();
    await this.#verifyRest();
    this.raise();
  }

  #verifyRequest(request: Sent, rows: readonly Row[], refunds: readonly Row[]): void {
    const { id, client, process, leftAt } = request;
    const [charge] = rows;
    const refunded = refunds.reduce((sum, { amount }) => sum + BigInt(amount ?? 0), 0n);
    this.trace.push(
      `${id} ${client.status} ${client.isWhole} ${String(charge?.['amount'])} ${refunded}`,
    );
    if (secrets.exec(client.body)?.[0] === 'up-secret') this.violate(`${id} was told our key`);
    if (rows.length > 1) this.violate(`${id} was charged twice`);
    this.#verifyWords(request);
    if (client.isWhole) this.#verifyParity(request, charge);
    else if (client.status >= 400 && charge !== undefined && charge['amount'] !== refunded) {
      // A process that told its client that a charge could not be recorded pays the charge back
      // when it learns that it was recorded. A dead process cannot.
      if (process.isAlive)
        this.violate(
          `${id} was refused with ${client.status} and pays ${String(charge['amount'])}, less ${refunded}`,
        );
      else this.unreturned += 1;
    }
    const given = this.#vendors.asked.some((call) => call.request === id && call.given);
    const left = leftAt !== undefined && charge?.['status'] === 'left';
    if (charge !== undefined && !given && !left) this.violate(`${id} was charged for nothing`);
    // Of those that left before the first byte the vendor of one channel alone bills the input.
    if (left && !given && charge['amount'] !== 0n && charge['channel'] !== 'second')
      this.violate(`${id} left before the first byte, and pays`);
    const forgotten = client.status === 0 && leftAt === undefined && process.isAlive;
    if (forgotten) this.violate(`${id} was never answered`);
    if (id.startsWith('req_9') && !client.isWhole)
      this.violate(`${id}: in calm weather a node says ${client.status} ${client.body}`);
  }

  /**
   * The client's words are those of one call, in their order, and all of them where nothing is
   * missing.
   */
  #verifyWords({ id, client }: Sent): void {
    const words = client.text.split(' ').slice(0, -1);
    const [first] = words;
    if (first === undefined) return;
    const call = this.#vendors.asked[Number(/^w(\d+)\./.exec(first)?.[1])];
    if (call === undefined || call.request !== id)
      return this.violate(`${id} was given words of nobody: ${first}`);
    const said = call.script.words.map((word) => word.trim());
    if (words.some((word, i) => word !== said[i]))
      this.violate(`${id} was given other words than call ${call.call} said`);
    const cutShort = client.body.includes('"finish_reason":"length"');
    if (client.isWhole && words.length !== said.length && !cutShort)
      this.violate(`${id} lacks words of call ${call.call}`);
  }

  /**
   * What the vendor counted is what is charged, up to what the client allowed, and the house bears
   * the rest; where there was less money, the rest is a shortfall that nobody owes.
   */
  #verifyParity({ id, client, outputTokensMax }: Sent, charge: Row | undefined): void {
    if (charge === undefined) return this.violate(`${id} was given whole, and is free`);
    const { cost, amount, shortfall, estimated, status, channel, excess } = charge;
    if (BigInt(amount ?? 0) + BigInt(shortfall ?? 0) !== cost)
      this.violate(`${id}: ${String(amount)} and ${String(shortfall)} are not ${String(cost)}`);
    const call = this.#vendors.asked[Number(/w(\d+)\./.exec(client.text)?.[1])];
    if (call !== undefined && channel !== call.channel)
      this.violate(`${id} has the words of ${call.channel}, and pays ${String(channel)}`);
    if (call === undefined || estimated !== 0n || status !== 'ok') return;
    const { inputTokens, outputTokens, lies } = call.script;
    const allowed = lies ? Math.max(outputTokensMax, vendorOutputTokensMin) : outputTokens;
    const right = BigInt(inputTokens + allowed) * nanoPerToken;
    if (cost !== right)
      this.violate(`${id} costs ${String(cost)}, and call ${call.call} counted ${right}`);
    const lost = lies ? BigInt(outputTokens - allowed) * nanoPerToken : null;
    if (excess !== lost)
      this.violate(`${id}: the house bears ${String(excess)}, not ${String(lost)}`);
    if (lies) this.lies += 1;
  }

  /** Everything that was charged was asked for. */
  async #verifyStrangers(): Promise<void> {
    for (const { id, debit } of await this.#database.query(
      "SELECT id, debit FROM transfer WHERE credit='revenue'",
    )) {
      const request = this.#byId.get(String(id).replace('/late', ''));
      if (request?.account !== debit)
        this.violate(`${String(debit)} pays for ${String(id)}, which it has not asked for`);
    }
  }

  /** Nobody is at work, and nothing is held. */
  async #verifyRest(): Promise<void> {
    const [held] = await this.#database.query(
      'SELECT (SELECT COUNT(*) FROM process) + (SELECT COUNT(*) FROM till_float) + (SELECT COALESCE(SUM(held), 0) FROM account) AS sum',
    );
    if (held?.['sum'] !== 0n)
      this.violate(`at the end there are floats, processes or holds: ${String(held?.['sum'])}`);
    for (const row of await this.#database.query('SELECT * FROM usage')) {
      const text = Object.values(row).join(' ');
      if (secrets.test(text)) this.violate(`a record tells ${text}`);
    }
    const running = this.#vendors.asked.find(
      ({ upstream, process }) => process.isAlive && !upstream.over,
    );
    if (running !== undefined)
      this.violate(`call ${running.call} for ${running.request} never ended`);
  }
}

function byRequest(rows: readonly Row[]): Map<string, Row[]> {
  const all = new Map<string, Row[]>();
  for (const row of rows) {
    const id = String(row['id']).replace('/late', '');
    const known = all.get(id);
    if (known === undefined) all.set(id, [row]);
    else known.push(row);
  }
  return all;
}
