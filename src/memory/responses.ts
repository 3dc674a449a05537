import { dayMs, endOfTime, minuteMs } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import { type JsonObject, objectOf, objectsOf, textOf } from '../base/json.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { type OnError, repeat, type Repeated } from '../storage/repeat.ts';
import { placeholders } from '../storage/sql.ts';
import { expiredAtOnceMax } from './expiry.ts';
import type { PayBack } from './idempotency.ts';

const statuses = [
  'queued',
  'in_progress',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
] as const;
export type StoredResponseStatus = (typeof statuses)[number];
type Item = JsonObject;

/** A stored response: the input of this turn, and the response object as the client got it. */
export interface StoredResponse {
  readonly id: string;
  readonly status: StoredResponseStatus;
  readonly previous: string | undefined;
  readonly input: readonly Item[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Some of a response's events, as its client got them, whole. Parts follow each other. */
export interface StoredEvents {
  readonly part: number;
  readonly events: string;
}

export const responseRetentionMs = 30 * dayMs;
/**
 * How long a background response that is not to be stored can be read after its end
 * (developers.openai.com/api/docs/guides/background, 2026-11).
 */
export const unstoredRetentionMs = 10 * minuteMs;
/**
 * A background response whose node has not renewed it for this long has failed. Nodes renew every
 * two seconds, so their clocks may differ widely.
 */
export const responseLeaseMs = 30_000;
/**
 * A runner that was paused, or could not reach the database, may come back and store its answer for
 * this long after its lease.
 */
export const responseGivenUpMs = 300_000;
/** The most turns of one conversation. */
const turnsMax = 1_000;

const isRunning = (status: StoredResponseStatus): boolean =>
  status === 'queued' || status === 'in_progress';
/** `isRunning` as a condition in SQL. */
const isRunningSql = "status IN ('queued', 'in_progress')";

const endEveryMs = 60_000;

/** Gives up responses whose runners are gone, every minute, on every node. */
export const keepInterruptedEnded = (store: ResponseStore, onError: OnError): Repeated =>
  repeat(
    'end of interrupted responses',
    (stopped) => store.endInterrupted(stopped),
    { everyMs: endEveryMs },
    onError,
  );

/**
 * Stored responses of all accounts. Queries take the account; responses of other accounts are not
 * found.
 */
export class ResponseStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #payBack: PayBack;

  /** `payBack` gets the id of a response, and pays back what the request for it was charged. */
  constructor(database: Database, clock: Clock, payBack: PayBack) {
    this.#database = database;
    this.#clock = clock;
    this.#payBack = payBack;
  }

  /** Stores a response that has ended. */
  keep(account: string, response: StoredResponse): Promise<void> {
    return this.#database.transact(() => insert(account, response, this.#clock.now(), null));
  }

  /**
   * Stores a response that runs in the background; its runner renews it regularly. `isStreamed`: its
   * events are stored as well.
   */
  begin(account: string, response: StoredResponse, isStreamed = false): Promise<void> {
    const at = this.#clock.now();
    return this.#database.transact(function* () {
      yield* insert(account, response, at, at + responseLeaseMs);
      if (isStreamed) yield putEvents(response.id, { part: 0, events: '' });
    });
  }

  /** Whether it still runs: false when it was cancelled or deleted in the meantime. */
  async renew(id: string, status: StoredResponseStatus): Promise<boolean> {
    const at = this.#clock.now();
    const rows = await this.#database.query(
      `UPDATE response SET lease_until=$2, status=$3,
        expires_at=CASE WHEN expires_at<$4 THEN $4 ELSE expires_at END
        WHERE id=$1 AND ${isRunningSql} RETURNING id`,
      [id, at + responseLeaseMs, status, at + unstoredRetentionMs],
    );
    return rows.length > 0;
  }

  /**
   * Stores the end of a background response, once, however often it is called. Where it has no
   * answer, or was cancelled, deleted or given up in the meantime, its client pays nothing. One that
   * is streamed has `last` events; its client has read what was delivered, and pays for it.
   */
  finish(account: string, response: StoredResponse, last?: StoredEvents): Promise<void> {
    return this.#database.transact(() =>
      last === undefined
        ? finish(account, response, this.#clock.now(), this.#payBack)
        : finishStreamed(account, response, last, this.#clock.now()),
    );
  }

  /** Stores events of a running response. A part that is there is replaced. */
  async keepEvents(id: string, events: StoredEvents): Promise<void> {
    const { sql, params } = putEvents(id, events);
    await this.#database.query(sql, params);
  }

  /** The events of a response, of the part `from` on. Without any: it was not streamed. */
  async events(id: string, from: number): Promise<readonly StoredEvents[]> {
    const rows = await this.#database.query(
      'SELECT part, events FROM response_events WHERE response=$1 AND part>=$2 ORDER BY part',
      [id, from],
    );
    return rows.map((row) => ({ part: Number(row['part']), events: String(row['events']) }));
  }

  /**
   * For a runner that has ended without an answer: what it was charged stays charged. One that is
   * streamed has `last` events, unless it was deleted in the meantime.
   */
  leave(id: string, last?: StoredEvents): Promise<void> {
    return this.#database.transact(() => leave(id, last, this.#clock.now()));
  }

  async find(account: string, id: string): Promise<StoredResponse | undefined> {
    const [row] = await this.#database.query(
      'SELECT * FROM response WHERE id=$1 AND account=$2 AND expires_at>$3',
      [id, account, this.#clock.now()],
    );
    if (row === undefined) return undefined;
    const response = read(row);
    const lease = row['lease_until'];
    if (!isRunning(response.status) || typeof lease !== 'bigint' || lease >= this.#clock.now())
      return response;
    // Its node is gone. A client that has read this failure asks no more, so the failure is final.
    const failed = interrupted(response);
    const changed = await this.#database.query(
      `UPDATE response SET status='failed', body=$3
        WHERE id=$1 AND lease_until=$2 AND ${isRunningSql} RETURNING id`,
      [id, lease, JSON.stringify(failed.body)],
    );
    return changed.length > 0 ? failed : this.find(account, id);
  }

  /** Whether `find` would say that it is running; reads none of its texts. */
  async isRunning(account: string, id: string): Promise<boolean> {
    const rows = await this.#database.query(
      `SELECT id FROM response
        WHERE id=$1 AND account=$2 AND expires_at>$3 AND lease_until>=$3 AND ${isRunningSql}`,
      [id, account, this.#clock.now()],
    );
    return rows.length > 0;
  }

  /**
   * All items up to and including this response, oldest first; undefined when a part of it no
   * longer exists.
   */
  async conversation(account: string, id: string): Promise<readonly Item[] | undefined> {
    const rows = await this.#database.query(
      `WITH RECURSIVE turn (id, status, previous, input, body, depth) AS (
         SELECT id, status, previous, input, body, 0 FROM response WHERE id=$1 AND account=$2 AND expires_at>$3
         UNION ALL
         SELECT r.id, r.status, r.previous, r.input, r.body, turn.depth+1 FROM response r JOIN turn ON r.id=turn.previous
         WHERE r.account=$2 AND r.expires_at>$3 AND turn.depth<${turnsMax}
       ) SELECT id, status, previous, input, body FROM turn ORDER BY depth DESC`,
      [id, account, this.#clock.now()],
    );
    const turns = rows.map(read);
    const [first] = turns;
    if (
      first === undefined ||
      first.previous !== undefined ||
      turns.some(({ status }) => isRunning(status))
    )
      return undefined;
    return turns.flatMap(({ input, body }) => [...input, ...outputOf(body)]);
  }

  /** The items that have these ids. */
  async items(account: string, ids: readonly string[]): Promise<ReadonlyMap<string, Item>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#database.query(
      `SELECT * FROM response WHERE expires_at>$2 AND id IN (SELECT response FROM response_item WHERE account=$1 AND id IN (${placeholders(ids, 3)}))`,
      [account, this.#clock.now(), ...ids],
    );
    const found = new Map<string, Item>();
    for (const { input, body } of rows.map(read))
      for (const item of [...input, ...outputOf(body)])
        if (typeof item['id'] === 'string' && ids.includes(item['id'])) found.set(item['id'], item);
    return found;
  }

  /** Deletes a response; returns whether there was one. */
  async forget(account: string, id: string): Promise<boolean> {
    const params = [id, account, this.#clock.now()];
    // Its runner may be charged yet, and the row says so: it goes when that is settled.
    const emptied = await this.#database.query(
      `UPDATE response SET status='cancelled', input='[]', body='{}', expires_at=$3
        WHERE id=$1 AND account=$2 AND expires_at>$3 AND lease_until IS NOT NULL RETURNING id`,
      params,
    );
    if (emptied.length > 0) {
      await this.#database.query('DELETE FROM response_events WHERE response=$1', [id]);
      return true;
    }
    const rows = await this.#database.query(
      'DELETE FROM response WHERE id=$1 AND account=$2 AND expires_at>$3 RETURNING id',
      params,
    );
    return rows.length > 0;
  }

  /** Ends a response that is running; undefined when there is none of that id. */
  cancel(account: string, id: string): Promise<StoredResponse | undefined> {
    return this.#database.transact(() => cancel(account, id, this.#clock.now()));
  }

  /** Deletes expired responses; returns how many. */
  async expire(): Promise<number> {
    const rows = await this.#database.query(
      `DELETE FROM response WHERE id IN (SELECT id FROM response
        WHERE expires_at<=$1 AND lease_until IS NULL
        ORDER BY expires_at LIMIT ${expiredAtOnceMax}) RETURNING id`,
      [this.#clock.now()],
    );
    return rows.length;
  }

  /**
   * Gives up the responses whose runners are gone: they have failed, and their clients pay nothing.
   */
  async endInterrupted(stopped: () => boolean): Promise<void> {
    const endOne = (): Promise<boolean> => {
      const at = this.#clock.now();
      return this.#database.transact(() => endInterrupted(at, this.#payBack));
    };
    while (!stopped() && (await endOne())) continue;
  }
}

function* insert(
  account: string,
  response: StoredResponse,
  at: number,
  leaseUntil: number | null,
): Transaction<void> {
  const { id, status, previous = null, input, body } = response;
  yield {
    sql: `INSERT INTO response (id, account, status, previous, input, body, created_at, expires_at, lease_until)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    params: [
      id,
      account,
      status,
      previous,
      JSON.stringify(input),
      JSON.stringify(body),
      at,
      at + (body['store'] === false ? unstoredRetentionMs : responseRetentionMs),
      leaseUntil,
    ],
  };
  yield* index(account, response, at);
}

/**
 * Numbers of items that one statement indexes. Few sizes, because each is a statement of its own.
 */
const rowsAtOnce = [64, 8, 1];

/**
 * An item belongs to the response that made it. One that a client sends again with a later input
 * stays there while that response is kept, so that it is found when the later one is deleted.
 */
function* index(
  account: string,
  { id, input, body }: StoredResponse,
  at: number,
): Transaction<void> {
  const made = idsOf(outputOf(body));
  const sent = [...idsOf(input)].filter((item) => !made.has(item));
  yield* indexed([account, id, at], sent);
  yield* indexed([account, id, endOfTime], [...made]);
}

const idsOf = (items: readonly Item[]): ReadonlySet<string> =>
  new Set(items.map((item) => item['id']).filter((one) => typeof one === 'string'));

/** Items of another response are taken over from it if it expires until the given time. */
function* indexed(
  [account, response, takenOverUntil]: readonly [string, string, number],
  items: readonly string[],
): Transaction<void> {
  let from = 0;
  for (const rows of rowsAtOnce) {
    const places = Array.from({ length: rows }, (_, i) => `($1, $${i + 4}, $2)`).join(', ');
    for (; items.length - from >= rows; from += rows)
      yield {
        sql: `INSERT INTO response_item (account, id, response) VALUES ${places}
          ON CONFLICT (account, id) DO UPDATE SET response=excluded.response
          WHERE EXISTS (SELECT 1 FROM response r
            WHERE r.id=response_item.response AND r.expires_at<=$3)`,
        params: [account, response, takenOverUntil, ...items.slice(from, from + rows)],
      };
  }
}

/**
 * The end that is stored already is stored again: the caller may not have heard of it. Only an
 * answer that its client can read is paid for. Without one the lease stays, so that the charge is
 * looked for once more: a batch whose outcome was unknown may be committed after this.
 */
function* finish(
  account: string,
  response: StoredResponse,
  at: number,
  payBack: PayBack,
): Transaction<void> {
  const { id, status } = response;
  const lease = status === 'failed' ? 'lease_until' : 'NULL';
  const isStored = yield* putEnd(account, response, lease, at);
  if (!isStored || status === 'failed') yield* payBack({ id, at });
}

/** Nothing looks for the charge of a stream any more, however it ends. */
function* finishStreamed(
  account: string,
  response: StoredResponse,
  last: StoredEvents,
  at: number,
): Transaction<void> {
  const { id } = response;
  if (yield* putEnd(account, response, 'NULL', at)) yield putEvents(id, last);
  else yield { sql: 'UPDATE response SET lease_until=NULL WHERE id=$1', params: [id] };
}

function* leave(id: string, last: StoredEvents | undefined, at: number): Transaction<void> {
  const [row] = yield {
    sql: `UPDATE response SET lease_until=NULL,
      status=CASE WHEN ${isRunningSql} THEN 'cancelled' ELSE status END
      WHERE id=$1 RETURNING expires_at`,
    params: [id],
  };
  const isThere = row !== undefined && Number(row['expires_at']) > at;
  if (isThere && last !== undefined) yield putEvents(id, last);
}

/** Returns whether the end is stored: false where the response has another one already. */
function* putEnd(
  account: string,
  response: StoredResponse,
  leaseUntil: 'lease_until' | 'NULL',
  at: number,
): Transaction<boolean> {
  const { id, status, body } = response;
  const rows = yield {
    sql: `UPDATE response SET status=$2, body=$3, lease_until=${leaseUntil}
      WHERE id=$1 AND status IN ('queued', 'in_progress', $2) RETURNING id`,
    params: [id, status, JSON.stringify(body)],
  };
  if (rows.length > 0) yield* index(account, response, at);
  return rows.length > 0;
}

const putEvents = (id: string, { part, events }: StoredEvents) => ({
  sql: `INSERT INTO response_events (response, part, events) VALUES ($1, $2, $3)
    ON CONFLICT (response, part) DO UPDATE SET events=excluded.events`,
  params: [id, part, events],
});

/** One response in each transaction, because accounts are locked in the order of their ids. */
function* endInterrupted(at: number, payBack: PayBack): Transaction<boolean> {
  const [row] = yield {
    sql: 'SELECT * FROM response WHERE lease_until<=$1 ORDER BY lease_until LIMIT 1',
    params: [at - responseGivenUpMs],
  };
  if (row === undefined) return false;
  const stored = read(row);
  const { id, status, body } = isRunning(stored.status) ? interrupted(stored) : stored;
  const ended = yield {
    sql: `UPDATE response SET status=$2, body=$3, lease_until=NULL
      WHERE id=$1 AND lease_until=$4 RETURNING id`,
    params: [id, status, JSON.stringify(body), row['lease_until'] ?? null],
  };
  if (ended.length > 0) yield* payBack({ id, at });
  return true;
}

/** How a response ends whose runner is gone. */
function interrupted(response: StoredResponse): StoredResponse {
  const error = { code: 'server_error', message: 'The response was interrupted.' };
  return { ...response, status: 'failed', body: { ...response.body, status: 'failed', error } };
}

/** The lease stays: until its runner has heard of it, the response may still be charged. */
function* cancel(account: string, id: string, at: number): Transaction<StoredResponse | undefined> {
  const [row] = yield {
    sql: 'SELECT * FROM response WHERE id=$1 AND account=$2 AND expires_at>$3',
    params: [id, account, at],
  };
  if (row === undefined) return undefined;
  const response = read(row);
  if (!isRunning(response.status)) return response;
  const body = { ...response.body, status: 'cancelled' };
  const done = yield {
    sql: `UPDATE response SET status='cancelled', body=$2
      WHERE id=$1 AND ${isRunningSql} RETURNING id`,
    params: [id, JSON.stringify(body)],
  };
  return done.length > 0 ? { ...response, status: 'cancelled', body } : response;
}

function read(row: Row): StoredResponse {
  // A status that this release does not know has failed.
  const status = statuses.find((one) => one === row['status']) ?? 'failed';
  const body: unknown = JSON.parse(String(row['body']));
  return {
    id: String(row['id']),
    status,
    previous: textOf(row['previous']),
    input: objectsOf(JSON.parse(String(row['input']))),
    body: { ...objectOf(body), status },
  };
}

const outputOf = (body: Item): readonly Item[] => objectsOf(body['output']);
