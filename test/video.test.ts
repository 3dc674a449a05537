import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase, sqliteUrl } from './databases.ts';
import { aFilm, films, quickTasks, startFilmVendor } from './support/film-vendor.ts';
import { type Running, startRunning } from './support/running.ts';
import { json } from './support/scripted-vendor.ts';

const path = '/v1/video/generations';
const ask = { model: 'sora-2', prompt: 'A cat on a roof', duration: 10, async: true };

type Shown = Record<string, unknown> & { readonly id: string; readonly status: string };

async function get(running: Running, of: string, key = running.key): Promise<Response> {
  return fetch(running.url + of, { headers: { authorization: `Bearer ${key}` } });
}

async function submitted(running: Running, body: object = ask): Promise<Shown> {
  const response = await running.post(path, body);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as Shown;
}

async function ended(running: Running, id: string): Promise<Shown> {
  await expect
    .poll(async () => ((await (await get(running, `${path}/${id}`)).json()) as Shown).status, {
      timeout: 10_000,
    })
    .toMatch(/completed|failed/);
  return (await (await get(running, `${path}/${id}`)).json()) as Shown;
}

async function refused(
  running: Running,
  body: unknown,
): Promise<{ readonly status: number; readonly error: Record<string, unknown> }> {
  const response = await running.post(path, body);
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  return { status: response.status, error };
}

forEachDatabase((_name, _openFresh, fresh) => {
  test('a video is submitted, polled for, copied and charged by the second that was asked for', async () => {
    const vendor = await startFilmVendor();
    vendor.state = { status: 'in_progress', progress: 30 };
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: films(vendor.url),
      taskLimits: quickTasks,
    });
    const task = await submitted(running);
    expect(Object.keys(task).sort()).toEqual(['created_at', 'id', 'status']);
    expect(task).toMatchObject({
      id: expect.stringMatching(/^video_[A-Za-z0-9]{24}$/),
      status: 'pending',
      created_at: expect.any(Number),
    });
    expect(vendor.tasks.get('up_1')).toEqual({
      model: 'up-video',
      prompt: 'A cat on a roof',
      seconds: '10',
      duration: 10,
    });
    await expect
      .poll(async () => ((await (await get(running, `${path}/${task.id}`)).json()) as Shown).status)
      .toBe('processing');
    // Held, and not spent.
    const [account] = await running.gateway.database.query(
      'SELECT held, debits FROM account WHERE id=$1',
      [running.userId],
    );
    expect(account).toEqual({ held: 7_000_000_000n, debits: 0n });
    vendor.state = { status: 'completed', progress: 100 };
    const done = await ended(running, task.id);
    expect(done).toMatchObject({
      object: 'video',
      model: 'sora-2',
      status: 'completed',
      progress: 100,
      duration: 10,
    });
    expect(done).not.toHaveProperty('error');
    const { origin, pathname } = new URL(String(done['video_url']));
    expect([origin, pathname.split('/')[1]]).toEqual([running.url, 'files']);
    const film = await fetch(String(done['video_url']));
    expect(film.headers.get('content-type')).toBe('video/mp4');
    expect(Buffer.from(await film.arrayBuffer()).equals(aFilm)).toBe(true);
    expect(await running.balance()).toBe('93.00');
    expect(await running.usage()).toMatchObject([
      {
        id: task.id,
        capability: 'video',
        model: 'sora-2',
        channel: 'films',
        upstream_id: 'up_1',
        cost: 7_000_000_000n,
        shortfall: 0n,
      },
    ]);
    await running.expectBooks();
  });

  test('a video that fails costs nothing, and says why where that is the prompt', async () => {
    const vendor = await startFilmVendor();
    vendor.state = {
      status: 'failed',
      error: {
        code: 'moderation_blocked',
        message: 'Blocked by our moderation of org-abcDEF123456.',
      },
    };
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: films(vendor.url),
      taskLimits: quickTasks,
    });
    const task = await submitted(running);
    const failed = await ended(running, task.id);
    expect(failed).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/content policy/),
    });
    expect(failed).not.toHaveProperty('video_url');
    expect(await running.balance()).toBe('100.00');
    expect(await running.usage()).toEqual([]);
    await running.expectBooks();
  });

  test('what a lying vendor says while polling ends nothing', async () => {
    const vendor = await startFilmVendor();
    const lies = [
      (response: Parameters<typeof json>[0]) => json(response, 200, '{"status":"dreaming"}'),
      (response: Parameters<typeof json>[0]) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>'),
      (response: Parameters<typeof json>[0]) =>
        response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad</html>'),
      (response: Parameters<typeof json>[0]) =>
        json(response, 401, '{"error":{"message":"Invalid key","code":"invalid_api_key"}}'),
      (response: Parameters<typeof json>[0]) =>
        json(response, 200, '{"code":"fail_to_fetch_task","message":"oops","data":null}'),
      (response: Parameters<typeof json>[0]) =>
        json(response, 404, '{"error":{"message":"not yet","code":"not_found"}}'),
      (response: Parameters<typeof json>[0]) => response.destroy(),
    ];
    vendor.onPoll = (_id, response) => {
      const lie = lies.shift();
      lie?.(response);
      return lie !== undefined;
    };
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: films(vendor.url),
      taskLimits: quickTasks,
    });
    const task = await submitted(running);
    expect(await ended(running, task.id)).toMatchObject({ status: 'completed' });
    expect(vendor.polls).toBeGreaterThan(7);
    await running.expectBooks();
  });
});

test('what is wrong with a submission is told, and costs nothing', async () => {
  const vendor = await startFilmVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: films(vendor.url),
    taskLimits: quickTasks,
  });
  const cases: readonly (readonly [unknown, number, Record<string, unknown>])[] = [
    [{ ...ask, model: undefined }, 400, { param: 'model', code: 'invalid_request_error' }],
    [{ ...ask, model: 'nobody' }, 404, { code: 'model_not_found' }],
    [
      { ...ask, model: 'm1' },
      400,
      { param: 'model', message: expect.stringContaining('/v1/chat/completions') },
    ],
    [{ ...ask, prompt: undefined }, 400, { param: 'prompt' }],
    [{ ...ask, prompt: ' ' }, 400, { param: 'prompt' }],
    [{ ...ask, prompt: 7 }, 400, { param: 'prompt' }],
    [{ ...ask, prompt: 'x'.repeat(32_001) }, 400, { param: 'prompt' }],
    [
      { ...ask, duration: 7 },
      400,
      { param: 'duration', message: expect.stringContaining('5, 10, 15, 20') },
    ],
    [{ ...ask, duration: '10' }, 400, { param: 'duration' }],
    [{ ...ask, duration: 10.5 }, 400, { param: 'duration' }],
    [{ ...ask, async: undefined }, 400, { param: 'async' }],
    [{ ...ask, async: false }, 400, { param: 'async' }],
    [{ ...ask, async: 'true' }, 400, { param: 'async' }],
    [{ ...ask, size: 'huge' }, 400, { param: 'size' }],
    [{ ...ask, image: 'file:///etc/passwd' }, 400, { param: 'image' }],
    ['{', 400, { code: 'invalid_request_error' }],
  ];
  for (const [body, status, error] of cases)
    expect(await refused(running, body), JSON.stringify(body)).toMatchObject({ status, error });
  expect(vendor.received).toEqual([]);
  expect(await running.gateway.database.query('SELECT * FROM task')).toEqual([]);
  await running.expectBooks();
});

test('five seconds are made where no length was asked for', async () => {
  const vendor = await startFilmVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: films(vendor.url),
    taskLimits: quickTasks,
  });
  await submitted(running, { ...ask, duration: undefined });
  expect(vendor.tasks.get('up_1')).toMatchObject({ seconds: '5' });
});

test('a clip costs what its variant costs', async () => {
  const vendor = await startFilmVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: films(vendor.url),
    taskLimits: quickTasks,
  });
  for (const size of ['1280x720', '1920x1080'])
    await ended(
      running,
      (await submitted(running, { ...ask, model: 'clip', duration: 6, size })).id,
    );
  expect(await running.balance()).toBe('95.00');
  await running.expectBooks();
});

test('a balance that does not suffice is told before a vendor is asked; what others hold idle is waited for', async () => {
  const vendor = await startFilmVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: films(vendor.url),
    yuan: '8',
    taskLimits: quickTasks,
  });
  // Half of it is now in the float of a chat.
  expect(
    (
      await running.post('/v1/chat/completions', {
        model: 'm1',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 10,
      })
    ).status,
  ).toBe(503);
  expect(await refused(running, { ...ask, duration: 15 })).toMatchObject({
    status: 429,
    error: { code: 'insufficient_quota' },
  });
  await ended(running, (await submitted(running, ask)).id);
  expect(await running.balance()).toBe('1.00');
  await running.expectBooks();
});

test('a task can be asked for within 24 hours, by whoever made it, with an empty account too', async () => {
  const vendor = await startFilmVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: films(vendor.url),
    yuan: '7',
    taskLimits: quickTasks,
  });
  const { id } = await submitted(running);
  await ended(running, id);
  expect(await running.balance()).toBe('0.00');
  expect((await get(running, `${path}/${id}`)).status).toBe(200);
  expect((await get(running, `${path}/${id}`, 'sk-wrong')).status).toBe(401);
  expect((await get(running, `${path}/video_nobody`)).status).toBe(404);
  await running.gateway.database.query('UPDATE task SET created_at=created_at-86400000');
  const late = await get(running, `${path}/${id}`);
  expect([late.status, await late.json()]).toEqual([
    404,
    {
      error: {
        message: expect.stringContaining(id),
        type: 'invalid_request_error',
        param: 'task_id',
        code: 'task_not_found',
      },
    },
  ]);
  expect((await running.post(`${path}/${id}`, {})).status).toBe(405);
});

test('a video that is not there when its time is over is cancelled, failed and paid back', async () => {
  const vendor = await startFilmVendor();
  vendor.state = { status: 'in_progress', progress: 10 };
  const configuration = `settings: { video: { limit_seconds: 1 } }\n${films(vendor.url)}`;
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration,
    taskLimits: quickTasks,
  });
  const { id } = await submitted(running);
  expect(await ended(running, id)).toMatchObject({
    status: 'failed',
    error: 'Task timed out and was cancelled.',
  });
  expect(vendor.cancelled).toEqual(['up_1']);
  expect(await running.balance()).toBe('100.00');
  await running.expectBooks();
});
