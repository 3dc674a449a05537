import { setTimeout as wait } from 'node:timers/promises';
import type { Env } from '../base/env.ts';
import { toPlainText } from '../base/plain-text.ts';
import { systemClock } from '../base/clock.ts';
import type { OperatorRequest, OperatorRequestDetail } from '../console/contract.ts';
import { operatorRequests, requestDetail } from '../console/operator/requests.ts';
import { requestLogPage, type RequestLogQuery } from '../request-log/queries.ts';
import type { Database } from '../storage/database.ts';
import { Failure, print, type SharedOptions, timeOption, toSecond } from './command-io.ts';
import { withDatabase } from './installation.ts';
import { forStream, paint, paintState, table } from './terminal.ts';
import { filteredUser } from './user.ts';

interface LogOptions extends SharedOptions {
  readonly user?: string;
  readonly key?: string;
  readonly model?: string;
  readonly channel?: string;
  readonly status?: string;
  readonly code?: string;
  readonly since?: string;
  readonly limit: number;
  readonly follow?: true;
}

/** Shows the request log, oldest first, or one request with its attempts. */
export async function logsCommand(
  id: string | undefined,
  options: LogOptions,
  env: Env,
): Promise<void> {
  await withDatabase(options, env, async (database) => {
    if (id !== undefined) return showRequest(database, id, options);
    const question = await questionFrom(database, options);
    const page = await pageOf(database, question);
    if (options.follow !== true) {
      const empty = [
        'there are no matching requests; requests that succeed at the first attempt are in usage',
      ];
      print(options, page, page.length === 0 ? empty : table(heads, page.map(rowOf)));
      return;
    }
    if (page.length > 0) show(options, page);
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    await followLog(database, question, page, (more) => show(options, more), stop.signal);
  });
}

const statusForm = /^[1-5](?:xx|\d\d)$/;

async function questionFrom(database: Database, options: LogOptions): Promise<RequestLogQuery> {
  const { user, key, model, channel, status, code, since, limit } = options;
  if (status !== undefined && !statusForm.test(status))
    throw new Failure(`--status is a status such as 429, or a class such as 5xx, not '${status}'`);
  const from = since === undefined ? undefined : timeOption('--since', since);
  const account = await filteredUser(database, user);
  return { account, key, model, channel, status, code, from, limit };
}

async function pageOf(
  database: Database,
  question: RequestLogQuery,
): Promise<readonly OperatorRequest[]> {
  const found = await database.snapshot(() => requestLogPage(question));
  return operatorRequests(database, found.toReversed());
}

/** Nodes write their requests about a second after they end, each by itself. */
const lateMs = 60_000;
const lookEveryMs = 1_000;
const pageMax = 1_000;

/** Tells new requests of the log until the signal aborts. */
export async function followLog(
  database: Database,
  question: RequestLogQuery,
  seen: readonly OperatorRequest[],
  tell: (requests: readonly OperatorRequest[]) => void,
  signal: AbortSignal,
  everyMs = lookEveryMs,
): Promise<void> {
  const begun = Math.max(question.from ?? 0, systemClock.now());
  const told = new Map(seen.map(({ id, at }) => [id, Date.parse(at)]));
  while (!signal.aborted) {
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
    const from = Math.max(begun, systemClock.now() - lateMs);
    const page = await pageOf(database, { ...question, from, limit: pageMax });
    const fresh = page.filter(({ id }) => !told.has(id));
    if (fresh.length > 0) tell(fresh);
    for (const { id, at } of fresh) told.set(id, Date.parse(at));
    for (const [id, at] of told) if (at < from) told.delete(id);
  }
}

/** Times are in UTC; pages of the console are in the zone of the account. */
const heads = ['time (UTC)', 'status', 'outcome', 'model', 'channel', 'user', 'ms', 'id'];

const rowOf = (request: OperatorRequest): readonly string[] => [
  toSecond(request.at),
  String(request.status),
  request.outcome,
  request.model ?? '',
  request.channel ?? '',
  request.user.name ?? request.user.id,
  String(request.total_ms),
  request.id,
];

/** Requests as they come: one line each, with `--json` one JSON value each. */
function show({ json }: LogOptions, requests: readonly OperatorRequest[]): void {
  const lines =
    json === true
      ? requests.map((request) => JSON.stringify(request))
      : table(heads, requests.map(rowOf)).slice(1);
  const text = lines.join('\n');
  console.log(json === true ? text : forStream(text, process.stdout));
}

async function showRequest(database: Database, id: string, options: LogOptions): Promise<void> {
  const found = await requestDetail(database, id);
  if (found === undefined)
    throw new Failure(`there is no request ${id} in the log, and no charge for it`);
  print(options, found, linesOf(found));
}

/**
 * Only requests that went wrong are in the log. The times of the others come from their usage
 * record, which is written with the charge, before the answer's last byte.
 */
const isOfRecord = ({ charged, message, attempts }: OperatorRequestDetail): boolean =>
  charged && message === null && attempts.every(({ fault }) => fault === null);

function linesOf(request: OperatorRequestDetail): readonly string[] {
  const { user, key_name: key, key_id: keyId, message, attempts } = request;
  const facts: readonly (readonly [string, string | null])[] = [
    ['time', request.at],
    ['user', `${user.name ?? ''} (${user.id})`],
    ['key', key === '' ? keyId : key],
    ['endpoint', request.endpoint],
    ['model', request.model],
    ['param', request.param],
    ['took', `${request.total_ms} ms${isOfRecord(request) ? ' until it was charged' : ''}`],
    ['charged', request.charged ? 'yes' : 'no'],
  ];
  const rows = attempts.map((attempt, index) => [
    String(index + 1),
    attempt.channel + (attempt.key === null ? '' : ` (key ${attempt.key})`),
    attempt.fault === null ? 'answered' : attempt.fault.kind,
    String(attempt.fault?.status ?? ''),
    attempt.fault?.stage ?? '',
    `${attempt.began_ms}–${attempt.ended_ms}`,
    attempt.fault?.why ?? '',
  ]);
  return [
    `${paint('bold', request.id)}  ${paintState(String(request.status))} ${request.outcome}`,
    ...(message === null ? [] : [message]),
    ...facts.flatMap(([name, value]) =>
      value === null ? [] : [`  ${paint('dim', name.padEnd(9))} ${toPlainText(value)}`],
    ),
    ...(rows.length === 0 ? ['no channel was called'] : []),
    ...(rows.length === 0
      ? []
      : table(['attempt', 'channel', 'outcome', 'status', 'stage', 'from–to ms', 'why'], rows)),
  ];
}
