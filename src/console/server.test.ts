import { expect, test } from 'vitest';
import * as z from 'zod';
import { forEachDatabase, onSqlite } from '../../test/databases.ts';
import { askPlain, newBrowser, startConsole } from '../../test/support/console.ts';
import { setUserState } from '../accounts/users.ts';
import { refuse } from '../base/refusal.ts';
import { migrations } from '../app/schema.ts';
import { DatabaseError } from '../storage/database.ts';
import { throwProblem } from './problem.ts';
import { type ConsoleRoute, defineRoute } from './route.ts';

const rows: readonly ConsoleRoute[] = [
  defineRoute({
    method: 'GET',
    path: 'hello',
    role: 'anyone',
    handle: ({ caller }) => ({ hello: caller?.user.id ?? 'stranger' }),
  }),
  defineRoute({
    method: 'GET',
    path: 'mine',
    role: 'user',
    handle: ({ user, csrf }) => ({ mine: user.id, csrf }),
  }),
  defineRoute({ method: 'GET', path: 'all', role: 'operator', handle: () => ({ all: true }) }),
  defineRoute({
    method: 'POST',
    path: 'things',
    role: 'user',
    input: z.object({
      name: z.string('text_expected').min(2, 'too_short'),
      size: z.object({ wide: z.number('number_expected') }),
    }),
    handle({ input, reply }) {
      reply.status(201);
      return { name: input.name, wide: input.size.wide };
    },
  }),
  defineRoute({
    method: 'GET',
    path: 'things/:id',
    role: 'user',
    input: z.object({ deep: z.enum(['yes', 'no']).default('no') }),
    handle: ({ params, input }) => ({ id: params['id'], deep: input.deep }),
  }),
  defineRoute({ method: 'DELETE', path: 'things/:id', role: 'user', handle: () => undefined }),
  defineRoute({ method: 'GET', path: 'seldom', role: 'user', perMinute: 2, handle: () => ({}) }),
  defineRoute({
    method: 'GET',
    path: 'changed',
    role: 'user',
    handle: () => throwProblem('version_conflict', { current: { version: 3 } }),
  }),
  defineRoute({
    method: 'GET',
    path: 'refused',
    role: 'user',
    handle: () => refuse('model_not_found', { model: 'm', param: 'model' }),
  }),
  defineRoute({
    method: 'GET',
    path: 'bug',
    role: 'user',
    handle: () => Promise.reject(new Error('a secret')),
  }),
  defineRoute({
    method: 'GET',
    path: 'away',
    role: 'user',
    handle() {
      throw new DatabaseError('unknown', 'lost');
    },
  }),
  defineRoute({
    method: 'GET',
    path: 'long',
    role: 'user',
    handle: () => ({ long: '余额'.repeat(1_000) }),
  }),
  defineRoute({
    method: 'GET',
    path: 'events',
    role: 'user',
    handle({ reply }) {
      const stream = reply.events();
      stream.send({ event: 'balance', id: '7', data: { available: '1.000000000', name: '余额' } });
      stream.end();
    },
  }),
  defineRoute({
    method: 'GET',
    path: 'things.csv',
    role: 'user',
    async handle({ reply }) {
      const text = (async function* () {
        yield '\ufeffname\r\n';
        yield '名\r\n';
      })();
      await reply.file({ name: 'things.csv', type: 'text/csv; charset=utf-8', text });
    },
  }),
];

onSqlite((_, openFresh) => {
  test('a route without a role neither compiles nor opens', async () => {
    // @ts-expect-error -- each route states its role
    const route: ConsoleRoute = { method: 'GET', path: 'open', serve: () => ({}) };
    // @ts-expect-error -- each declaration states its role
    const declared = defineRoute({ method: 'GET', path: 'open', handle: () => ({}) });
    const db = await openFresh({ migrations });
    for (const one of [route, declared])
      await expect(startConsole(db, [one])).rejects.toThrow('GET open has no role');
  });
});

forEachDatabase((_, openFresh) => {
  test('strangers, users and operators pass where they may', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, rows);
    const user = await newBrowser(url, db);
    const operator = await newBrowser(url, db, 'operator');
    expect((await askPlain(`${url}/console/api/hello`)).json).toEqual({ hello: 'stranger' });
    expect((await user.ask('hello')).json).toEqual({ hello: user.userId });
    expect((await user.ask('mine')).json).toEqual({ mine: user.userId, csrf: user.csrf });
    expect((await operator.ask('mine')).json.mine).toBe(operator.userId);
    expect((await operator.ask('all')).json).toEqual({ all: true });
    const stranger = await askPlain(`${url}/console/api/mine`);
    expect([stranger.status, stranger.json.error.code]).toEqual([401, 'session_expired']);
    const refused = await user.ask('all');
    expect(refused.status).toBe(403);
    expect(refused.json).toEqual({
      error: {
        message: 'Operators only.',
        type: 'permission_error',
        param: null,
        code: 'operator_only',
        request_id: refused.headers['x-request-id'],
      },
    });
    expect(refused.headers['cache-control']).toBe('no-store');
    await db.transact(() => setUserState(user.userId, 'suspended'));
    expect((await user.ask('mine')).json.error.code).toBe('suspended');
    await db.transact(() => setUserState(user.userId, 'active'));
    expect((await user.ask('mine')).json.error.code).toBe('session_expired');
  });
});

onSqlite((_, openFresh) => {
  test('input is the query of a GET and the JSON of a body; what does not fit is told field by field', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, rows);
    const user = await newBrowser(url, db);
    const made = await user.ask('things', {
      method: 'POST',
      body: { name: 'ab', size: { wide: 3 } },
    });
    expect([made.status, made.json]).toEqual([201, { name: 'ab', wide: 3 }]);
    const wrong = await user.ask('things', { method: 'POST', body: { name: 'a', size: {} } });
    expect(wrong.status).toBe(400);
    expect(wrong.json.error).toMatchObject({
      code: 'invalid',
      fields: { name: 'too_short', 'size.wide': 'number_expected' },
    });
    expect((await user.ask('things', { method: 'POST', body: '{"name":' })).json.error.code).toBe(
      'malformed_json',
    );
    expect(
      (await user.ask('things', { method: 'POST', body: `"${'x'.repeat(300_000)}"` })).json.error
        .code,
    ).toBe('too_large');
    const typeless = await user.ask('things', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': ';' },
    });
    expect([typeless.status, typeless.json.error.code]).toEqual([400, 'malformed_json']);
    expect((await user.ask('things/a%2Fb?deep=yes')).json).toEqual({ id: 'a/b', deep: 'yes' });
    expect((await user.ask('things/x')).json).toEqual({ id: 'x', deep: 'no' });
    const gone = await user.ask('things/x', { method: 'DELETE' });
    expect([gone.status, gone.text]).toEqual([204, '']);
  });

  test('what changes something must come from a page of ours and carry its token', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, rows);
    const user = await newBrowser(url, db);
    const other = await newBrowser(url, db);
    const change = async (headers: Record<string, string | null>) => {
      const { status, json } = await user.ask('things/x', { method: 'DELETE', headers });
      return status === 204 ? 'done' : json.error.code;
    };
    expect(await change({})).toBe('done');
    expect(await change({ 'x-csrf-token': null })).toBe('csrf');
    expect(await change({ 'x-csrf-token': '' })).toBe('csrf');
    expect(await change({ 'x-csrf-token': other.csrf })).toBe('csrf');
    expect(await change({ origin: null })).toBe('csrf');
    expect(await change({ origin: 'null' })).toBe('csrf');
    expect(await change({ origin: 'https://evil.example' })).toBe('csrf');
    expect(await change({ origin: `${url}.evil.example` })).toBe('csrf');
    expect(await change({ cookie: null })).toBe('session_expired');
  });

  test('behind https the cookie has a name that nobody else can set, and the origin is the configured one', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, rows, { publicUrl: 'https://ai.example.com' });
    const user = await newBrowser(url, db);
    const secure = { cookie: `__Host-${user.cookie}` };
    expect((await user.ask('mine')).status).toBe(401);
    expect((await user.ask('mine', { headers: secure })).status).toBe(200);
    const change = (origin: string) =>
      user.ask('things/x', { method: 'DELETE', headers: { ...secure, origin } });
    expect((await change(url)).json.error.code).toBe('csrf');
    expect((await change('https://ai.example.com')).status).toBe(204);
  });

  test('refusals, conflicts, faults and what does not exist have one shape', async () => {
    const db = await openFresh({ migrations });
    const bugs: unknown[] = [];
    const url = await startConsole(db, rows, {
      log: { refused: () => {}, bug: (_, error) => bugs.push(error) },
    });
    const user = await newBrowser(url, db);
    expect((await user.ask('changed')).json).toMatchObject({
      error: { code: 'version_conflict' },
      current: { version: 3 },
    });
    const refused = await user.ask('refused');
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
      404,
      'model_not_found',
      'model',
    ]);
    const bug = await user.ask('bug');
    expect([bug.status, bug.json.error.code]).toEqual([500, 'bug']);
    expect(bug.text).not.toContain('secret');
    expect(bugs).toHaveLength(1);
    const away = await user.ask('away');
    expect([away.status, away.json.error.code, away.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      '1',
    ]);
    for (const path of ['nothing', 'things/a/b', 'mine/'])
      expect((await user.ask(path)).json.error.code).toBe('not_found');
    expect((await user.ask('mine', { method: 'POST' })).json.error.code).toBe('not_found');
  });

  test('a client that asks too often gets a time to retry', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, rows);
    const user = await newBrowser(url, db);
    const other = await newBrowser(url, db);
    const answers = [await user.ask('seldom'), await user.ask('seldom'), await user.ask('seldom')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await other.ask('seldom')).status).toBe(200);
  });

  test('of the requests that read much, a user runs four at a time; others are not kept waiting', async () => {
    const db = await openFresh({ migrations });
    let running = 0;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const heavy = (path: string): ConsoleRoute =>
      defineRoute({
        method: 'GET',
        path,
        role: 'user',
        heavy: true,
        async handle() {
          running++;
          await ended;
          return {};
        },
      });
    const url = await startConsole(db, [...rows, heavy('much'), heavy('more')]);
    const [user, other] = [await newBrowser(url, db), await newBrowser(url, db)];
    const slow = ['much', 'more', 'much', 'more'].map((path) => user.ask(path));
    await expect.poll(() => running).toBe(4);
    const refused = await user.ask('much');
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    expect(refused.json.error).toMatchObject({
      code: 'rate_limited',
      message: '4 such requests of yours are running. Please wait until one has ended.',
    });
    expect((await user.ask('mine')).status).toBe(200);
    const others = other.ask('much');
    await expect.poll(() => running).toBe(5);
    end();
    const statuses = (await Promise.all([...slow, others])).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect((await user.ask('much')).status).toBe(200);
  });

  test('a long JSON is packed for a browser that unpacks it, and nothing else is', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, rows);
    const user = await newBrowser(url, db);
    const get = (path: string, accepted: string) =>
      fetch(`${url}/console/api/${path}`, {
        headers: { cookie: user.cookie, 'accept-encoding': accepted },
      });
    const long = await get('long', 'br, gzip');
    expect(Object.fromEntries(long.headers)).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
    });
    expect(Number(long.headers.get('content-length'))).toBeLessThan(200);
    expect(await long.json()).toEqual({ long: '余额'.repeat(1_000) });
    const plain = await get('long', 'gzip;q=0');
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
      null,
      'accept-encoding',
    ]);
    expect(Buffer.byteLength(await plain.text())).toBeGreaterThan(6_000);
    for (const path of ['mine', 'events', 'missing']) {
      const other = await get(path, 'gzip');
      expect([path, other.headers.get('content-encoding')]).toEqual([path, null]);
      await other.body?.cancel();
    }
  });

  test('events and files', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, rows);
    const user = await newBrowser(url, db);
    const events = await user.ask('events');
    expect(events.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(events.text).toBe(
      'retry: 2000\n\nid: 7\nevent: balance\ndata: {"available":"1.000000000","name":"余额"}\n\n',
    );
    const csv = await user.ask('things.csv');
    expect(csv.headers['content-disposition']).toBe('attachment; filename="things.csv"');
    expect(csv.text).toBe('\ufeffname\r\n名\r\n');
  });
});
