import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { migrations } from '../app/schema.ts';
import { type Refusal, refusal } from '../base/refusal.ts';
import { type Database, DatabaseError } from '../storage/database.ts';
import type { AccessLine } from '../telemetry/request-metrics.ts';
import { codeOf, outcomesNamed, refusalText, requestLogLimits } from './entry.ts';
import {
  loggedRequest,
  loggedSince,
  requestLogPage,
  type RequestLogQuery,
  requestsByAccount,
} from './queries.ts';
import { RequestRecorder, type RefusedRequest } from './recorder.ts';
import { accountAllowance, boundRequestLog } from './retention.ts';
import { unexpected } from '../../test/support/unexpected.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const clock = { at: noon, now: () => clock.at, monotonicMs: () => 0 };

const idAt = (at: number, n = 0): string =>
  `req_${at.toString(16).padStart(12, '0')}${String(n).padStart(20, '0')}`;

const refusedAt = (at: number, n = 0, account = 'user_a'): RefusedRequest => ({
  id: idAt(at, n),
  at,
  account,
  keyId: 'key_a',
  endpoint: 'POST /v1/chat/completions',
  model: () => 'gone',
});
const notFound = (): Refusal => refusal('model_not_found', { model: 'gone', param: 'model' });

const lineOf = (fields: Partial<AccessLine>): AccessLine => ({
  id: idAt(noon),
  userId: 'user_a',
  keyId: 'key_a',
  model: 'm1',
  group: 'default',
  channel: 'a',
  stream: false,
  status: 200,
  outcome: 'ok',
  attempts: 1,
  inputTokens: 1,
  outputTokens: 1,
  cost: '1',
  firstByteMs: 1,
  durationMs: 100,
  ...fields,
});
const failure = {
  channel: 'a',
  fault: 'overloaded',
  stage: 'waiting',
  status: 529,
  beganMs: 0,
  endedMs: 40,
  mayRetry: true,
} as const;

const pageOf = (database: Database, question: Partial<RequestLogQuery> = {}) =>
  database.snapshot(() => requestLogPage({ limit: 100, ...question }));

forEachDatabase((_name, openFresh) => {
  async function fresh(limits: ConstructorParameters<typeof RequestRecorder>[3] = {}) {
    clock.at = noon;
    const database = await openFresh({ migrations });
    return { database, recorder: new RequestRecorder(database, clock, unexpected, limits) };
  }

  test('a refusal is recorded with its code and without the values of its message', async () => {
    const { database, recorder } = await fresh();
    recorder.refused(refusedAt(noon - 5), notFound());
    await recorder.close();
    expect(await pageOf(database)).toEqual([
      {
        id: idAt(noon - 5),
        at: noon - 5,
        account: 'user_a',
        keyId: 'key_a',
        endpoint: 'POST /v1/chat/completions',
        model: 'gone',
        channel: undefined,
        status: 404,
        outcome: 'model_not_found',
        param: 'model',
        durationMs: 5,
        attempts: [],
      },
    ]);
    expect(codeOf('model_not_found')).toBe('model_not_found');
    const known = { id: 'req_1', model: 'gone', param: 'model' };
    expect(refusalText({ ...known, outcome: 'model_not_found' })).toContain("'gone'");
    expect(refusalText({ ...known, outcome: 'unavailable' })).toBe(
      'The service is temporarily unavailable. Please retry later. (request id: req_1)',
    );
    expect(refusalText({ ...known, outcome: 'invalid_value' })).toBe("Invalid value for 'model'.");
    expect(refusalText({ ...known, outcome: 'vendor_bad_request' })).toBeUndefined();
    expect(outcomesNamed('invalid_request_error')).toContain('invalid_type');
  });

  test('an answer in one attempt leaves no row; one after a failed attempt leaves its attempts', async () => {
    const { database, recorder } = await fresh();
    recorder.finished(lineOf({ id: idAt(noon, 1) }), undefined);
    recorder.attemptFailed(idAt(noon, 2), failure);
    recorder.finished(lineOf({ id: idAt(noon, 2), channel: 'b', attempts: 2 }), undefined);
    recorder.finished(
      lineOf({ id: idAt(noon, 3), status: 499, outcome: 'left', cost: '0' }),
      undefined,
    );
    await recorder.close();
    const rows = await pageOf(database);
    expect(rows.map(({ id, outcome, attempts }) => [id, outcome, attempts])).toEqual([
      [idAt(noon, 3), 'left', []],
      [idAt(noon, 2), 'ok', [failure]],
    ]);
    expect(await pageOf(database, { failedOnly: true })).toHaveLength(1);
  });

  test('a request that was admitted and then refused is one row, with its attempts and its endpoint', async () => {
    const { database, recorder } = await fresh();
    const why = refusal('unavailable', { why: 'no channel', id: idAt(noon) });
    recorder.attemptFailed(idAt(noon), failure);
    recorder.finished(lineOf({ status: 503, outcome: 'fault:overloaded' }), why);
    recorder.refused(refusedAt(noon), why);
    await recorder.close();
    expect(await pageOf(database)).toMatchObject([
      {
        endpoint: 'POST /v1/chat/completions',
        model: 'm1',
        status: 503,
        outcome: 'unavailable',
        attempts: [failure],
      },
    ]);
  });

  test('every filter finds its rows, and pages lead on', async () => {
    const { database, recorder } = await fresh();
    for (let n = 0; n < 25; n++)
      recorder.refused(
        refusedAt(noon - n * 1_000, n, n % 5 === 0 ? 'user_b' : 'user_a'),
        notFound(),
      );
    recorder.refused(
      { ...refusedAt(noon - 500), keyId: 'key_b', model: () => undefined },
      refusal('insufficient_quota'),
    );
    recorder.attemptFailed(idAt(noon - 100), failure);
    recorder.finished(lineOf({ id: idAt(noon - 100), channel: 'c' }), undefined);
    await recorder.close();
    const count = async (question: Partial<RequestLogQuery>) =>
      (await pageOf(database, question)).length;
    expect(await count({})).toBe(27);
    expect(await count({ account: 'user_b' })).toBe(5);
    expect(await count({ key: 'key_b' })).toBe(1);
    expect(await count({ model: 'gone' })).toBe(25);
    expect(await count({ channel: 'c' })).toBe(1);
    expect(await count({ status: '4xx' })).toBe(26);
    expect(await count({ status: '429' })).toBe(1);
    expect(await count({ code: 'insufficient_quota' })).toBe(1);
    expect(await count({ from: noon - 10_000, to: noon - 5_000 })).toBe(5);
    expect(await count({ id: idAt(noon - 100) })).toBe(1);
    const first = await pageOf(database, { limit: 20 });
    const rest = await pageOf(database, { limit: 20, before: first.at(-1)?.id });
    expect([first.length, rest.length]).toEqual([20, 7]);
    const other = await database.snapshot(() => loggedRequest(idAt(noon - 500), 'user_b'));
    expect(other).toBeUndefined();
  });

  test('one account records a limited number of requests in a minute, and another its own', async () => {
    const { database, recorder } = await fresh({ accountPerMinuteMax: 10 });
    for (let n = 0; n < 50; n++) recorder.refused(refusedAt(noon, n), notFound());
    recorder.refused(refusedAt(noon, 99, 'user_b'), notFound());
    clock.at += 60_000;
    recorder.refused(refusedAt(clock.at, 100), notFound());
    await recorder.close();
    expect(recorder.dropped).toBe(40);
    expect(await pageOf(database)).toHaveLength(12);
  });

  test('while the database is away rows wait, as many as the limit allows, and then are written', async () => {
    const { database, recorder: _ } = await fresh();
    let away = true;
    const flaky: Database = {
      ...database,
      query: (sql, params) => database.query(sql, params),
      transact: (script) =>
        away ? Promise.reject(new DatabaseError('busy', 'away')) : database.transact(script),
    };
    const recorder = new RequestRecorder(flaky, clock, unexpected, {
      waitingMax: 5,
      batchMax: 2,
      writeEveryMs: 20,
    });
    for (let n = 0; n < 8; n++) recorder.refused(refusedAt(noon, n), notFound());
    await recorder.flush();
    expect(await pageOf(database)).toEqual([]);
    away = false;
    // No other request is needed.
    await expect.poll(async () => (await pageOf(database)).length).toBe(5);
    expect(recorder.dropped).toBe(3);
    await recorder.close();
  });

  test('a row that the database will never take is dropped and reported, and no other', async () => {
    const { database } = await fresh();
    let refusals: DatabaseError[] = [];
    const refusing: Database = {
      ...database,
      transact: (script) => {
        const refusal = refusals.shift();
        return refusal === undefined ? database.transact(script) : Promise.reject(refusal);
      },
    };
    const errors: string[] = [];
    const onError = (_: string, error: unknown) => void errors.push(String(error));
    const recorder = new RequestRecorder(refusing, clock, onError, { batchMax: 2 });
    const add = (from: number, to: number) => {
      for (let n = from; n < to; n++) recorder.refused(refusedAt(noon, n), notFound());
    };
    // A batch of two is refused, then the first of it alone.
    refusals = [new DatabaseError('constraint', 'batch'), new DatabaseError('constraint', 'row')];
    add(0, 5);
    await recorder.flush();
    expect([recorder.dropped, errors]).toEqual([1, ['Error: row']]);
    expect(await pageOf(database)).toHaveLength(4);
    // A database that refuses a password takes the rows once it does not.
    refusals = [new DatabaseError('other', 'password'), new DatabaseError('other', 'password')];
    add(5, 8);
    await recorder.flush();
    await recorder.flush();
    await recorder.close();
    expect([recorder.dropped, errors]).toEqual([1, ['Error: row', 'Error: password']]);
    expect(await pageOf(database)).toHaveLength(7);
  });

  test('rows that are written one by one stay so where the database goes away in between', async () => {
    const { database } = await fresh();
    const sizes: number[] = [];
    let away: number | undefined = 1;
    const refusing: Database = {
      ...database,
      transact: (script) => {
        const { params = [] } = script().next().value ?? {};
        const ids = params.filter((each) => String(each).startsWith('req_'));
        sizes.push(ids.length);
        if (sizes.length - 1 === away) return Promise.reject(new DatabaseError('busy', 'away'));
        return ids.includes(idAt(noon, 2))
          ? Promise.reject(new DatabaseError('constraint', 'third'))
          : database.transact(script);
      },
    };
    const errors: string[] = [];
    const onError = (_: string, error: unknown) => void errors.push(String(error));
    const recorder = new RequestRecorder(refusing, clock, onError, { batchMax: 3 });
    for (let n = 0; n < 7; n++) recorder.refused(refusedAt(noon, n), notFound());
    await recorder.flush();
    away = undefined;
    await recorder.close();
    expect(sizes).toEqual([3, 1, 1, 1, 1, 3, 1]);
    expect([recorder.dropped, errors]).toEqual([1, ['Error: third']]);
    expect(await pageOf(database)).toHaveLength(6);
  });

  test('a log that is cut back stops between a few when it is told to', async () => {
    const { database, recorder } = await fresh({ accountPerMinuteMax: 2_000 });
    const limits = { ...requestLogLimits, accountRowsMax: 1 };
    for (let n = 0; n < 1_101; n++) recorder.refused(refusedAt(noon - n, n), notFound());
    await recorder.close();
    let asked = 0;
    await boundRequestLog(database, clock, limits, () => (asked += 1) > 1);
    const left = await database.snapshot(() => requestsByAccount());
    expect([...left.values()]).toEqual([601]);
    await boundRequestLog(database, clock, limits);
    expect(await pageOf(database)).toMatchObject([{ at: noon }]);
  });

  test('several nodes that cut the log back at the same time keep as much as one does', async () => {
    const { database, recorder } = await fresh({ accountPerMinuteMax: 2_000 });
    const limits = { ...requestLogLimits, accountRowsMax: 800 };
    for (let n = 0; n < 1_401; n++) recorder.refused(refusedAt(noon - n, n), notFound());
    await recorder.close();
    await Promise.all([1, 2, 3].map(() => boundRequestLog(database, clock, limits)));
    expect([...(await database.snapshot(() => requestsByAccount())).values()]).toEqual([800]);
    const since = await database.snapshot(() => loggedSince('user_a', noon));
    expect(since).toBe(noon - 799);
  });

  test('while the database is away one account fills what waits, and loses its own rows to others', async () => {
    const { database } = await fresh();
    let away = true;
    const flaky: Database = {
      ...database,
      transact: (script) =>
        away ? Promise.reject(new DatabaseError('busy', 'away')) : database.transact(script),
    };
    const limits = { waitingMax: 20, batchMax: 7, writeEveryMs: 5, accountPerMinuteMax: 1_000 };
    const recorder = new RequestRecorder(flaky, clock, unexpected, limits);
    for (let n = 0; n < 500; n++) {
      recorder.refused(refusedAt(noon, n, 'user_flood'), notFound());
      if (n % 50 === 49) recorder.refused(refusedAt(noon, 1_000 + n, 'user_small'), notFound());
      if (n % 100 === 0) await recorder.flush();
    }
    expect(recorder.dropped).toBe(490);
    away = false;
    await recorder.close();
    const kept = async (account: string) => (await pageOf(database, { account })).length;
    expect([await kept('user_small'), await kept('user_flood')]).toEqual([10, 10]);
  });

  test('a refusal of a request from the console has its status, and no endpoint', async () => {
    const { database, recorder } = await fresh();
    const why = refusal('unavailable', { why: 'no channel', id: idAt(noon) });
    recorder.finished(lineOf({ status: 503, outcome: 'fault:overloaded' }), why);
    await recorder.close();
    expect(await pageOf(database)).toMatchObject([{ status: 503, endpoint: undefined }]);
  });

  test('the log is bounded in time, for one account and in all; a small account loses nothing to a large one', async () => {
    const { database, recorder } = await fresh({ accountPerMinuteMax: 1_000 });
    const limits = { ...requestLogLimits, keptForMs: 86_400_000, accountRowsMax: 40, rowsMax: 60 };
    recorder.refused(refusedAt(noon - 90_000_000, 0, 'user_old'), notFound());
    for (let n = 0; n < 70; n++) recorder.refused(refusedAt(noon - n, n, 'user_large'), notFound());
    for (let n = 0; n < 50; n++)
      recorder.refused(refusedAt(noon - n, n + 500, 'user_b'), notFound());
    for (let n = 0; n < 6; n++)
      recorder.refused(refusedAt(noon - n, n + 900, 'user_small'), notFound());
    await recorder.close();
    await boundRequestLog(database, clock, limits);
    const kept = async (account: string) => (await pageOf(database, { account })).length;
    expect(await kept('user_old')).toBe(0);
    expect(await kept('user_large')).toBe(20);
    expect(await kept('user_b')).toBe(20);
    expect(await kept('user_small')).toBe(6);
    const newest = await pageOf(database, { account: 'user_large', limit: 1 });
    expect(newest[0]?.at).toBe(noon);
    const since = (account: string) => database.snapshot(() => loggedSince(account, noon));
    const all = noon - requestLogLimits.keptForMs;
    // The newest twenty of user_large, of one each millisecond.
    expect(await since('user_large')).toBe(noon - 19);
    expect([await since('user_small'), await since('user_old')]).toEqual([all, all]);
    clock.at += limits.keptForMs + 60_000;
    await boundRequestLog(database, clock, limits);
    expect(await since('user_large')).toBe(all);
  });
});

test('the allowance of an account falls only while the whole log is too large', () => {
  const limits = { accountRowsMax: 20_000, rowsMax: 1_000_000 };
  expect(accountAllowance([500_000, 3], limits)).toBe(20_000);
  expect(
    accountAllowance(
      Array.from({ length: 80 }, () => 20_000),
      limits,
    ),
  ).toBe(10_000);
});
