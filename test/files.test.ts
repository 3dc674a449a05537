import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase, onPostgres, sqliteUrl } from './databases.ts';
import { png } from './support/png.ts';
import { type Running, startGateway, startRunning } from './support/running.ts';
import { startBucket } from './support/s3-server.ts';
import { json, type ScriptedVendor, startVendor } from './support/scripted-vendor.ts';

const painting = (vendorUrl: string, settings = ''): string => `
${settings}
models:
  - { id: painter, owned_by: openai, kind: image, price: { image: 0.5 } }
channels:
  - { name: a, vendor: openai, base_url: "${vendorUrl}/v1", api_key: up-key, models: [painter] }
`;

async function startPainter(): Promise<ScriptedVendor> {
  const vendor = await startVendor();
  vendor.answer((_, response) =>
    json(
      response,
      200,
      JSON.stringify({ created: 1, data: [{ b64_json: png.toString('base64') }] }),
    ),
  );
  return vendor;
}

const ask = (running: Running, more: object = {}) =>
  running.post('/v1/images/generations', {
    model: 'painter',
    prompt: 'A cat',
    size: '1024x1024',
    ...more,
  });

async function expectUnavailable(response: Response): Promise<void> {
  expect([response.status, Number(response.headers.get('retry-after'))]).toEqual([503, 5]);
  expect(await response.json()).toMatchObject({
    error: { message: expect.stringContaining('pictures cannot be kept') },
  });
}

/** The address of a picture that was made. */
async function made(running: Running): Promise<string> {
  const response = await ask(running, { response_format: 'url' });
  expect(response.status, await response.clone().text()).toBe(200);
  const { data } = (await response.json()) as { data: { url: string }[] };
  return data[0]?.url ?? '';
}

forEachDatabase((_, _openFresh, fresh) => {
  test('a picture is at our own address, for whoever has it, and its vendor is not to be seen', async () => {
    const vendor = await startPainter();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: painting(vendor.url),
    });
    const url = await made(running);
    expect(url.startsWith(`${running.url}/files/file_`)).toBe(true);
    const response = await fetch(url);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(png);
    expect(JSON.stringify([...response.headers])).not.toMatch(/openai|up-key|painter/);
    expect((await fetch(url.replace(/signature=.*/, `signature=${running.key}`))).status).toBe(404);
    expect(await running.balance()).toBe('99.50');
    await running.expectBooks();
  });

  test('where there is no room nothing is asked for and nothing charged, but what needs no room', async () => {
    const vendor = await startPainter();
    const configuration = painting(vendor.url, 'settings: { media: { kept_files: 1 } }');
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration,
    });
    await made(running);
    const refused = await ask(running, { response_format: 'url' });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      error: { code: 'too_many_files', type: 'invalid_request_error', param: null },
    });
    expect(vendor.received).toHaveLength(1);
    expect((await ask(running, { response_format: 'b64_json' })).status).toBe(200);
    expect(await running.balance()).toBe('99.00');
  });
});

onPostgres((_, _openFresh, fresh) => {
  test('pictures lie in a bucket as well, and every node has them', async () => {
    const vendor = await startPainter();
    const media = await startBucket('generated/');
    const node = {
      databaseUrl: (await fresh(migrations)).url,
      configuration: painting(vendor.url),
      media,
    };
    const running = await startRunning(node);
    const other = await startGateway(node);
    const url = (await made(running)).replace(running.url, other.url);
    const part = await fetch(url, { headers: { range: 'bytes=1-3' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      `bytes 1-3/${png.length}`,
      'PNG',
    ]);
    expect((await fetch(url, { method: 'HEAD' })).headers.get('content-length')).toBe(
      String(png.length),
    );
    const whole = await fetch(url);
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(png);
    expect([...whole.headers.keys()].filter((name) => /amz|server|via/.test(name))).toEqual([]);
  });
});

test('a bucket that takes nothing is our own fault, and costs nobody anything', async () => {
  const vendor = await startPainter();
  const place = await startBucket();
  const media = { ...place, keys: { ...place.keys, secretAccessKey: 'another' } };
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: painting(vendor.url),
    media,
  });
  await expectUnavailable(await ask(running, { response_format: 'url' }));
  expect(vendor.received).toEqual([]);
  expect((await ask(running, { response_format: 'b64_json' })).status).toBe(200);
  expect(await running.balance()).toBe('99.50');
  await running.expectBooks();
});

test('a bucket that hangs keeps nobody waiting for long, and no vendor is asked', async () => {
  const vendor = await startPainter();
  const store = await startVendor();
  store.answer(() => {});
  const media = {
    bucketUrl: `${store.url}/generated`,
    prefix: '',
    region: 'r',
    keys: { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: undefined },
  };
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: painting(vendor.url),
    media,
  });
  await Promise.all(
    Array.from({ length: 5 }, async () =>
      expectUnavailable(await ask(running, { response_format: 'url' })),
    ),
  );
  expect(store.received).toHaveLength(1);
  expect(vendor.received).toEqual([]);
});

test('a bucket that goes away while a picture is made costs nobody anything', async () => {
  const vendor = await startPainter();
  const store = await startVendor();
  store.answer(({ url }, response) => response.writeHead(url.endsWith('/check') ? 200 : 503).end());
  const media = {
    bucketUrl: `${store.url}/generated`,
    prefix: '',
    region: 'r',
    keys: { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: undefined },
  };
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: painting(vendor.url),
    media,
  });
  await expectUnavailable(await ask(running, { response_format: 'url' }));
  expect(vendor.received).toHaveLength(1);
  // What is perhaps there is named until it can be removed.
  expect(await running.gateway.database.query('SELECT stored FROM file')).toEqual([{ stored: 0n }]);
  expect(await running.balance()).toBe('100.00');
  await running.expectBooks();
});
