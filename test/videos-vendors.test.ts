import { describe, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { simServiceAccount } from '../sim/google/token.ts';
import { startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import type { TaskLimits } from '../src/gateway/tasks/parts.ts';
import { sqliteUrl } from './databases.ts';
import { onTestFinished } from 'vitest';
import { type Running, startRunning } from './support/running.ts';

const quick = { pollMsMin: 60, pollMsMax: 120, lookEveryMs: 20, backoffMsMax: 150 };
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const path = '/v1/video/generations';

type Shown = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };

interface Studio extends Running {
  readonly sim: Awaited<ReturnType<typeof startSim>>;
}

/** A gateway whose every channel leads to the simulator; `scenario`: how its tasks go. */
async function studio(scenario = '', limits: Partial<TaskLimits> = {}): Promise<Studio> {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const configuration = simConfig(sim.url).replaceAll(
    /(name: "sim-[^"]+-[^"]+".*upstream: "[^"]+)"/g,
    `$1${scenario && `+${scenario}`}"`,
  );
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration,
    taskLimits: { ...quick, ...limits },
    yuan: '200',
  });
  return { ...running, sim };
}

async function shown(running: Running, id: string): Promise<Shown> {
  const response = await fetch(`${running.url}${path}/${id}`, {
    headers: { authorization: `Bearer ${running.key}` },
  });
  return (await response.json()) as Shown;
}

async function submitted(running: Running, body: object): Promise<string> {
  const response = await running.post(path, { prompt: 'A cat on a roof', async: true, ...body });
  expect(response.status, JSON.stringify(body) + (await response.clone().text())).toBe(200);
  return ((await response.json()) as Shown).id;
}

async function ended(running: Running, id: string): Promise<Shown> {
  let task = await shown(running, id);
  await expect
    .poll(async () => (task = await shown(running, id)).status, { timeout: 15_000, interval: 50 })
    .toMatch(/completed|failed/);
  return task;
}

/** A model, a wish, what it costs, what the film is like, and what the vendor was asked. */
const films: readonly (readonly [model: string, wish: object, yuan: string, asked: RegExp])[] = [
  ['veo-3.1-fast', { duration: 8, size: '1080x1920', image: png }, '6.816', /"durationSeconds":8/],
  ['veo-3.1-fast', { duration: 8, reference_images: [png] }, '5.68', /"referenceType":"asset"/],
  ['veo-3.1', { duration: 6, audio: false }, '17.04', /"generateAudio":false/],
  ['kling-v3', { duration: 15, audio: true }, '13.419', /"sound":"on"/],
  ['kling-v3', { duration: 5, resolution: '1080p', image: png }, '3.976', /"mode":"pro"/],
  ['MiniMax-Hailuo-02', { duration: 6, resolution: '1080p' }, '3.479', /"resolution":"1080P"/],
  ['MiniMax-H3', { duration: 5, aspect_ratio: '9:16' }, '4.615', /"ratio":"9:16"/],
  ['wan2.6-t2v', { duration: 10, size: '1920x1080' }, '10.65', /"size":"1920\*1080"/],
  ['wan2.7-i2v', { duration: 5, image: png }, '3.55', /"type":"first_frame"/],
  // 1280 × 720 × 121 / 1024 tokens.
  ['seedance-2.0-fast', { duration: 5 }, '4.329864', /"duration":5/],
  [
    'grok-imagine-video',
    { duration: 5, resolution: '480p', image: png },
    '1.7892',
    /"resolution":"480p"/,
  ],
  ['gen4.5', { duration: 5, aspect_ratio: '9:16' }, '4.26', /"ratio":"720:1280"/],
  ['cogvideox-3', { duration: 10, size: '1280x720' }, '1', /"size":"1280x720"/],
  ['viduq3-turbo', { duration: 15, resolution: '1080p' }, '8.52', /"resolution":"1080p"/],
  ['jimeng-3.0', { duration: 10, aspect_ratio: '21:9' }, '2.8', /"frames":241/],
  ['sora-2', { duration: 20 }, '14.2', /"model":"doubao-seedance-2-5-pro"/],
];

test('every vendor’s film is asked for, waited for, copied, and charged exactly', async () => {
  const running = await studio();
  const tasks = await Promise.all(
    films.map(async ([model, wish, yuan, asked]) => ({
      model,
      yuan,
      asked,
      id: await submitted(running, { model, ...wish }),
    })),
  );
  const submissions = running.sim.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => body.toString('utf8'));
  for (const { id, model, yuan, asked } of tasks) {
    const task = await ended(running, id);
    expect(task, model).toMatchObject({ status: 'completed', model, progress: 100 });
    const film = await fetch(String(task['video_url']));
    expect(film.headers.get('content-type')).toBe('video/mp4');
    expect(
      Buffer.from(await film.arrayBuffer())
        .subarray(4, 8)
        .toString('latin1'),
      model,
    ).toBe('ftyp');
    const [record] = await running.gateway.database.query('SELECT cost FROM usage WHERE id=$1', [
      id,
    ]);
    expect(record?.['cost'], model).toBe(BigInt(Math.round(Number(yuan) * 1e9)));
    expect(
      submissions.some((body) => asked.test(body)),
      String(asked),
    ).toBe(true);
  }
  // No vendor's address or id is told. The simulators' ids are an encoded list that begins with
  // the time: 't-' and base64url of '[1'. A signature may have 't-' in it by chance.
  const told = JSON.stringify(await Promise.all(tasks.map(({ id }) => shown(running, id))));
  expect(told).not.toMatch(/\/films\/|\/gemini\/|t-WzE/);
  await running.expectBooks();
}, 60_000);

const each: readonly (readonly [string, object])[] = [
  ['veo-3.1-fast', { duration: 4 }],
  ['veo-3.1', { duration: 4 }],
  ['kling-v3', { duration: 5 }],
  ['MiniMax-Hailuo-02', { duration: 6 }],
  ['MiniMax-H3', { duration: 5 }],
  ['wan2.6-t2v', { duration: 5 }],
  ['seedance-2.0-fast', { duration: 5 }],
  ['grok-imagine-video', { duration: 5 }],
  ['gen4.5', { duration: 5 }],
  ['cogvideox-3', { duration: 5 }],
  ['viduq3-turbo', { duration: 5 }],
  ['jimeng-3.0', { duration: 5 }],
];

async function all(
  scenario: string,
): Promise<{ readonly running: Studio; readonly tasks: readonly Shown[] }> {
  const running = await studio(scenario);
  const ids = await Promise.all(
    each.map(([model, wish]) => submitted(running, { model, ...wish })),
  );
  return { running, tasks: await Promise.all(ids.map((id) => ended(running, id))) };
}

describe('of every vendor', () => {
  test('what fails costs nothing', async () => {
    const { running, tasks } = await all('sim-task-failed');
    for (const task of tasks) {
      expect(task, String(task['model'])).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/could not be generated/),
      });
      expect(task).not.toHaveProperty('video_url');
    }
    expect(await running.balance()).toBe('200.00');
    await running.expectBooks();
  }, 60_000);

  test('what is moderated says so, and costs nothing', async () => {
    const { running, tasks } = await all('sim-task-moderated');
    for (const task of tasks)
      expect(task, String(task['model'])).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/content policy/),
      });
    expect(await running.balance()).toBe('200.00');
    await running.expectBooks();
  }, 60_000);

  test.each(['sim-task-odd', 'sim-task-html', 'sim-task-401', 'sim-task-late'])(
    'a task is made all the same: %s',
    async (scenario) => {
      const { running, tasks } = await all(scenario);
      for (const task of tasks)
        expect(task, String(task['model'])).toMatchObject({ status: 'completed' });
      await running.expectBooks();
    },
    60_000,
  );

  test('what does not end in its time is stopped where it can be, and costs nothing', async () => {
    const running = await studio('sim-task-stuck', { ageMs: 1_500 });
    const ids = await Promise.all(
      each.map(([model, wish]) => submitted(running, { model, ...wish })),
    );
    for (const id of ids)
      expect(await ended(running, id)).toMatchObject({
        status: 'failed',
        error: 'Task timed out and was cancelled.',
      });
    const stops = running.sim.requests.filter(
      ({ method, path: at }) => method === 'DELETE' || at.endsWith('/cancel'),
    );
    expect(new Set(stops.map(({ vendor }) => vendor))).toEqual(
      new Set(['qwen', 'volcengine', 'runway', 'vidu']),
    );
    expect(await running.balance()).toBe('200.00');
    await running.expectBooks();
  }, 60_000);

  test('an empty account or a refused key of ours is no fault of the client', async () => {
    for (const scenario of ['sim-402', 'sim-401', 'sim-429', 'sim-503']) {
      const running = await studio(scenario);
      for (const [model, wish] of each) {
        const response = await running.post(path, { model, prompt: 'A cat', async: true, ...wish });
        expect(response.status, `${model} ${scenario} ${await response.clone().text()}`).toBe(503);
      }
      expect(await running.balance()).toBe('200.00');
    }
  }, 60_000);

  test('a prompt that is refused at the door is the client’s 400', async () => {
    const running = await studio('sim-policy');
    for (const [model, wish] of each) {
      const response = await running.post(path, { model, prompt: 'A cat', async: true, ...wish });
      expect(response.status, `${model} ${await response.clone().text()}`).toBe(400);
    }
  }, 60_000);
});

test('a service account’s token is shown to Vertex at every question', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const configuration = `
groups: [{ name: default, price_multiplier: 1.0 }]
models: [{ id: veo, owned_by: google, kind: video, durations: [4], price: { second: 1 } }]
channels: [{ name: v, vendor: vertex, base_url: "${sim.url}/vertex/v1", api_key: ${JSON.stringify(simServiceAccount(sim.url))}, groups: [default], models: [{ id: veo, upstream: veo-3.1-generate-001 }] }]`;
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration,
    taskLimits: quick,
  });
  expect(
    await ended(running, await submitted(running, { model: 'veo', duration: 4 })),
  ).toMatchObject({ status: 'completed' });
  expect(await running.balance()).toBe('96.00');
});

test('a length that no channel makes is refused with those that are made', async () => {
  const running = await studio();
  const refused = async (body: object) => {
    const response = await running.post(path, { prompt: 'A cat', async: true, ...body });
    const { error } = (await response.json()) as { readonly error: Record<string, unknown> };
    return { status: response.status, param: error['param'], message: error['message'] };
  };
  expect(await refused({ model: 'veo-3.1-fast', duration: 5 })).toEqual({
    status: 400,
    param: 'duration',
    message: expect.stringContaining('4, 6, 8'),
  });
  expect(await refused({ model: 'veo-3.1-fast', duration: 6, resolution: '4k' })).toMatchObject({
    status: 400,
    param: 'duration',
    message: expect.stringContaining('at 4k are 8 seconds'),
  });
  expect(await refused({ model: 'sora-2', duration: 12 })).toMatchObject({
    status: 400,
    message: expect.stringContaining('5, 10, 15, 20'),
  });
  expect(
    await refused({ model: 'sora-2', duration: 20, size: '1080x1080', resolution: '1080p' }),
  ).toMatchObject({
    status: 400,
    param: 'size',
  });
  expect(running.sim.requests).toEqual([]);
});
