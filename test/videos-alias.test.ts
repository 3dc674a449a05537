import OpenAI, { toFile } from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import { startSim } from '../sim/index.ts';
import { mp4Of } from '../sim/media/mp4.ts';
import { migrations } from '../src/app/schema.ts';
import { sqliteUrl } from './databases.ts';
import { quickTasks } from './support/film-vendor.ts';
import { type Running, startRunning } from './support/running.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/**
 * `sora-2` on a server of OpenAI's format that makes every length, `sora-2-openai` on OpenAI
 * itself; `scenario` models fail in their way.
 */
const configuration = (sim: string): string => `
models:
  - { id: sora-2, owned_by: openai, kind: video, durations: [5, 10, 15, 20], price: { second: 0.7 } }
  - { id: sora-2-openai, owned_by: openai, kind: video, durations: [4, 8, 12], price: { second: 0.7, by: { 1792x1024: 3 } } }
  - { id: failed, owned_by: openai, kind: video, price: { second: 0.7 } }
  - { id: moderated, owned_by: openai, kind: video, price: { second: 0.7 } }
  - { id: words, owned_by: openai, kind: video, modalities: { in: [text], out: [video] }, price: { second: 0.7 } }
channels:
  - { name: resold, vendor: openai-compatible, base_url: "${sim}/new-api/v1", api_key: sk-sim, models: [{ id: sora-2, upstream: some-video }, { id: moderated, upstream: some+sim-task-moderated }, words] }
  - { name: openai, vendor: openai, base_url: "${sim}/openai/v1", api_key: sk-sim, models: [{ id: sora-2-openai, upstream: sora-2 }, { id: failed, upstream: sora-2+sim-task-failed }] }
`;

interface Studio extends Running {
  readonly openai: OpenAI;
  readonly sim: Awaited<ReturnType<typeof startSim>>;
}

async function studio(): Promise<Studio> {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: configuration(sim.url),
    taskLimits: quickTasks,
  });
  return {
    ...running,
    sim,
    openai: new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 }),
  };
}

async function ended({ openai }: Studio, id: string): Promise<OpenAI.Videos.Video> {
  await expect
    .poll(async () => (await openai.videos.retrieve(id)).status, { timeout: 10_000, interval: 20 })
    .toMatch(/completed|failed/);
  return openai.videos.retrieve(id);
}

test('the official package makes, waits for, downloads, lists and deletes videos', async () => {
  const at = await studio();
  const { openai } = at;
  const made = await openai.videos.create({
    model: 'sora-2-openai',
    prompt: 'A fox',
    seconds: '8',
    size: '1792x1024',
  });
  expect(made).toMatchObject({
    ...{
      object: 'video',
      model: 'sora-2-openai',
      status: 'queued',
      progress: 0,
      prompt: 'A fox',
      seconds: '8',
      size: '1792x1024',
    },
    ...{ completed_at: null, remixed_from_video_id: null, error: null },
  });
  const video = await ended(at, made.id);
  expect(video).toMatchObject({
    id: made.id,
    status: 'completed',
    progress: 100,
    seconds: '8',
    size: '1792x1024',
    error: null,
    prompt: null,
  });
  expect(video.completed_at).toBeGreaterThanOrEqual(video.created_at);
  const content = await openai.videos.downloadContent(made.id);
  expect(content.headers.get('content-type')).toBe('video/mp4');
  const expected = mp4Of({ seconds: 8, width: 1792, height: 1024 });
  expect(Buffer.from(await content.arrayBuffer()).equals(expected)).toBe(true);
  expect(await at.balance()).toBe('76.00');
  const second = await openai.videos.create({ model: 'sora-2', prompt: 'A hare' });
  expect(second.seconds).toBe('5');
  await ended(at, second.id);
  const all: string[] = [];
  for await (const one of openai.videos.list({ limit: 1 })) all.push(one.id);
  expect(all).toEqual([second.id, made.id]);
  expect((await openai.videos.list({ order: 'asc' })).data.map(({ id }) => id)).toEqual([
    made.id,
    second.id,
  ]);
  expect(await openai.videos.delete(made.id)).toEqual({
    id: made.id,
    object: 'video.deleted',
    deleted: true,
  });
  await expect(openai.videos.retrieve(made.id)).rejects.toMatchObject({
    status: 404,
    code: 'task_not_found',
  });
  await expect(openai.videos.downloadContent(made.id)).rejects.toMatchObject({ status: 404 });
  expect(
    at.sim.requests
      .filter(({ vendor, path }) => vendor !== '' && path.includes('films'))
      .every(({ headers }) => headers.authorization === undefined),
  ).toBe(true);
  await at.expectBooks();
});

test('a picture to begin with goes along, as a file and by its address', async () => {
  const { openai, sim } = await studio();
  /** The last submission: what is under way is asked for meanwhile. */
  const submitted = (): unknown =>
    JSON.parse(String(sim.requests.findLast(({ method }) => method === 'POST')?.body));
  // The package sends what it reads from a disk as a stream of bytes.
  for (const type of ['image/png', 'application/octet-stream']) {
    const input_reference = await toFile(png, 'a.png', { type });
    await openai.videos.create({
      model: 'sora-2-openai',
      prompt: 'It moves',
      seconds: '4',
      input_reference,
    });
    expect(submitted()).toMatchObject({
      input_reference: { image_url: `data:image/png;base64,${png.toString('base64')}` },
    });
  }
  const text = openai.videos.create({
    model: 'sora-2-openai',
    prompt: 'x',
    input_reference: await toFile(Buffer.from('GIF'), 'a.png', { type: 'image/png' }),
  });
  await expect(text).rejects.toMatchObject({ status: 400, param: 'input_reference' });
  await openai.videos.create({
    model: 'sora-2-openai',
    prompt: 'It moves',
    seconds: '4',
    input_reference: { image_url: 'https://example.com/a.png' },
  });
  expect(submitted()).toMatchObject({
    input_reference: { image_url: 'https://example.com/a.png' },
  });
});

test('an empty field of a form is absent', async () => {
  const { url, key } = await studio();
  const form = new FormData();
  for (const [name, value] of Object.entries({
    model: 'sora-2',
    prompt: 'x',
    seconds: '',
    size: '',
  }))
    form.set(name, value);
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/v1/videos`, { method: 'POST', headers, body: form });
  expect([answer.status, await answer.json()]).toMatchObject([200, { size: null }]);
});

test('a video whose client names no size has the one that its vendor makes, if that is known', async () => {
  const { openai } = await studio();
  const sizeOf = async (more: object) => {
    const { id, size } = await openai.videos.create({ prompt: 'x', seconds: '4', ...more });
    return [size, (await openai.videos.retrieve(id)).size];
  };
  expect(await sizeOf({ model: 'sora-2-openai' })).toEqual(['720x1280', '720x1280']);
  expect(await sizeOf({ model: 'sora-2-openai', size: '1280x720' })).toEqual([
    '1280x720',
    '1280x720',
  ]);
  expect(await sizeOf({ model: 'words' })).toEqual([null, null]);
});

test('a file in a field of another name is refused, so that no video is made without it', async () => {
  const { url, key, gateway } = await studio();
  for (const field of ['image', 'input_image', 'file', 'input_reference[]']) {
    const form = new FormData();
    form.set('model', 'sora-2');
    form.set('prompt', 'It moves');
    form.set(field, new Blob([new Uint8Array(png)], { type: 'image/png' }), 'a.png');
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/v1/videos`, { method: 'POST', headers, body: form });
    expect([answer.status, await answer.json()], field).toMatchObject([
      400,
      { error: { param: field, message: expect.stringContaining('input_reference') } },
    ]);
  }
  expect(await gateway.database.query('SELECT id FROM task')).toEqual([]);
});

test('why a video failed is told in both ways', async () => {
  const at = await studio();
  for (const [model, code] of [
    ['failed', 'generation_failed'],
    ['moderated', 'content_policy_violation'],
  ] as const) {
    const { id } = await at.openai.videos.create({ model, prompt: 'A fox', seconds: '4' });
    expect(await ended(at, id)).toMatchObject({
      status: 'failed',
      error: { code, message: expect.any(String) },
      completed_at: null,
    });
    const shown = (await (
      await fetch(`${at.url}/v1/video/generations/${id}`, {
        headers: { authorization: `Bearer ${at.key}` },
      })
    ).json()) as object;
    expect(shown).toMatchObject({ status: 'failed', error: expect.any(String) });
    await expect(at.openai.videos.downloadContent(id)).rejects.toMatchObject({
      status: 400,
      param: 'video_id',
    });
  }
  expect(await at.balance()).toBe('100.00');
  await at.expectBooks();
});

test('what is wrong is a 400 that names it, and a vendor’s own refusal is one, too', async () => {
  const at = await studio();
  const { openai } = at;
  const wrong: readonly (readonly [object, object])[] = [
    [
      { model: 'sora-2', prompt: '' },
      { status: 400, param: 'prompt' },
    ],
    [
      { model: 'sora-2', prompt: 'x', seconds: 'long' },
      { status: 400, param: 'seconds' },
    ],
    [
      { model: 'sora-2', prompt: 'x', seconds: '7' },
      {
        status: 400,
        param: 'seconds',
        message: expect.stringContaining('4, 5, 8, 10, 12, 15, 20'),
      },
    ],
    [
      { model: 'sora-2', prompt: 'x', size: 'large' },
      { status: 400, param: 'size' },
    ],
    [
      { model: 'sora-2', prompt: 'x', input_reference: { file_id: 'file_1' } },
      { status: 400, param: 'input_reference' },
    ],
    [
      { model: 'words', prompt: 'x', input_reference: { image_url: 'https://example.com/a.png' } },
      { status: 400, param: 'input_reference' },
    ],
    [
      { model: 'nobody', prompt: 'x' },
      { status: 404, code: 'model_not_found' },
    ],
    [
      { model: 'sora-2-openai', prompt: 'x', size: '100x100' },
      { status: 400, message: expect.stringContaining('720x1280') },
    ],
  ];
  for (const [body, expected] of wrong)
    await expect(
      openai.videos.create(body as OpenAI.VideoCreateParams),
      JSON.stringify(body),
    ).rejects.toMatchObject(expected);
  await expect(openai.videos.retrieve('video_nobody')).rejects.toMatchObject({
    status: 404,
    code: 'task_not_found',
  });
  const slow = await openai.videos.create({ model: 'sora-2', prompt: 'x' });
  await expect(openai.videos.delete(slow.id)).rejects.toMatchObject({
    status: 400,
    param: 'video_id',
  });
  await expect(
    openai.videos.downloadContent(slow.id, { variant: 'thumbnail' }),
  ).rejects.toMatchObject({ status: 400, param: 'variant' });
  await ended(at, slow.id);
  await at.expectBooks();
});

test('a submission with an Idempotency-Key happens once, as JSON and as a form', async () => {
  const at = await studio();
  const once = { headers: { 'Idempotency-Key': 'one' } };
  const body = { model: 'sora-2', prompt: 'A fox', seconds: '8' } as const;
  const first = await at.openai.videos.create(body, once);
  expect((await at.openai.videos.create(body, once)).id).toBe(first.id);
  await expect(at.openai.videos.create({ ...body, seconds: '4' }, once)).rejects.toMatchObject({
    status: 400,
    code: 'idempotency_key_reuse',
  });
  const plain = { model: 'sora-2', prompt: 'A fox', duration: 5, async: true };
  const ids = await Promise.all(
    [1, 2, 3].map(
      async () =>
        (await (
          await at.post('/v1/video/generations', plain, { headers: { 'idempotency-key': 'two' } })
        ).json()) as { id: string },
    ),
  );
  expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
  await ended(at, first.id);
  await ended(at, ids[0]?.id ?? '');
  expect(await at.usage()).toHaveLength(2);
  await at.expectBooks();
});

test('a range of a video is given to its owner, and nothing to anybody else', async () => {
  const at = await studio();
  const { id } = await at.openai.videos.create({ model: 'sora-2', prompt: 'A fox' });
  await ended(at, id);
  const get = (key: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${at.url}/v1/videos/${id}/content`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  const part = await get(at.key, { range: 'bytes=4-7' });
  expect([part.status, await part.text()]).toEqual([206, 'ftyp']);
  const { newCustomer } = await import('./support/customer.ts');
  const { key: other } = await newCustomer(at.gateway.database, 1n);
  for (const path of [
    `/v1/videos/${id}`,
    `/v1/videos/${id}/content`,
    `/v1/video/generations/${id}`,
  ]) {
    const response = await fetch(at.url + path, {
      headers: { authorization: `Bearer ${other.secret}` },
    });
    expect([path, response.status]).toEqual([path, 404]);
  }
  const list = (await (
    await fetch(`${at.url}/v1/videos`, { headers: { authorization: `Bearer ${other.secret}` } })
  ).json()) as object;
  expect(list).toEqual({
    object: 'list',
    data: [],
    first_id: null,
    last_id: null,
    has_more: false,
  });
});

test('no word of a vendor reaches a client', async () => {
  const at = await studio();
  const { id } = await at.openai.videos.create({ model: 'sora-2', prompt: 'A fox' });
  const told =
    JSON.stringify(await ended(at, id)) +
    (await (
      await fetch(`${at.url}/v1/video/generations/${id}`, {
        headers: { authorization: `Bearer ${at.key}` },
      })
    ).text());
  // 't-WzE' begins a simulator's id: 't-' and base64url of '[1'. A signature may have 't-' by
  // chance.
  for (const word of [at.sim.url, 'new-api', 'some-video', 'films', 't-WzE'])
    expect(told).not.toContain(word);
});
