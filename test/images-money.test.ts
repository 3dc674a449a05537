import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { imageOf } from '../sim/media/png.ts';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { imageForm, made, sendForm } from './support/images.ts';
import { type Running, startRunning } from './support/running.ts';
import { json, startVendor } from './support/scripted-vendor.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());
beforeEach(() => sim.clear());

interface Channel {
  readonly vendor: string;
  readonly url: string;
  readonly upstream: string;
}

const at = (vendor: string, prefix: string, upstream: string): Channel => ({
  vendor,
  url: sim.url + prefix,
  upstream,
});
const openai = (upstream: string): Channel => at('openai', '/openai/v1', upstream);
const ark = (upstream: string): Channel => at('volcengine', '/volcengine/api/v3', upstream);

/** One model `m` at this price, over these channels, first to last. */
const configuration = (
  price: string,
  channels: readonly Channel[],
  image = '{ n: 10 }',
): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: m, owned_by: o, kind: image, image: ${image}, price: ${price} }
channels:
${channels
  .map(
    ({ vendor, url, upstream }, i) =>
      `  - { name: c${i}, vendor: ${vendor}, base_url: "${url}", api_key: sk-sim, priority: ${i}, groups: [default], models: [{ id: m, upstream: "${upstream}" }] }`,
  )
  .join('\n')}`;

const generations = '/v1/images/generations';
const words = { model: 'm', prompt: 'a cat' };
const picture = imageOf('a cat', 64, 64).toString('base64');

forEachDatabase((_, __, fresh) => {
  const start = async (
    price: string,
    channels: readonly Channel[],
    yuan = '10',
    image?: string,
  ): Promise<Running> =>
    startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(price, channels, image),
      yuan,
    });

  test('a picture costs what its size and quality do, a variant that is not listed the plain price', async () => {
    const running = await start(
      '{ image: 0.1, by: { 1024x1024/hd: 0.2, 1792x1024/hd: 0.3, 1792x1024: 0.15 } }',
      [openai('gpt-image-2')],
    );
    const ask = async (more: object) =>
      (await running.post(generations, { ...words, ...more })).status;
    expect(await ask({ size: '1024x1024', quality: 'hd' })).toBe(200);
    expect(await running.balance()).toBe('9.80');
    expect(await ask({ size: '1792x1024', quality: 'hd', n: 2 })).toBe(200);
    expect(await running.balance()).toBe('9.20');
    expect(await ask({ size: '1792x1024', quality: 'low' })).toBe(200);
    expect(await running.balance()).toBe('9.05');
    expect(await ask({ size: '1024x1024', quality: 'high' })).toBe(200);
    expect(await running.balance()).toBe('8.85');
    expect(await ask({ size: '1024x1024' })).toBe(200);
    expect(await running.balance()).toBe('8.75');
    await running.expectBooks();
  });

  test('tokens cost what the vendor counts of text, of pictures that go in and of pictures that come out', async () => {
    const running = await start('{ input: 1000, image_input: 100, image_output: 10 }', [
      openai('gpt-image-2'),
    ]);
    const form = imageForm({ ...words, size: '1024x1024', quality: 'medium' }, [
      ['image', imageOf('a dog', 64, 64)],
    ]);
    const { usage } = await made(await sendForm(running, '/v1/images/edits', form));
    expect(usage).toMatchObject({ input_tokens: 1_002, output_tokens: 1_760 });
    // Two words, a picture of a thousand tokens, and one of 1,760.
    expect(await running.balance()).toBe('9.8804');
    expect(await running.usage()).toMatchObject([
      { capability: 'image_edits', estimated: 0n, input_tokens: 1_002n, output_tokens: 1_760n },
    ]);
    await running.expectBooks();
  });

  test('pictures that are too many for one answer are asked for in several, and counted together', async () => {
    const running = await start('{ image_output: 1 }', [openai('gpt-image-2')]);
    const { data, usage } = await made(
      await running.post(generations, {
        ...words,
        n: 3,
        size: '3840x2160',
        quality: 'low',
        response_format: 'b64_json',
      }),
    );
    expect(sim.requests).toHaveLength(3);
    expect(data).toHaveLength(3);
    expect(await running.usage()).toMatchObject([
      { output_tokens: BigInt(usage?.output_tokens ?? 0) },
    ]);
    expect(usage?.output_tokens).toBe(3 * 2_152);
    await running.expectBooks();
  });

  test('what the vendor does not count is estimated by what the terms say, and marked', async () => {
    const terms = '{ tokens: { any: 500 } }';
    const running = await start(
      '{ input: 1000, image_output: 1000 }',
      [openai('gpt-image-2+sim-no-usage')],
      '10',
      terms,
    );
    expect((await running.post(generations, { ...words, n: 2 })).status).toBe(200);
    const [record] = await running.usage();
    expect(record).toMatchObject({ estimated: 1n, output_tokens: 1_000n });
    await running.expectBooks();
  });

  test('a megapixel costs as often as it is begun', async () => {
    const running = await start('{ megapixel: 0.1 }', [openai('gpt-image-2')]);
    await running.post(generations, { ...words, size: '1024x1024' });
    expect(await running.balance()).toBe('9.90');
    await running.post(generations, { ...words, size: '1536x1024', n: 2 });
    expect(await running.balance()).toBe('9.50');
  });

  test('who cannot pay for the worst is refused before any vendor hears of it, and is served as soon as that is enough', async () => {
    const running = await start('{ image: 0.1 }', [openai('gpt-image-2')], '1');
    const poor = await running.post(generations, { ...words, n: 10 });
    expect(poor.status).toBe(200);
    const empty = await running.post(generations, words);
    expect([empty.status, (await made(empty)).error?.code]).toEqual([429, 'insufficient_quota']);
    expect(sim.requests).toHaveLength(1);
    expect(await running.balance()).toBe('0.00');
  });

  test('of several pictures those are charged that were delivered', async () => {
    const vendor = await startVendor();
    let asked = 0;
    vendor.answer((_request, response) => {
      asked += 1;
      if (asked === 2) json(response, 500, '{"error":{"message":"no"}}');
      else json(response, 200, JSON.stringify({ created: 1, data: [{ b64_json: picture }] }));
    });
    const running = await start('{ image: 0.1 }', [
      { vendor: 'volcengine', url: `${vendor.url}/v3`, upstream: 'seedream-4-0' },
    ]);
    const reply = await running.post(generations, { ...words, n: 4 });
    const { data } = await made(reply);
    expect(reply.status).toBe(200);
    expect(data).toHaveLength(3);
    expect(await running.balance()).toBe('9.70');
    await running.expectBooks();
  });

  test.each([
    ['the vendor fails', 'gpt-image-2+sim-500', 503],
    ['the vendor moderates it', 'gpt-image-2+sim-policy', 400],
    ['the bytes are no picture', 'gpt-image-2+sim-broken-picture', 503],
    ['it is a page', 'gpt-image-2+sim-html-200', 503],
    ['the answer breaks off', 'gpt-image-2+sim-reset-after-3', 503],
  ])('nothing is charged and nobody else is asked when %s', async (_what, upstream, status) => {
    const running = await start('{ image: 0.1 }', [openai(upstream), openai('gpt-image-2')]);
    const reply = await running.post(generations, words);
    expect(reply.status).toBe(status);
    const { error } = await made(reply);
    if (status === 400) expect(error).toMatchObject({ code: 'content_policy_violation' });
    expect(sim.requests).toHaveLength(1);
    expect(await running.balance()).toBe('10.00');
    expect(await running.usage()).toHaveLength(0);
    await running.expectBooks();
  });

  test('a picture whose address leads nowhere costs nothing', async () => {
    const running = await start('{ image: 0.1 }', [
      ark('doubao-seedream-4-5-251128+sim-gone-picture'),
    ]);
    const reply = await running.post(generations, words);
    expect(reply.status).toBe(503);
    expect(await running.balance()).toBe('10.00');
  });

  test.each([
    ['gpt-image-2+sim-429', 2],
    ['gpt-image-2+sim-401', 2],
    ['gpt-image-2+sim-503', 2],
    ['no-such-model', 2],
  ])('who refuses without having begun is followed by the next: %s', async (upstream, calls) => {
    const running = await start('{ image: 0.1 }', [openai(upstream), openai('gpt-image-2')]);
    expect((await running.post(generations, words)).status).toBe(200);
    expect(sim.requests).toHaveLength(calls);
    expect(await running.balance()).toBe('9.90');
  });

  test('who leaves after a preview has seen a picture; a vendor that breaks off then has sold a preview', async () => {
    const running = await start(
      '{ image_output: 1000 }',
      [openai('gpt-image-2+sim-hang-after-1')],
      '50',
      '{ tokens: { any: 5000 } }',
    );
    const leaving = new AbortController();
    const asked = { ...words, stream: true, partial_images: 3 };
    const reply = await running.post(generations, asked, { signal: leaving.signal });
    await reply.body?.getReader().read();
    leaving.abort();
    await expect.poll(async () => (await running.usage()).length).toBe(1);
    expect(await running.usage()).toMatchObject([
      { status: 'left', estimated: 1n, output_tokens: 5_000n },
    ]);
    await running.expectBooks();
    const broken = await start(
      '{ image_output: 1000 }',
      [openai('gpt-image-2+sim-cut-after-2')],
      '50',
      '{ tokens: { any: 5000 } }',
    );
    const text = await (await broken.post(generations, asked)).text();
    expect(text).toContain('event: error');
    expect(text).not.toContain('image_generation.completed');
    expect(await broken.usage()).toMatchObject([
      { status: 'cut', estimated: 1n, output_tokens: 200n },
    ]);
    await broken.expectBooks();
  });
});
