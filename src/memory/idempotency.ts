import { dayMs } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { expiredAtOnceMax } from './expiry.ts';

/**
 * A request that must happen once: `key` is the client's idempotency key, `digest` identifies the
 * content, `id` is the request's and its charge's.
 */
export interface IdempotentRequest {
  readonly account: string;
  readonly key: string;
  readonly digest: string;
  readonly id: string;
}

/** An answer as the client got it, with status 200. */
export interface StoredAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * The column of bodies holds text: JSON and events as they are, and all else in base64. Sound is no
 * text, and a plain text may have zero bytes, which PostgreSQL does not hold.
 */
const encodingOf = (contentType: string): 'utf8' | 'base64' =>
  /^(?:application\/json|text\/event-stream)/.test(contentType) ? 'utf8' : 'base64';

/**
 * `mine`: the caller answers; `orphan` is an earlier request with this key that began and then went
 * silent. `running`: another request is at work. `other`: the key was used for another request.
 */
export type IdempotencyClaim =
  | { readonly kind: 'mine'; readonly orphan?: string }
  | { readonly kind: 'running' }
  | { readonly kind: 'other' }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer };

/** Pays back what a request was charged, if it was. */
export type PayBack = (request: { readonly id: string; readonly at: number }) => Transaction<void>;

/**
 * The running idempotent requests, and the answers of finished ones, for a day and on every node.
 */
export interface IdempotencyStore {
  /** Whether this key has been used. */
  has(submission: IdempotentRequest): Promise<boolean>;
  /**
   * `payBack` is part of the claim's transaction, and gets the id of an orphan: the next claim finds
   * this request in its place.
   */
  claim(submission: IdempotentRequest, payBack: PayBack): Promise<IdempotencyClaim>;
  /** The holder of a claim renews it regularly. */
  renew(submission: IdempotentRequest): Promise<void>;
  /** False when another request has taken the key over. */
  keep(submission: IdempotentRequest, answer: StoredAnswer): Promise<boolean>;
  /**
   * Drops a claim without an answer: the next request with this key begins anew. False when another
   * request has taken the key over.
   */
  forget(submission: IdempotentRequest): Promise<boolean>;
  /** Frees all claims. Call it only when no other process is alive. */
  release(): Promise<void>;
  /** Deletes expired answers, at most `expiredAtOnceMax`; returns how many. */
  expire(): Promise<number>;
}

export const answerRetentionMs = dayMs;
/** A holder that has not renewed its claim for this long is gone. */
export const answerLeaseMs = 30_000;

export function openIdempotencyStore(database: Database, clock: Clock): IdempotencyStore {
  return {
    async has({ account, key }) {
      const sql = 'SELECT 1 AS one FROM answer WHERE account=$1 AND key=$2';
      return (await database.query(sql, [account, key])).length > 0;
    },
    claim: (submission, payBack) =>
      database.transact(function* () {
        const now = clock.now();
        const claimed = yield* claim(submission, now);
        if (claimed.kind === 'mine' && claimed.orphan !== undefined)
          yield* payBack({ id: claimed.orphan, at: now });
        return claimed;
      }),
    async renew({ account, key, id }) {
      await database.query(
        'UPDATE answer SET lease_until=$4 WHERE account=$1 AND key=$2 AND holder=$3 AND lease_until IS NOT NULL',
        [account, key, id, clock.now() + answerLeaseMs],
      );
    },
    async keep({ account, key, id }, { contentType, body }) {
      const text = body.toString(encodingOf(contentType));
      const sql = `UPDATE answer SET lease_until=NULL, content_type=$4, body=$5
        WHERE account=$1 AND key=$2 AND holder=$3 AND lease_until IS NOT NULL RETURNING holder`;
      return (await database.query(sql, [account, key, id, contentType, text])).length > 0;
    },
    async forget({ account, key, id }) {
      const sql = `DELETE FROM answer
        WHERE account=$1 AND key=$2 AND holder=$3 AND lease_until IS NOT NULL RETURNING holder`;
      return (await database.query(sql, [account, key, id])).length > 0;
    },
    async release() {
      await database.query('UPDATE answer SET lease_until=0 WHERE lease_until IS NOT NULL');
    },
    async expire() {
      const sql = `DELETE FROM answer WHERE (account, key) IN
        (SELECT account, key FROM answer WHERE expires_at<=$1 ORDER BY expires_at LIMIT ${expiredAtOnceMax}) RETURNING key`;
      return (await database.query(sql, [clock.now()])).length;
    },
  };
}

function* claim(submission: IdempotentRequest, now: number): Transaction<IdempotencyClaim> {
  const { account, key, digest, id } = submission;
  const inserted = yield {
    sql: `INSERT INTO answer (account, key, digest, holder, lease_until, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (account, key) DO NOTHING RETURNING key`,
    params: [account, key, digest, id, now + answerLeaseMs, now + answerRetentionMs],
  };
  if (inserted.length > 0) return { kind: 'mine' };
  const [row] = yield {
    sql: 'SELECT digest, holder, lease_until, content_type, body, expires_at FROM answer WHERE account=$1 AND key=$2',
    params: [account, key],
  };
  if (row === undefined) return { kind: 'running' };
  const expired = timeOf(row, 'expires_at') <= now;
  if (!expired && row['digest'] !== digest) return { kind: 'other' };
  const holder = String(row['holder']);
  if (!expired && row['lease_until'] === null) {
    const contentType = String(row['content_type']);
    const body = Buffer.from(String(row['body']), encodingOf(contentType));
    return { kind: 'answered', answer: { contentType, body } };
  }
  if (!expired && timeOf(row, 'lease_until') > now) return { kind: 'running' };
  const taken = yield {
    sql: `UPDATE answer SET digest=$3, holder=$4, lease_until=$5, expires_at=$6, content_type=NULL, body=NULL
      WHERE account=$1 AND key=$2 AND holder=$7 AND expires_at=$8 AND (lease_until=$9 OR (lease_until IS NULL AND $9=0)) RETURNING key`,
    params: [
      account,
      key,
      digest,
      id,
      now + answerLeaseMs,
      now + answerRetentionMs,
      holder,
      timeOf(row, 'expires_at'),
      timeOf(row, 'lease_until'),
    ],
  };
  if (taken.length === 0) return { kind: 'running' };
  return expired ? { kind: 'mine' } : { kind: 'mine', orphan: holder };
}

function timeOf(row: Row, column: string): number {
  return Number(row[column] ?? 0);
}
