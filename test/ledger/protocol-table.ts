import { formatYuan, parseYuan } from '../../src/base/money.ts';
import { check } from '../../src/ledger/check.ts';
import { balance, createAccount, credit, refund } from '../../src/ledger/ledger.ts';
import { tillSettings } from '../../src/ledger/settings.ts';
import { Sweeper } from '../../src/ledger/sweeper.ts';
import { changeLimitTx, freezeTx } from '../../src/ledger/transactions/account.ts';
import {
  type BatchInput,
  type BatchReply,
  emptyMove,
  type Move,
  type FloatRow,
} from '../../src/ledger/transactions/batch.ts';
import type { LateReply } from '../../src/ledger/transactions/charge.ts';
import { endHold, openHold } from '../../src/ledger/transactions/hold.ts';
import { type Database, DatabaseError } from '../../src/storage/database.ts';
import { records } from './records.ts';

/**
 * What a process knows of itself. Nothing is asserted here, so that a table can do what a till
 * never would.
 */
interface Client {
  seq: bigint;
  readonly floats: Map<string, FloatRow>;
  queued: BatchInput | undefined;
}

type Words = readonly string[];

/**
 * Runs the protocol's statements from a table of text: on each line a command, two or more spaces,
 * and what it must answer. Amounts are yuan.
 */
export class ProtocolTable {
  readonly #database: Database;
  readonly #clients = new Map<string, Client>();
  #procedure: string;

  constructor(database: Database) {
    this.#database = database;
    this.#procedure = database.dialect === 'sqlite' ? 'till.batch' : 'till.batch-at-once';
  }

  /** The table with what was really answered, to be compared with it. */
  async run(table: string): Promise<string> {
    const lines: string[] = [];
    for (const line of table.trim().split('\n')) {
      const [command = ''] = line.trim().split(/ {2,}/);
      const answer = await this.#perform(command.split(' '));
      lines.push(`${command.padEnd(32)}  ${answer}`);
    }
    return lines.join('\n');
  }

  static tidy(table: string): string {
    const cells = table
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/));
    return cells
      .map(([command = '', answer = '']) => `${command.padEnd(32)}  ${answer}`)
      .join('\n');
  }

  async #perform([verb = '', ...words]: Words): Promise<string> {
    switch (verb) {
      case 'credit':
        return this.#credit(words);
      case 'draw':
        return this.#draw(words);
      case 'return':
        return this.#return(words);
      case 'charge':
        return this.#charge(words);
      case 'queue':
        return this.#queue(words);
      case 'flush':
        return this.#flush(words);
      case 'silence':
        return this.#silence(words);
      case 'late':
        return this.#late(words);
      case 'hold':
        return this.#hold(words);
      case 'end':
        return this.#end(words);
      case 'refund':
        return refund(this.#database, {
          id: word(words, 0),
          original: word(words, 1),
          amount: nano(word(words, 2)),
          at: 1,
        });
      default:
        return this.#look(verb, words);
    }
  }

  async #look(verb: string, words: Words): Promise<string> {
    const account = word(words, 0, 'A');
    switch (verb) {
      case 'freeze':
      case 'unfreeze':
        return String(
          await this.#database.transact(() => freezeTx({ account, frozen: verb === 'freeze' })),
        );
      case 'limit':
        await this.#database.transact(() =>
          changeLimitTx({ id: account, amount: nano(word(words, 1)) }),
        );
        return 'changed';
      case 'account':
        return this.#account(account);
      case 'balance':
        return formatYuan((await balance(this.#database, account))?.balance ?? -1n);
      case 'check': {
        const { ok, problems } = await check(this.#database);
        return ok ? 'ok' : JSON.stringify(problems);
      }
      default:
        throw new Error(`what is '${verb}'?`);
    }
  }

  async #client(name: string): Promise<Client> {
    let client = this.#clients.get(name);
    if (client === undefined) {
      await this.#database.call('till.start', { id: name, at: 1 });
      client = { seq: 0n, floats: new Map(), queued: undefined };
      this.#clients.set(name, client);
    }
    return client;
  }

  #batch(process: string, client: Client, more: Partial<BatchInput>): BatchInput {
    return {
      process,
      seq: client.seq,
      charges: { count: 0, values: [] },
      losses: [],
      spends: [],
      moves: [],
      records,
      ...more,
    };
  }

  async #send(client: Client, input: BatchInput): Promise<BatchReply['outcome'] | 'id_clash'> {
    try {
      const reply = await this.#database.call<BatchInput, BatchReply>(this.#procedure, input);
      if (reply.outcome === 'fenced' || reply.outcome === 'behind') return reply.outcome;
      client.seq = input.seq + 1n;
      for (const row of reply.floats) client.floats.set(row.account, row);
      return reply.outcome;
    } catch (error) {
      if (error instanceof DatabaseError && error.kind === 'constraint') return 'id_clash';
      throw error;
    }
  }

  async #credit([account = '', amount = '', id = '']: Words): Promise<string> {
    await createAccount(this.#database, account);
    return credit(this.#database, {
      id,
      account,
      amount: nano(amount),
      from: 'wallet:test',
      code: 'topup',
      at: 1,
    });
  }

  /** draw P1 A 0.60 min 0.10 [limit 0.50] */
  async #draw([
    process = '',
    account = '',
    want = '',
    ,
    least = '',
    ,
    limit,
  ]: Words): Promise<string> {
    const client = await this.#client(process);
    const before = unspent(client, account);
    const move: Move = {
      ...emptyMove(account),
      want: nano(want),
      least: nano(least),
      limit: limit === undefined ? undefined : nano(limit),
    };
    const outcome = await this.#send(client, this.#batch(process, client, { moves: [move] }));
    if (outcome !== 'ok') return outcome;
    const drawn = unspent(client, account) - before;
    return drawn > 0n
      ? `granted ${formatYuan(drawn)}`
      : `0, call_in ${client.floats.get(account)?.facts?.callIn}`;
  }

  async #return([process = '', account = '']: Words): Promise<string> {
    const client = await this.#client(process);
    const outcome = await this.#send(
      client,
      this.#batch(process, client, {
        moves: [{ ...emptyMove(account), back: unspent(client, account) }],
      }),
    );
    return outcome === 'ok' ? this.#account(account) : outcome;
  }

  #charging(
    process: string,
    client: Client,
    id: string,
    account: string,
    cost: bigint,
  ): BatchInput {
    const charges: BatchInput['charges'] = {
      count: 1,
      values: [id, account, cost, 'chat', 1, cost, 0n, 'none', 1, null, null],
    };
    return this.#batch(process, client, {
      charges,
      spends: cost > 0n ? [{ account, amount: cost }] : [],
    });
  }

  async #charge([process = '', id = '', account = '', cost = '']: Words): Promise<string> {
    const client = await this.#client(process);
    const outcome = await this.#send(
      client,
      this.#charging(process, client, id, account, nano(cost)),
    );
    return outcome === 'ok' ? `ok, balance ${await this.#look('balance', [account])}` : outcome;
  }

  async #queue([process = '', id = '', account = '', cost = '']: Words): Promise<string> {
    const client = await this.#client(process);
    client.queued = this.#charging(process, client, id, account, nano(cost));
    return `free ${formatYuan(unspent(client, account) - nano(cost))}`;
  }

  /** Sends what was queued, once more each time. */
  async #flush([process = '']: Words): Promise<string> {
    const client = await this.#client(process);
    if (client.queued === undefined) throw new Error('nothing is queued');
    return this.#send(client, client.queued);
  }

  /**
   * silence 15s P2 looks 5: the others say nothing for so long, and P2 looks so often at equal
   * intervals.
   */
  async #silence([seconds = '', self = '', , looks = '']: Words): Promise<string> {
    let nowMs = 1_000;
    const sweeper = new Sweeper(
      this.#database,
      { now: () => 0, monotonicMs: () => nowMs },
      tillSettings,
    );
    await this.#client(self);
    for (let look = 0; look < Number(looks); look++) {
      await sweeper.look(self);
      nowMs += (Number.parseFloat(seconds) * 1_000) / (Number(looks) - 1);
    }
    return sweeper.fenced === 0 ? 'nobody' : `fenced ${sweeper.fenced}`;
  }

  async #late([id = '', account = '', cost = '']: Words): Promise<string> {
    const charge = {
      id,
      account,
      cost: nano(cost),
      code: 'chat',
      at: 1,
      record: ['none', 1, null, null],
    };
    const { outcome, amount } = await this.#database.call<object, LateReply>('till.late', {
      charge,
      limits: [],
      records,
    });
    return outcome === 'paid'
      ? `amount ${formatYuan(amount)}, short ${formatYuan(nano(cost) - amount)}`
      : outcome;
  }

  #hold([id = '', account = '', amount = '']: Words): Promise<string> {
    return this.#database.transact(() => openHold({ id, account, amount: nano(amount), at: 1 }));
  }

  /** end v1 ok 1.60 · end v1 ok 1.60 beyond 4.00 · end v1 failed */
  async #end([id = '', how = '', cost = '0', , beyond]: Words): Promise<string> {
    const loss = beyond === undefined ? undefined : nano(beyond);
    const record = { ...records, values: ['task', 1, null, loss ?? null] };
    const ended = await this.#database.transact(() =>
      endHold(
        id,
        how === 'ok'
          ? { state: 'posted', cost: nano(cost), loss, code: 'video', at: 1, record }
          : { state: 'voided' },
      ),
    );
    if (ended === undefined) return 'no change';
    return how === 'ok'
      ? `posted ${formatYuan(ended.posted)}, short ${formatYuan(ended.shortfall)}`
      : 'voided';
  }

  async #account(account: string): Promise<string> {
    const [row] = await this.#database.query('SELECT debits, held FROM account WHERE id=$1', [
      account,
    ]);
    return `debits ${formatYuan(BigInt(row?.['debits'] ?? 0))}, held ${formatYuan(BigInt(row?.['held'] ?? 0))}`;
  }
}

function unspent(client: Client, account: string): bigint {
  const float = client.floats.get(account);
  return float === undefined ? 0n : float.granted - float.spent;
}

function word(words: Words, place: number, otherwise?: string): string {
  const found = words[place] ?? otherwise;
  if (found === undefined) throw new Error('a word is missing');
  return found;
}

function nano(text: string): bigint {
  const amount = parseYuan(text);
  if (amount === undefined) throw new Error(`${text} is not an amount`);
  return amount;
}
