import * as z from 'zod';
import { keyNamesOf } from '../../accounts/user-keys.ts';
import { findUser } from '../../accounts/users.ts';
import {
  codeOf,
  type LoggedAttempt,
  type LoggedRequest,
  refusalText,
} from '../../request-log/entry.ts';
import {
  loggedRequest,
  loggedSince,
  requestLogPage,
  type RequestLogQuery,
} from '../../request-log/queries.ts';
import { refundedOf } from '../../ledger/transfers.ts';
import type { Database, Row, Transaction } from '../../storage/database.ts';
import { optionalText, textColumn } from '../../storage/sql.ts';
import { answeredOutcomes } from '../../telemetry/request-metrics.ts';
import { chargedAfterMs } from '../../usage/all-records.ts';
import { usageRecord, usageRecordOfAny } from '../../usage/page.ts';
import { paidFor } from '../../usage/record.ts';
import type { ChargeReturn, FailedPage, FailedRequest, RequestTimeline } from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import { instant } from '../format.ts';
import { pageInput, relativeTimeInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';

export interface RequestsContext {
  readonly database: Database;
  readonly cursors: Cursors;
}

/** The filter that users and operators share. */
export const requestFilter = z.object({
  from: relativeTimeInput.optional(),
  to: relativeTimeInput.optional(),
  key: z.string().optional(),
  model: z.string().optional(),
  status: z
    .string()
    .regex(/^[1-5](xx|\d\d)$/, 'not_a_status')
    .optional(),
  code: z.string().optional(),
});
const listInput = requestFilter.extend(pageInput);

/** The requests of a user that failed, and the course of any single one. */
export function requestRoutes({ database, cursors }: RequestsContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'requests',
      role: 'user',
      input: listInput,
      async handle({ owner, input, at }): Promise<FailedPage<FailedRequest>> {
        const of = ['requests', owner.id, ...filterText(input)];
        const { items, next } = await requestPage(database, cursors, of, {
          ...questionOf(input, at),
          limit: input.limit,
          after: input.after,
          account: owner.id,
          failedOnly: true,
        });
        const names = await database.snapshot(() =>
          keyNamesOf(
            owner.id,
            items.map(({ keyId }) => keyId),
          ),
        );
        const views = items.map((request) => failedRequest(request, names));
        const kept = await keptFrom(database, owner.id, input, at);
        return { items: views, next, prev: null, kept_from: kept, as_of: instant(at) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'requests/:id',
      role: 'user',
      async handle({ owner, params }): Promise<RequestTimeline> {
        const found = await database.snapshot(function* () {
          const request = yield* anyRequest(params['id'] ?? '', owner.id);
          return (
            request && { ...request, names: yield* keyNamesOf(owner.id, [request.logged.keyId]) }
          );
        });
        if (found === undefined) throwProblem('not_found');
        const { logged, charged, refunded, names } = found;
        return {
          ...failedRequest(logged, names),
          charged,
          refunded,
          attempts_made: attemptsMade(logged),
          attempts: attemptsOf(logged).map(({ beganMs, endedMs, fault }) => ({
            began_ms: beganMs,
            ended_ms: endedMs,
            failed: fault !== undefined,
          })),
        };
      },
    }),
  ];
}

type Filter = z.output<typeof requestFilter>;

/** What the shared part of a filter asks of the log. */
export const questionOf = (
  { key, model, status, code, from, to }: Filter,
  now: number,
): Omit<RequestLogQuery, 'limit'> => ({
  key,
  model,
  status,
  code,
  from: from?.(now),
  to: to?.(now),
});

/** The filter as written: `-7d` moves on while a cursor stays valid. */
export function filterText(input: z.output<typeof listInput>): readonly unknown[] {
  const { limit: _, after: __, from, to, ...filter } = input;
  return [from?.(0) ?? null, to?.(0) ?? null, filter];
}

/** A request of the log, or one that is made from its usage record. */
export interface ShownRequest extends LoggedRequest {
  /** The number of its attempts, as its usage record has it. */
  readonly attemptsMade?: number | undefined;
}

/**
 * From when on failed requests are kept; null where the period begins later, or where the one
 * account that is listed is younger than that.
 */
export async function keptFrom(
  database: Database,
  account: string | undefined,
  { from }: Filter,
  now: number,
): Promise<string | null> {
  const since = await database.snapshot(() => loggedSince(account, now));
  if ((from?.(now) ?? 0) >= since) return null;
  const user = account === undefined ? undefined : await findUser(database, account);
  return user !== undefined && user.createdAt >= since ? null : instant(since);
}

/** A page of requests. */
export interface RequestsFound {
  readonly items: readonly ShownRequest[];
  /** The next page is before this id; undefined: there is none. */
  readonly next: string | undefined;
}

/** Reads a page of the log. */
export function* loggedRequests(question: RequestLogQuery): Transaction<RequestsFound> {
  const { limit } = question;
  const found = yield* requestLogPage({ ...question, limit: limit + 1 });
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
}

/** A page as `read` finds it, each request with its duration until its charge. */
export const requestsFound = (
  database: Database,
  question: RequestLogQuery,
  read: typeof loggedRequests,
): Promise<RequestsFound> =>
  database.snapshot(function* () {
    const { items, next } = yield* read(question);
    const charged = yield* chargedAfterMs(items.map(({ id }) => id));
    const shown = items.map((request) => {
      const durationMs = charged.get(request.id) ?? request.durationMs;
      return durationMs === request.durationMs ? request : { ...request, durationMs };
    });
    return { items: shown, next };
  });

/** A page of requests, and the cursor of the next one. */
export async function requestPage(
  database: Database,
  cursors: Cursors,
  of: readonly unknown[],
  question: RequestLogQuery & { readonly after?: string | undefined },
  read = loggedRequests,
): Promise<{ readonly items: readonly ShownRequest[]; readonly next: string | null }> {
  const { after } = question;
  const before = cursors.read(of, after)?.id;
  const { items, next } = await requestsFound(database, { ...question, before }, read);
  return {
    items,
    next: next === undefined ? null : cursors.write(of, { towards: 'next', at: 0, id: next }),
  };
}

interface FoundRequest {
  readonly logged: ShownRequest;
  readonly charged: boolean;
  readonly refunded: ChargeReturn;
}

/**
 * A request by its id: as the log has it, or else as its usage record tells it. Undefined: there is
 * none, or it is another account's than `account`.
 */
export function* anyRequest(id: string, account?: string): Transaction<FoundRequest | undefined> {
  const logged = yield* loggedRequest(id, account);
  const record = yield* account === undefined ? usageRecordOfAny(id) : usageRecord(account, id);
  if (record === undefined) return logged && { logged, charged: false, refunded: 'none' };
  const charge = requestOfCharge(record);
  return {
    logged: logged === undefined ? charge : untilCharge(logged, charge),
    charged: true,
    refunded: yield* returned(record),
  };
}

function* returned(record: Row): Transaction<ChargeReturn> {
  const id = textColumn(record, 'id');
  const back = (yield* refundedOf(textColumn(record, 'account'), [id])).get(id) ?? 0n;
  if (back === 0n) return 'none';
  return back < paidFor(record) ? 'part' : 'whole';
}

/**
 * The log measures a request until its last byte is handed over, its charge until the charge itself,
 * which comes before. One duration is shown: that of the charge.
 */
const untilCharge = (logged: LoggedRequest, { durationMs }: LoggedRequest): LoggedRequest => ({
  ...logged,
  durationMs,
});

/**
 * A request that was charged and is not in the log, as its record tells it. The log forgets: of
 * attempts that failed only the number is known then.
 */
export function requestOfCharge(record: Row): ShownRequest {
  const durationMs = Number(record['duration_ms']);
  return {
    id: String(record['id']),
    at: Number(record['finished_at']) - durationMs,
    account: String(record['account']),
    keyId: String(record['key_id']),
    endpoint: undefined,
    model: String(record['model']),
    channel: optionalText(record, 'channel'),
    status: record['status'] === 'left' && record['first_byte_ms'] === null ? 499 : 200,
    outcome: String(record['status']),
    param: undefined,
    durationMs,
    attempts: [],
    attemptsMade: Number(record['attempts']),
  };
}

/** One call of a channel, with its fault unless the vendor answered. */
export type TimelineAttempt = Pick<LoggedAttempt, 'channel' | 'key' | 'beganMs' | 'endedMs'> & {
  readonly fault?: LoggedAttempt | undefined;
};

/**
 * All attempts of a request: those that failed, and the one that answered. None where only their
 * number is known.
 */
export function attemptsOf(request: ShownRequest): readonly TimelineAttempt[] {
  const { attempts, channel, durationMs, attemptsMade = 0 } = request;
  if (attempts.length === 0 && attemptsMade > 1) return [];
  const failed = attempts.map((attempt): TimelineAttempt => ({ ...attempt, fault: attempt }));
  const answered = attempts.length === 0 || answeredOutcomes.some((one) => one === request.outcome);
  if (!answered || channel === undefined) return failed;
  const beganMs = attempts.at(-1)?.endedMs ?? 0;
  return [...failed, { channel, beganMs, endedMs: Math.max(beganMs, durationMs) }];
}

export const attemptsMade = (request: ShownRequest): number =>
  request.attemptsMade ?? attemptsOf(request).length;

export function failedRequest(
  request: LoggedRequest,
  keyNames: ReadonlyMap<string, string>,
): FailedRequest {
  const { id, at, keyId, endpoint, model, status, outcome, param, durationMs } = request;
  return {
    id,
    at: instant(at),
    key_id: keyId,
    key_name: keyNames.get(keyId) ?? keyId,
    endpoint: endpoint ?? null,
    model: model ?? null,
    status,
    outcome,
    code: codeOf(outcome),
    message: refusalText(request) ?? null,
    param: param ?? null,
    total_ms: durationMs,
  };
}
