import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { imageOf, textIn } from '../sim/media/png.ts';
import { ownImageModels, imagesAlone } from '../sim/own-images/catalog.ts';
import { vendors } from '../sim/vendors.ts';
import { migrations } from '../src/app/schema.ts';
import type { GatewayLimits } from '../src/gateway/parts.ts';
import { onSqlite } from './databases.ts';
import { type Running, startRunning } from './support/running.ts';
import { json, startVendor } from './support/scripted-vendor.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());
beforeEach(() => sim.clear());

const prefixOf = (vendor: string): string => {
  if (vendor === 'runway') return '/runway';
  return [...imagesAlone, ...vendors].find((one) => one.vendor === vendor)?.prefix ?? '';
};

interface Channel {
  /** What it sells; `m`, unless said. */
  readonly model?: string;
  readonly vendor: string;
  readonly upstream: string;
  readonly url?: string;
}

/** Models at a yuan a picture, sold over these channels, the first of them first. */
const configuration = (channels: readonly Channel[]): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
${[...new Set(channels.map(({ model = 'm' }) => model))].map((id) => `  - { id: ${id}, owned_by: simulator, kind: image, price: { image: 1 } }`).join('\n')}
channels:
${channels
  .map(({ model = 'm', vendor, upstream, url = `${sim.url}${prefixOf(vendor)}` }, i) => {
    const sold = `[{ id: ${model}, upstream: "${upstream}" }]`;
    return `  - { name: c${i}, vendor: ${vendor}, base_url: "${url}", api_key: sk-sim, priority: ${i}, groups: [default], models: ${sold} }`;
  })
  .join('\n')}
`;

const quick: GatewayLimits['asyncJobs'] = {
  totalMs: 4_000,
  goneAfterMs: 300,
  everyMsMin: 20,
  everyMsMax: 100,
  poll: { firstByteTimeoutMs: 500, idleTimeoutMs: 500 },
};

interface Answer {
  readonly data?: readonly { readonly url?: string; readonly b64_json?: string }[];
  readonly error?: {
    readonly message: string;
    readonly code: string | null;
    readonly param: string | null;
  };
}

async function asked(
  running: Running,
  body: object = {},
  init: { signal?: AbortSignal } = {},
): Promise<Answer & { status: number }> {
  const reply = await running.post(
    '/v1/images/generations',
    { model: 'm', prompt: 'a red fox', ...body },
    init,
  );
  const answer: Answer = JSON.parse(await reply.text());
  return { ...answer, status: reply.status };
}

const submissions = (): number =>
  sim.requests.filter(({ method, path }) => method === 'POST' && !path.includes('cancel')).length;
const polled = (vendor: string): number =>
  sim.requests.filter((one) => one.vendor === vendor && one.method === 'GET').length;
const seconds = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The vendors that are asked again until they have an answer, and a model of each. */
const later = [
  { vendor: 'bfl', upstream: 'flux-2-pro' },
  { vendor: 'fal', upstream: 'fal-ai/flux/dev' },
  { vendor: 'replicate', upstream: 'black-forest-labs/flux-schnell' },
  { vendor: 'qwen', upstream: 'wan2.2-t2i-flash' },
  { vendor: 'runway', upstream: 'gen4_image' },
] as const;

onSqlite((_, __, fresh) => {
  const start = async (
    channels: readonly Channel[],
    limits: Partial<GatewayLimits['asyncJobs']> = {},
    yuan = '100',
  ): Promise<Running> =>
    startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(channels),
      yuan,
      limits: { asyncJobs: { ...quick, ...limits } },
    });

  describe('every painter, through the openai package', () => {
    for (const { id, vendor, edits } of ownImageModels) {
      const fills = /fill|inpaint/.test(id);
      test(`${vendor} ${id}`, async () => {
        const quickly = later.some((one) => one.vendor === vendor) ? '+sim-task-100ms' : '';
        const running = await start([{ vendor, upstream: id + quickly }]);
        const client = new OpenAI({
          baseURL: `${running.url}/v1`,
          apiKey: running.key,
          maxRetries: 0,
        });
        let paid = 0;
        if (!fills) {
          const { data = [] } = await client.images.generate({
            model: 'm',
            prompt: 'a red fox',
            n: 2,
            size: '1024x1024',
          });
          expect(data).toHaveLength(2);
          for (const { url = '' } of data) {
            expect(url.startsWith(running.url)).toBe(true);
            const picture = await fetch(url);
            expect(picture.headers.get('content-type')).toBe('image/png');
            expect(textIn(Buffer.from(await picture.arrayBuffer()))).toBe('a red fox');
          }
          const bytes = await client.images.generate({
            model: 'm',
            prompt: 'a blue fox',
            response_format: 'b64_json',
          });
          expect(textIn(Buffer.from(bytes.data?.[0]?.b64_json ?? '', 'base64'))).toBe('a blue fox');
          paid = 3;
        }
        if (edits) {
          const image = await toFile(imageOf('a fox', 256, 256), 'fox.png', {
            type: 'image/png',
          });
          const mask = await toFile(imageOf('here', 256, 256, true), 'mask.png', {
            type: 'image/png',
          });
          const masked = fills || vendor === 'ideogram' || vendor === 'recraft';
          const edited = await client.images.edit({
            model: 'm',
            image,
            prompt: 'in the snow',
            ...(masked ? { mask } : {}),
          });
          expect(edited.data).toHaveLength(1);
          paid += 1;
        }
        expect(await running.balance()).toBe(`${100 - paid}.00`);
        await running.expectBooks();
      });
    }
  });

  describe.each(later)('$vendor', ({ vendor, upstream }) => {
    test('whatever is said while it is asked for ends nothing', async () => {
      const troubles = ['odd', 'html', '401', 'late', 'hang'];
      const running = await start(
        troubles.map((trouble) => ({
          model: trouble,
          vendor,
          upstream: `${upstream}+sim-task-${trouble}+sim-task-300ms`,
        })),
        { goneAfterMs: 3_000 },
      );
      const answers = await Promise.all(troubles.map((model) => asked(running, { model })));
      expect(answers.map(({ status, data }) => [status, data?.length])).toEqual(
        troubles.map(() => [200, 1]),
      );
      expect(submissions()).toBe(troubles.length);
      expect(await running.balance()).toBe('95.00');
    });

    test('what the vendor does not like is told, and costs nothing', async () => {
      const running = await start([
        { vendor, upstream: `${upstream}+sim-task-moderated+sim-task-100ms` },
        { vendor: 'bfl', upstream: 'flux-2-max' },
      ]);
      const { status, error } = await asked(running);
      expect([status, error?.code]).toEqual([400, 'content_policy_violation']);
      expect(submissions()).toBe(1);
      expect(await running.balance()).toBe('100.00');
    });

    test('work that has failed, or is gone, is asked of nobody else and costs nothing', async () => {
      for (const trouble of ['failed', 'gone']) {
        sim.clear();
        const running = await start([
          { vendor, upstream: `${upstream}+sim-task-${trouble}` },
          { vendor: 'bfl', upstream: 'flux-2-max' },
        ]);
        const { status, error } = await asked(running);
        expect([status, error?.code]).toEqual(
          trouble === 'failed' ? [500, 'server_error'] : [503, null],
        );
        expect(submissions()).toBe(1);
        expect(await running.balance()).toBe('100.00');
        await running.expectBooks();
      }
    });

    test('work that never ends is given up, and the vendor told so where it listens', async () => {
      const running = await start([{ vendor, upstream: `${upstream}+sim-task-stuck` }], {
        totalMs: 400,
      });
      expect((await asked(running)).status).toBe(503);
      expect(await running.balance()).toBe('100.00');
      await seconds(100);
      expect(
        sim.requests.filter(({ method, path }) => path.includes('cancel') || method === 'DELETE'),
      ).toHaveLength(vendor === 'bfl' ? 0 : 1);
    });

    test('a client that leaves stops the asking within a second, and pays nothing', async () => {
      const running = await start([{ vendor, upstream: `${upstream}+sim-task-stuck` }]);
      const leaving = new AbortController();
      const answer = asked(running, {}, { signal: leaving.signal }).catch(() => 'left');
      await expect.poll(() => polled(vendor)).toBeGreaterThan(1);
      leaving.abort();
      expect(await answer).toBe('left');
      await seconds(1_000);
      const asking = polled(vendor);
      await seconds(300);
      expect(polled(vendor)).toBe(asking);
      expect(
        sim.requests.some(({ method, path }) => path.includes('cancel') || method === 'DELETE'),
      ).toBe(vendor !== 'bfl');
      expect(await running.balance()).toBe('100.00');
    });
  });

  test('a submission that may have been taken is asked of nobody else; one that was refused is', async () => {
    for (const [trouble, status] of [
      ['sim-reset-after-0', 503],
      ['sim-html-200', 503],
      ['sim-500', 503],
      ['sim-429', 200],
      ['sim-402', 200],
      ['sim-401', 200],
    ] as const) {
      sim.clear();
      const running = await start([
        { vendor: 'bfl', upstream: `flux-2-pro+${trouble}` },
        { vendor: 'bfl', upstream: 'flux-2-max' },
      ]);
      expect([trouble, (await asked(running)).status]).toEqual([trouble, status]);
      expect(submissions()).toBe(status === 200 ? 2 : 1);
      expect(await running.balance()).toBe(status === 200 ? '99.00' : '100.00');
    }
  });

  test('a vendor that dies while it is asked is waited for until the time is over, and costs nothing', async () => {
    const dying = await startSim();
    const running = await start(
      [
        { vendor: 'bfl', upstream: 'flux-2-pro+sim-task-stuck', url: `${dying.url}/bfl/v1` },
        { vendor: 'bfl', upstream: 'flux-2-max' },
      ],
      {
        totalMs: 1_500,
      },
    );
    const answer = asked(running);
    await expect.poll(() => dying.requests.length).toBeGreaterThan(2);
    await dying.close();
    expect((await answer).status).toBe(503);
    expect(submissions()).toBe(0);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test('who leaves before the vendor has taken it does not have it made: it is taken back as soon as it has a name', async () => {
    const vendor = await startVendor();
    vendor.answer(({ url }, response) => {
      if (url.endsWith('/cancel')) json(response, 200, '{}');
      else
        setTimeout(
          () => json(response, 201, JSON.stringify({ id: 'p1', status: 'starting' })),
          400,
        );
    });
    const running = await start([
      { vendor: 'replicate', upstream: 'a/b', url: `${vendor.url}/v1` },
    ]);
    const leaving = new AbortController();
    const answer = asked(running, {}, { signal: leaving.signal }).catch(() => 'left');
    await expect.poll(() => vendor.received.length).toBe(1);
    leaving.abort();
    expect(await answer).toBe('left');
    await expect
      .poll(() => vendor.received.map(({ url }) => url))
      .toEqual(['/v1/models/a/b/predictions', '/v1/predictions/p1/cancel']);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test('of several pictures those that came about are delivered and paid for; whoever leaves has all of them taken back', async () => {
    const vendor = await startVendor();
    const picture = `data:image/png;base64,${imageOf('a fox', 64, 64).toString('base64')}`;
    let made = 0;
    let over = false;
    vendor.answer(({ method, url }, response) => {
      const id =
        method === 'POST' && !url.endsWith('/cancel')
          ? ++made
          : Number(/\d+/.exec(url.split('/').at(3) ?? '')?.[0]);
      const end =
        id % 3 === 2
          ? { status: 'failed', error: 'NSFW' }
          : over
            ? { status: 'succeeded', output: picture }
            : { status: 'processing' };
      json(
        response,
        200,
        JSON.stringify({ id: `p${id}`, ...(method === 'GET' ? end : { status: 'starting' }) }),
      );
    });
    const asking = (): number => vendor.received.filter(({ method }) => method === 'GET').length;
    const running = await start([
      { vendor: 'replicate', upstream: 'a/b', url: `${vendor.url}/v1` },
    ]);
    const answer = asked(running, { n: 3 });
    await expect.poll(asking).toBeGreaterThan(4);
    over = true;
    expect(await answer).toMatchObject({ status: 200, data: [{}, {}] });
    expect(await running.balance()).toBe('98.00');
    over = false;
    const leaving = new AbortController();
    const left = asked(running, { n: 3 }, { signal: leaving.signal }).catch(() => 'left');
    const before = asking();
    await expect.poll(asking).toBeGreaterThan(before + 4);
    leaving.abort();
    expect(await left).toBe('left');
    const cancelled = (): string[] =>
      vendor.received.flatMap(({ url }) => (url.endsWith('/cancel') ? [url] : [])).sort();
    await expect
      .poll(cancelled)
      .toEqual(['/v1/predictions/p4/cancel', '/v1/predictions/p6/cancel']);
    expect(await running.balance()).toBe('98.00');
    await running.expectBooks();
  });

  test('a megapixel costs what it costs, for each picture', async () => {
    const text = configuration([
      { vendor: 'fal', upstream: 'fal-ai/flux/dev+sim-task-100ms' },
    ]).replace('{ image: 1 }', '{ megapixel: 0.25 }');
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: text,
      limits: { asyncJobs: quick },
    });
    expect((await asked(running, { n: 6, size: '1792x1024' })).data).toHaveLength(6);
    // Two megapixels each, of which the second is begun.
    expect(await running.balance()).toBe('97.00');
    expect(submissions()).toBe(2);
    await running.expectBooks();
  });

  test('a picture whose address leads nowhere is not paid for', async () => {
    for (const { vendor, upstream } of [
      ...later,
      { vendor: 'ideogram', upstream: 'ideogram-v3' },
    ]) {
      const running = await start([{ vendor, upstream: `${upstream}+sim-gone-picture` }]);
      const { status } = await asked(running, { prompt: 'a fox [sim-gone-picture]' });
      expect([vendor, status]).toEqual([vendor, 503]);
      expect(await running.balance()).toBe('100.00');
    }
  });

  test('whoever answers at once tells what he did not like, too', async () => {
    for (const [vendor, upstream] of [
      ['stability', 'stable-image-core'],
      ['ideogram', 'ideogram-v3'],
      ['recraft', 'recraftv3'],
      ['minimax', 'image-01'],
      ['zhipu', 'cogview-4'],
    ] as const) {
      const running = await start([{ vendor, upstream }]);
      const { status, error } = await asked(running, { prompt: 'a fox [sim-task-moderated]' });
      expect([vendor, status, error?.code]).toEqual([vendor, 400, 'content_policy_violation']);
      const refused = await asked(running, { prompt: 'a fox [sim-policy]' });
      expect([vendor, refused.status, refused.error?.code]).toEqual([
        vendor,
        400,
        'content_policy_violation',
      ]);
      expect(await running.balance()).toBe('100.00');
    }
  });

  test('a vendor that sends us to a host of somebody else does not get our key there', async () => {
    const [vendor, stranger] = [await startVendor(), await startVendor()];
    stranger.answer((_, response) => json(response, 200, '{}'));
    vendor.answer(({ method }, response) =>
      method === 'POST'
        ? json(
            response,
            200,
            JSON.stringify({ id: 't1', polling_url: `${stranger.url}/v1/get_result?id=t1` }),
          )
        : json(response, 200, JSON.stringify({ id: 't1', status: 'Content Moderated' })),
    );
    const running = await start([
      { vendor: 'bfl', upstream: 'flux-2-pro', url: `${vendor.url}/v1` },
    ]);
    expect((await asked(running)).status).toBe(400);
    expect(stranger.received).toHaveLength(0);
    expect(vendor.received.map(({ url }) => url)).toEqual([
      '/v1/flux-2-pro',
      '/v1/get_result?id=t1',
    ]);
  });

  test('what no channel makes is refused before anybody is asked, and what is allowed is told', async () => {
    const running = await start([{ vendor: 'stability', upstream: 'stable-image-core' }]);
    const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 });
    const image = await toFile(imageOf('a fox', 256, 256), 'fox.png', { type: 'image/png' });
    await expect(
      client.images.edit({ model: 'm', image, prompt: 'in the snow' }),
    ).rejects.toMatchObject({ status: 400, param: 'image' });
    expect(sim.requests).toHaveLength(0);
  });
});
