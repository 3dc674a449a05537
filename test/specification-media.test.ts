import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { imageOf } from '../sim/media/png.ts';
import { sounds } from '../sim/media/sounds.ts';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { films, quickTasks, startFilmVendor } from './support/film-vendor.ts';
import { imageForm, type Made, made, sendForm, shown } from './support/images.ts';
import { type Running, startRunning } from './support/running.ts';

/**
 * The interface's sentences on pictures, speech and videos, in their order: what each promises, and
 * no more.
 */

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const videos = '/v1/video/generations';
const house = imageOf('a house', 512, 512);
const mask = imageOf('a hole', 512, 512, true);
const speech = sounds['mp3']?.make('Say it with a voice.') ?? Buffer.alloc(0);

forEachDatabase((_, __, fresh) => {
  // Without default models: then `model` is required, as the specification says.
  const configuration = (): string => simConfig(sim.url).replace(/^settings: .*$/m, '');
  const start = async (): Promise<Running> =>
    startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(),
      yuan: '1000',
      taskLimits: quickTasks,
    });

  describe('POST /v1/images/generations', () => {
    const paint = async (running: Running, body: object): Promise<Made> =>
      made(await running.post(generations, { prompt: 'a cat', ...body }));

    test('model and prompt are required', async () => {
      const running = await start();
      expect(
        (await made(await running.post(generations, { prompt: 'a cat' }))).error,
      ).toMatchObject({
        param: 'model',
        code: 'invalid_request_error',
      });
      const { error } = await made(await running.post(generations, { model: 'dall-e-3' }));
      expect(error).toMatchObject({ param: 'prompt', code: 'invalid_request_error' });
    });

    test('created is a Unix time in seconds, and data has one item per image, each with its url when the format is url', async () => {
      const running = await start();
      const { created, data } = await paint(running, {
        model: 'dall-e-2',
        n: 2,
        response_format: 'url',
      });
      expect(Number.isInteger(created) && Math.abs(created - Date.now() / 1_000) < 60).toBe(true);
      expect(data.map((item) => Object.keys(item))).toEqual([['url'], ['url']]);
      for (const item of data)
        expect(await shown(item)).toMatchObject({ words: expect.stringContaining('a cat') });
    });

    test('n is 1 when it is not said', async () => {
      expect((await paint(await start(), { model: 'dall-e-3' })).data).toHaveLength(1);
    });

    test('quality is standard or hd', async () => {
      const running = await start();
      for (const quality of ['standard', 'hd'])
        expect((await paint(running, { model: 'dall-e-3', quality })).data).toHaveLength(1);
      expect((await paint(running, { model: 'dall-e-3', quality: 'best' })).error).toMatchObject({
        param: 'quality',
      });
    });

    test('response_format is url or b64_json', async () => {
      const running = await start();
      const [item = {}] = (await paint(running, { model: 'dall-e-3', response_format: 'b64_json' }))
        .data;
      expect([Object.keys(item), (await shown(item)).words]).toEqual([['b64_json'], 'a cat']);
      expect(
        (await paint(running, { model: 'dall-e-3', response_format: 'gif' })).error,
      ).toMatchObject({ param: 'response_format' });
    });

    test.each([
      ['dall-e-3', ['1024x1024', '1792x1024', '1024x1792']],
      ['dall-e-2', ['256x256', '512x512', '1024x1024']],
      ['gpt-image-1', ['1024x1024', '1536x1024', '1024x1536']],
    ])('%s makes the sizes of its row, and refuses others', async (model, sizes) => {
      const running = await start();
      for (const size of sizes)
        expect((await paint(running, { model, size })).error, size).toBeUndefined();
      for (const size of ['640x640', '1024', '1024*1024', 'x'])
        expect((await paint(running, { model, size })).error, size).toMatchObject({
          param: 'size',
          code: 'invalid_request_error',
        });
    });

    test.each(['flux-2-pro', 'fal-ai/flux/dev', 'gemini-3-pro-image'])(
      '%s makes several shapes',
      async (model) => {
        const running = await start();
        for (const size of ['1024x1024', '1792x1024', '1024x1792']) {
          const { data, error } = await paint(running, { model, size, response_format: 'url' });
          expect(error, size).toBeUndefined();
          const { width = 0, height = 0 } = await shown(data[0] ?? {});
          expect(Math.sign(width - height), size).toBe(
            Math.sign(Number(size.split('x')[0]) - Number(size.split('x')[1])),
          );
        }
      },
    );

    test('a model of 4K output makes that', async () => {
      const [item = {}] = (
        await paint(await start(), {
          model: 'gemini-3-pro-image',
          size: '4096x4096',
          response_format: 'url',
        })
      ).data;
      expect(await shown(item)).toMatchObject({ width: 4_096, height: 4_096 });
    });

    test('a generation that failed is 500 server_error, says to change the prompt, and costs nothing', async () => {
      const running = await start();
      const reply = await running.post(generations, {
        model: 'flux-2-pro',
        prompt: 'a cat [sim-task-failed]',
      });
      const { error } = await made(reply);
      expect([reply.status, error]).toEqual([
        500,
        expect.objectContaining({
          code: 'server_error',
          message: expect.stringContaining('Change the prompt'),
        }),
      ]);
      expect(await running.balance()).toBe('1000.00');
    });
  });

  describe('POST /v1/images/edits', () => {
    const edit = async (
      running: Running,
      fields: Record<string, string>,
      files: Parameters<typeof imageForm>[1],
    ): Promise<Made> => made(await sendForm(running, edits, imageForm(fields, files)));

    test('model, image and prompt are required', async () => {
      const running = await start();
      expect((await edit(running, { prompt: 'red' }, [['image', house]])).error?.param).toBe(
        'model',
      );
      expect((await edit(running, { model: 'dall-e-2', prompt: 'red' }, [])).error?.param).toBe(
        'image',
      );
      expect((await edit(running, { model: 'dall-e-2' }, [['image', house]])).error?.param).toBe(
        'prompt',
      );
    });

    test('the answer is an image result, of n images of the asked size', async () => {
      const running = await start();
      const { created, data } = await edit(
        running,
        { model: 'dall-e-2', prompt: 'red', n: '2', size: '512x512' },
        [['image', house]],
      );
      expect([Number.isInteger(created), data.length]).toEqual([true, 2]);
      for (const item of data)
        expect([Object.keys(item), (await shown(item)).words]).toEqual([
          ['url'],
          expect.stringContaining('red'),
        ]);
    });

    test('a mask marks the area to edit', async () => {
      const files = [
        ['image', house],
        ['mask', mask],
      ] as const;
      expect(
        (await edit(await start(), { model: 'gpt-image-2', prompt: 'fill' }, files)).data,
      ).toHaveLength(1);
      expect(sim.requests.at(-1)?.body.includes('name="mask"')).toBe(true);
    });
  });

  describe('POST /v1/audio/transcriptions', () => {
    const hear = (running: Running, key = running.key): Promise<Response> => {
      const form = new FormData();
      form.append('model', 'whisper-1');
      form.append('file', new Blob([new Uint8Array(speech)]), 'a.mp3');
      return sendForm({ url: running.url, key }, '/v1/audio/transcriptions', form);
    };

    test('speech is recognised and written down', async () => {
      const reply = await hear(await start());
      expect([reply.status, await reply.json()]).toEqual([
        200,
        expect.objectContaining({ text: 'Say it with a voice.' }),
      ]);
    });

    test('a wrong key is 401 invalid_api_key', async () => {
      const reply = await hear(await start(), 'sk-wrong');
      expect([reply.status, (await made(reply)).error?.code]).toEqual([401, 'invalid_api_key']);
    });
  });

  describe('POST /v1/video/generations', () => {
    const wish = { model: 'sora-2', prompt: 'a cat', async: true };
    const told = async (reply: Response) => ({
      status: reply.status,
      ...((await reply.json()) as { error?: { param: string; code: string } }),
    });

    test.each(['sora-2', 'sora-2-pro'])(
      '%s is submitted in 5, 10, 15 and 20 seconds, and in no other length',
      async (model) => {
        const running = await start();
        for (const duration of [undefined, 5, 10, 15, 20])
          expect(
            (await running.post(videos, { ...wish, model, duration })).status,
            String(duration),
          ).toBe(200);
        for (const duration of [0, 6, 25, 7.5, '5'])
          expect(
            await told(await running.post(videos, { ...wish, model, duration })),
            String(duration),
          ).toMatchObject({
            status: 400,
            error: { param: 'duration' },
          });
      },
    );

    test('model, prompt and async are required, and async is true', async () => {
      const running = await start();
      for (const [param, more] of [
        ['model', { model: undefined }],
        ['prompt', { prompt: undefined }],
        ['async', { async: undefined }],
        ['async', { async: false }],
      ] as const)
        expect(await told(await running.post(videos, { ...wish, ...more })), param).toMatchObject({
          status: 400,
          error: { param },
        });
    });

    test('the answer is an id, the status pending and a Unix time in seconds', async () => {
      const task = (await (await (await start()).post(videos, wish)).json()) as Record<
        string,
        unknown
      >;
      expect(task).toEqual({
        id: expect.any(String),
        status: 'pending',
        created_at: expect.any(Number),
      });
      expect(Math.abs(Number(task['created_at']) - Date.now() / 1_000)).toBeLessThan(60);
    });
  });

  describe('GET /v1/video/generations/{task_id}', () => {
    interface Shown {
      readonly id: string;
      readonly status: string;
      readonly video_url?: string;
      readonly error?: string;
    }

    test('pending, then processing, then completed with its address, which needs no key; 24 hours later it cannot be queried', async () => {
      const { running, vendor, look, id } = await submitted();
      vendor.state = { status: 'queued' };
      expect(await look()).toMatchObject({ id, status: 'pending' });
      vendor.state = { status: 'in_progress' };
      await expect.poll(async () => (await look()).status).toBe('processing');
      vendor.state = { status: 'completed' };
      await expect.poll(async () => (await look()).status).toBe('completed');
      const { video_url: url = '' } = await look();
      expect((await fetch(url)).headers.get('content-type')).toBe('video/mp4');
      await running.gateway.database.query('UPDATE task SET created_at=created_at-86400000');
      expect((await running.get(id)).status).toBe(404);
    });

    test('failed, in a successful answer that says why, and costs nothing', async () => {
      const { running, vendor, look } = await submitted();
      vendor.state = { status: 'failed', error: { code: 'moderation_blocked', message: 'no' } };
      await expect.poll(async () => (await look()).status).toBe('failed');
      expect((await look()).error).toMatch(/prompt/);
      expect(await running.balance()).toBe('100.00');
    });

    test('one that stays unfinished is cancelled by itself, and costs nothing', async () => {
      const { running, vendor, look } = await submitted(
        'settings: { video: { limit_seconds: 1 } }',
      );
      await expect.poll(async () => (await look()).status, { timeout: 10_000 }).toBe('failed');
      expect(vendor.cancelled).toHaveLength(1);
      expect(await running.balance()).toBe('100.00');
    });

    test('one that nobody submitted is not found', async () => {
      const { running } = await submitted();
      expect((await running.get('video_nobody')).status).toBe(404);
    });

    async function submitted(settings = '') {
      const vendor = await startFilmVendor();
      vendor.state = { status: 'queued' };
      const configuration = `${settings}\n${films(vendor.url)}`;
      const gateway = await startRunning({
        databaseUrl: (await fresh(migrations)).url,
        configuration,
        taskLimits: quickTasks,
      });
      const { id } = (await (
        await gateway.post(videos, { model: 'sora-2', prompt: 'a cat', async: true })
      ).json()) as Shown;
      const get = (of: string) =>
        fetch(`${gateway.url}${videos}/${of}`, {
          headers: { authorization: `Bearer ${gateway.key}` },
        });
      const look = async (): Promise<Shown> => {
        const reply = await get(id);
        expect(reply.status).toBe(200);
        return (await reply.json()) as Shown;
      };
      return { running: { ...gateway, get }, vendor, look, id };
    }
  });
});
