import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { imageModels } from '../sim/images/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { readForm } from '../sim/media/form.ts';
import { imageOf } from '../sim/media/png.ts';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { imageEvents, imageForm, made, sendForm, shown } from './support/images.ts';
import { type Running, startRunning } from './support/running.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());
beforeEach(() => sim.clear());

const house = imageOf('a house', 640, 480);
const hole = imageOf('a hole', 640, 480, true);
const dataUrl = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString('base64')}`;
const generations = '/v1/images/generations';
const edits = '/v1/images/edits';
const sent = (i = -1) => JSON.parse(sim.requests.at(i)?.body.toString('utf8') ?? '{}');

onSqlite((_, __, fresh) => {
  const start = async (yuan = '100'): Promise<Running> =>
    startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: simConfig(sim.url),
      yuan,
    });

  test('every model that makes pictures makes one, at an address of ours that needs no key', {
    timeout: 60_000,
  }, async () => {
    const running = await start();
    for (const { id } of imageModels.filter(
      ({ upstream }) => upstream !== 'qwen-image-edit-plus',
    )) {
      const reply = await running.post(generations, {
        model: id,
        prompt: `a ${id}`,
        size: '1024x1024',
        response_format: 'url',
      });
      const { created, data, error } = await made(reply);
      expect(error, id).toBeUndefined();
      expect(created, id).toBeGreaterThan(1_700_000_000);
      expect(data, id).toHaveLength(1);
      expect(data[0]?.url, id).toMatch(new RegExp(`^${running.url}/files/file_`));
      expect(await shown(data[0] ?? {}), id).toMatchObject({
        words: expect.stringContaining(`a ${id}`),
        format: 'PNG',
      });
    }
    await running.expectBooks();
  });

  test('every model that sees pictures edits one, from a form and from JSON, and gives bytes when bytes are asked for', {
    timeout: 60_000,
  }, async () => {
    const running = await start();
    for (const { id } of imageModels.filter(({ reads }) => reads)) {
      const fields = { model: id, prompt: `paint ${id} red`, response_format: 'b64_json' };
      const form = await made(
        await sendForm(running, edits, imageForm(fields, [['image', house]])),
      );
      expect(form.error, id).toBeUndefined();
      expect(form.data[0]?.url, id).toBeUndefined();
      expect(await shown(form.data[0] ?? {}), id).toMatchObject({
        words: expect.stringContaining(`paint ${id} red`),
      });
      const json = await made(
        await running.post(edits, { ...fields, images: [{ image_url: dataUrl(house) }] }),
      );
      expect(json.error, id).toBeUndefined();
      expect(await shown(json.data[0] ?? {}), id).toMatchObject({
        words: expect.stringContaining(`paint ${id} red`),
      });
    }
    await running.expectBooks();
  });

  describe('what the specification says of image generation', () => {
    test.each([
      ['dall-e-3', ['1024x1024', '1792x1024', '1024x1792']],
      ['dall-e-2', ['256x256', '512x512', '1024x1024']],
      ['gpt-image-1', ['1024x1024', '1536x1024', '1024x1536']],
    ])(
      'the sizes of %s are those of the table, and others are refused with the list',
      async (model, sizes) => {
        const running = await start();
        for (const size of sizes) {
          const { data, error } = await made(
            await running.post(generations, { model, prompt: 'a cat', size }),
          );
          expect(error, size).toBeUndefined();
          const { width = 0, height = 0 } = await shown(data[0] ?? {});
          const [asked = 1, high = 1] = size.split('x').map(Number);
          expect(width / height, size).toBeCloseTo(asked / high, 5);
          expect(width, size).toBeGreaterThanOrEqual(asked);
        }
        const before = await running.balance();
        const wrong = await running.post(generations, { model, prompt: 'a cat', size: '640x640' });
        expect(wrong.status).toBe(400);
        const { error } = await made(wrong);
        expect(error).toMatchObject({
          type: 'invalid_request_error',
          code: 'invalid_request_error',
          param: 'size',
        });
        for (const size of sizes) expect(error?.message).toContain(size);
        expect(await running.balance()).toBe(before);
      },
    );

    test('one image is made where n is not said, and n of them where it is, each an item with its address', async () => {
      const running = await start();
      const one = await made(
        await running.post(generations, { model: 'dall-e-3', prompt: 'a cat' }),
      );
      expect(one.data).toHaveLength(1);
      for (const model of ['dall-e-3', 'gemini-3-pro-image', 'seedream-4.5']) {
        const { data } = await made(
          await running.post(generations, { model, prompt: 'a cat', n: 3, response_format: 'url' }),
        );
        expect(data, model).toHaveLength(3);
        for (const { url } of data)
          expect((await fetch(url ?? '')).headers.get('content-type'), model).toBe('image/png');
        expect(new Set(data.map(({ url }) => url)).size).toBe(3);
      }
      await running.expectBooks();
    });

    test('quality is standard or hd, and every vendor is told in its own words', async () => {
      const running = await start();
      for (const [quality, told] of [
        ['standard', 'medium'],
        ['hd', 'high'],
      ] as const) {
        const { error } = await made(
          await running.post(generations, { model: 'dall-e-3', prompt: 'a cat', quality }),
        );
        expect(error).toBeUndefined();
        expect(sent()).toMatchObject({
          model: 'gpt-image-2.6-flare',
          quality: told,
          size: '1024x1024',
        });
      }
      const wrong = await running.post(generations, {
        model: 'dall-e-3',
        prompt: 'a cat',
        quality: 'best',
      });
      expect((await made(wrong)).error).toMatchObject({
        param: 'quality',
        message: expect.stringContaining('standard, hd'),
      });
    });

    test("an answer keeps the vendor's facts and usage, also where another model makes the picture", async () => {
      const running = await start();
      for (const model of ['dall-e-3', 'gpt-image-1', 'gpt-image-2']) {
        const answer = await made(await running.post(generations, { model, prompt: 'a cat' }));
        const members = ['quality', 'background', 'output_format', 'usage'];
        expect(Object.keys(answer), model).toEqual(expect.arrayContaining(members));
      }
    });

    test('the format is url or b64_json, and url where nothing is said', async () => {
      const running = await start();
      const ask = async (model: string, more: object) =>
        (await made(await running.post(generations, { model, prompt: 'a cat', ...more })))
          .data[0] ?? {};
      expect(Object.keys(await ask('dall-e-3', {}))).toEqual(['url']);
      expect(Object.keys(await ask('dall-e-3', { response_format: 'url' }))).toEqual(['url']);
      expect(Object.keys(await ask('dall-e-3', { response_format: 'b64_json' }))).toEqual([
        'b64_json',
      ]);
      expect(Object.keys(await ask('seedream-4.5', { response_format: 'b64_json' }))).toEqual([
        'b64_json',
      ]);
      expect(Object.keys(await ask('qwen-image-plus', { response_format: 'b64_json' }))).toEqual([
        'b64_json',
      ]);
      // Whose clients never had to say that they want bytes gets both.
      expect(Object.keys(await ask('gpt-image-1', {})).sort()).toEqual(['b64_json', 'url']);
    });

    test('a model that does not exist is model_not_found, one that makes no pictures is sent elsewhere', async () => {
      const running = await start();
      const unknown = await running.post(generations, { model: 'nothing', prompt: 'a cat' });
      expect([unknown.status, (await made(unknown)).error?.code]).toEqual([404, 'model_not_found']);
      const chat = await running.post(generations, { model: 'gpt-4o-mini', prompt: 'a cat' });
      expect([chat.status, (await made(chat)).error?.message]).toEqual([
        400,
        expect.stringContaining('/v1/chat/completions'),
      ]);
    });
  });

  test('an edit carries its mask and all of its pictures to who knows masks, and says it in words to who does not', async () => {
    const running = await start();
    const files = [
      ['image[]', house],
      ['image[]', house],
      ['mask', hole],
    ] as const;
    const fields = { model: 'gpt-image-2', prompt: 'fill the hole', size: '1536x864', n: '2' };
    const { data } = await made(await sendForm(running, edits, imageForm(fields, files)));
    expect(data).toHaveLength(2);
    const form = readForm(
      sim.requests.at(-1)?.headers ?? {},
      sim.requests.at(-1)?.body ?? Buffer.alloc(0),
    );
    expect(form?.files.map(({ name, type, bytes }) => [name, type, bytes.length])).toEqual([
      ['image[]', 'image/png', house.length],
      ['image[]', 'image/png', house.length],
      ['mask', 'image/png', hole.length],
    ]);
    expect(form?.fields).toEqual({
      model: 'gpt-image-2',
      prompt: 'fill the hole',
      size: '1536x864',
      n: '2',
    });
    await made(
      await sendForm(
        running,
        edits,
        imageForm({ model: 'gemini-3-pro-image', prompt: 'fill the hole' }, [
          ['image', house],
          ['mask', hole],
        ]),
      ),
    );
    const parts: readonly { readonly text?: string; readonly inlineData?: object }[] =
      sent().contents[0].parts;
    expect(parts).toHaveLength(3);
    expect(parts[0]?.text).toContain('mask');
    const none = await sendForm(
      running,
      edits,
      imageForm({ model: 'grok-imagine-image', prompt: 'fill' }, [
        ['image', house],
        ['mask', hole],
      ]),
    );
    expect([none.status, (await made(none)).error?.param]).toEqual([400, 'mask']);
  });

  test('what the vendor does not get is named in a header', async () => {
    const running = await start();
    const ask = async (more: object) => {
      const body = { model: 'gemini-3-pro-image', prompt: 'A fox', n: 1, ...more };
      const answer = await running.post(generations, body);
      expect(answer.status).toBe(200);
      return answer.headers.get('x-tollgate-dropped');
    };
    expect(await ask({ quality: 'hd', size: '1536x1024', background: 'auto' })).toBeNull();
    expect(await ask({ background: 'transparent', user: 'ada' })).toBe('background, user');
  });

  test('an empty field of a form is absent, and no vendor gets it', async () => {
    const running = await start();
    const fields = { model: 'gpt-image-2', prompt: 'A fox', n: '', stream: '', background: '' };
    await made(await sendForm(running, edits, imageForm(fields, [['image', house]])));
    const { headers = {}, body = Buffer.alloc(0) } = sim.requests.at(-1) ?? {};
    expect(readForm(headers, body)?.fields).toEqual({ model: 'gpt-image-2', prompt: 'A fox' });
  });

  test('a variation is made of a picture alone', async () => {
    const running = await start();
    const { data, error } = await made(
      await sendForm(
        running,
        '/v1/images/variations',
        imageForm({ model: 'dall-e-2', n: '2', size: '512x512' }, [['image', house]]),
      ),
    );
    expect(error).toBeUndefined();
    expect(data).toHaveLength(2);
    expect(data[0]?.url).toContain('/files/');
    const blind = await sendForm(
      running,
      '/v1/images/variations',
      imageForm({ model: 'dall-e-3' }, [['image', house]]),
    );
    expect([blind.status, (await made(blind)).error?.param]).toEqual([400, 'image']);
  });

  test('a picture is seen coming about, and who cannot show that gives it as the one event of the stream', async () => {
    const running = await start();
    const ask = async (model: string, more: object = {}) =>
      imageEvents(
        await (
          await running.post(generations, { model, prompt: 'a cat', stream: true, ...more })
        ).text(),
      );
    const shownTo = await ask('gpt-image-2', { partial_images: 2 });
    expect(shownTo.map(({ name }) => name)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(shownTo.every(({ name, data }) => data['type'] === name)).toBe(true);
    expect(shownTo.at(-1)?.data['usage']).toMatchObject({ output_tokens: 7_233 });
    for (const model of ['gemini-3-pro-image', 'seedream-4.5', 'dall-e-3']) {
      const events = await ask(model);
      expect(
        events.map(({ name }) => name),
        model,
      ).toEqual(['image_generation.completed']);
      expect(await shown({ b64_json: String(events[0]?.data['b64_json']) }), model).toMatchObject({
        words: 'a cat',
      });
    }
    const edited = await sendForm(
      running,
      edits,
      imageForm({ model: 'gpt-image-2', prompt: 'a dog', stream: 'true', partial_images: '1' }, [
        ['image', house],
      ]),
    );
    expect(imageEvents(await edited.text()).map(({ name }) => name)).toEqual([
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
    await running.expectBooks();
  });

  test('the event of an image made in one call has every member that strict clients require', {
    timeout: 60_000,
  }, async () => {
    const running = await start();
    const members = {
      b64_json: expect.any(String),
      created_at: expect.any(Number),
      size: expect.stringMatching(/^(?:1024x1024|1024x1536|1536x1024|auto)$/),
      quality: expect.stringMatching(/^(?:low|medium|high|auto)$/),
      background: expect.stringMatching(/^(?:transparent|opaque|auto)$/),
      output_format: 'png',
      usage: {
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
        input_tokens_details: {
          text_tokens: expect.any(Number),
          image_tokens: expect.any(Number),
        },
      },
    };
    const ask = async (body: object) =>
      imageEvents(await (await running.post(generations, { stream: true, ...body })).text()).map(
        ({ data }) => data,
      );
    for (const { id } of imageModels.filter(
      ({ upstream }) => upstream !== 'qwen-image-edit-plus',
    )) {
      const [event] = await ask({ model: id, prompt: 'a cat' });
      expect(event, id).toMatchObject({ type: 'image_generation.completed', ...members });
    }
    for (const { id } of imageModels.filter(({ reads }) => reads)) {
      const fields = { model: id, prompt: 'red', stream: 'true' };
      const reply = await sendForm(running, edits, imageForm(fields, [['image', house]]));
      const [event] = imageEvents(await reply.text());
      expect(event?.data, id).toMatchObject({ type: 'image_edit.completed', ...members });
    }
    await running.expectBooks();
  });

  test('such an event tells what was asked of the vendor, and the usage that is charged once', async () => {
    const running = await start();
    const ask = async (body: object) =>
      imageEvents(await (await running.post(generations, { stream: true, ...body })).text()).map(
        ({ data }) => data,
      );
    const prompt = 'a cat';
    // No model of this vendor has a quality or a background.
    const [plain] = await ask({
      model: 'seedream-4.5',
      prompt,
      size: '1024x1024',
      quality: 'high',
      background: 'opaque',
    });
    expect(plain).toMatchObject({ size: '1024x1024', quality: 'auto', background: 'auto' });
    const pair = await ask({ model: 'seedream-4.5', prompt, n: 2 });
    const tokens = pair.map(({ usage }) => Object(usage).output_tokens);
    const { usage } = await made(
      await running.post(generations, { model: 'seedream-4.5', prompt, n: 2 }),
    );
    expect(tokens).toEqual([0, usage?.output_tokens ?? 0]);
    await running.expectBooks();
  });

  test('a submission is made once: repeated, it is answered the same, and another picture under its key is refused', async () => {
    const running = await start();
    const headers = { 'idempotency-key': 'one' };
    const submit = (picture: Buffer) =>
      sendForm(
        running,
        edits,
        imageForm({ model: 'gpt-image-2', prompt: 'red', size: '1024x1024' }, [['image', picture]]),
        headers,
      );
    const first = await (await submit(house)).text();
    const again = await submit(house);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.text()).toBe(first);
    const other = await submit(imageOf('a hut', 640, 480));
    expect([other.status, (await made(other)).error?.code]).toEqual([400, 'idempotency_key_reuse']);
    const words = { model: 'dall-e-3', prompt: 'a cat' };
    const said = await (
      await running.post(generations, words, { headers: { 'idempotency-key': 'two' } })
    ).text();
    expect(
      await (
        await running.post(generations, words, { headers: { 'idempotency-key': 'two' } })
      ).text(),
    ).toBe(said);
    expect(await running.usage()).toHaveLength(2);
    expect(sim.requests).toHaveLength(2);
    await running.expectBooks();
  });
});
