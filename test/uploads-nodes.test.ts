import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { onPostgres } from './databases.ts';
import { png } from './sdk/sdk.ts';
import { temporaryFolder } from './support/file-store.ts';
import { startRunning } from './support/running.ts';
import { json, startVendor } from './support/scripted-vendor.ts';

const picture = Buffer.from(png, 'base64');
const configuration = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: gem, owned_by: google, kind: chat, context: 200000, max_output: 1000, modalities: { in: [text, image], out: [text] }, price: { input: 1000, output: 1000 } }
channels:
  - { name: a, vendor: gemini, base_url: "${url}/v1beta", api_key: up-key, groups: [default], models: [gem] }
`;
const answered = {
  candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
};

onPostgres((_name, _openFresh, fresh) => {
  /** Two gateways on one database; `media`: the folder of each one's files. */
  async function twoNodes(media: readonly [string, string]) {
    const vendor = await startVendor();
    vendor.answer((_request, response) => json(response, 200, JSON.stringify(answered)));
    const node = {
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(vendor.url),
    };
    const one = await startRunning({ ...node, media: media[0] });
    const other = await startRunning({ ...node, media: media[1] });
    const call = (method: string, url: string, headers: object = {}, body?: Buffer | string) =>
      fetch(url, {
        method,
        headers: { 'x-goog-api-key': one.key, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
      });
    const begin = async (): Promise<string> => {
      const begun = await call('POST', `${one.url}/upload/v1beta/files`, {
        'x-goog-upload-protocol': 'resumable',
        'x-goog-upload-command': 'start',
        'x-goog-upload-header-content-length': String(picture.length),
        'x-goog-upload-header-content-type': 'image/png',
      });
      return new URL(begun.headers.get('x-goog-upload-url') ?? '').search;
    };
    const query = await begin();
    const send = (url: string, command: string, from: number, to: number, search = query) =>
      call(
        'POST',
        `${url}/upload/v1beta/files${search}`,
        { 'x-goog-upload-command': command, 'x-goog-upload-offset': String(from) },
        picture.subarray(from, to),
      );
    const whole = async (url: string) =>
      send(url, 'upload, finalize', 0, picture.length, await begin());
    const use = (url: string, name: string) =>
      call(
        'POST',
        `${url}/v1beta/models/gem:generateContent`,
        {},
        JSON.stringify({
          contents: [{ parts: [{ fileData: { fileUri: name, mimeType: 'image/png' } }] }],
        }),
      );
    return { vendor, one: one.url, other: other.url, call, send, use, whole };
  }
  const fileIn = async (response: Response): Promise<Record<string, string>> => {
    expect(response.status, await response.clone().text()).toBe(200);
    return JSON.parse(await response.text()).file;
  };
  const half = Math.floor(picture.length / 2);

  test('two gateways with one storage: an upload begins at one and goes on, ends and is used at the other', async () => {
    const shared = await temporaryFolder();
    const { vendor, one, other, call, send, use } = await twoNodes([shared, shared]);
    expect((await send(other, 'upload', 0, half)).status).toBe(200);
    const again = await send(other, 'upload', 0, half);
    expect(await again.text()).toContain(`expected ${half}`);
    const { name = '' } = await fileIn(await send(one, 'upload, finalize', half, picture.length));
    const listed = await call('GET', `${other}/v1beta/files`);
    expect(JSON.parse(await listed.text()).files).toMatchObject([{ name }]);
    expect((await use(other, name)).status).toBe(200);
    expect(vendor.received.at(-1)?.text).toContain(picture.toString('base64'));
    expect((await call('DELETE', `${other}/v1beta/${name}`)).status).toBe(200);
    expect((await use(one, name)).status).toBe(403);
  });

  test('two gateways, each with a storage of its own: the other one says that the bytes are not there', async () => {
    const { vendor, one, other, send, use, whole } = await twoNodes([
      await temporaryFolder(),
      await temporaryFolder(),
    ]);
    const elsewhere = async (response: Response) => {
      const { error } = JSON.parse(await response.text());
      expect(error).toMatchObject({ code: 503, status: 'UNAVAILABLE' });
      expect(error.message).toContain('the bytes of this file are not in the storage');
    };
    expect((await send(one, 'upload', 0, half)).status).toBe(200);
    await elsewhere(await send(other, 'upload, finalize', half, picture.length));
    // The second half is at the other gateway now, and no gateway has both.
    await elsewhere(await send(one, 'finalize', picture.length, picture.length));
    expect((await send(one, 'cancel', 0, 0)).status).toBe(200);
    const { name = '' } = await fileIn(await whole(one));
    await elsewhere(await use(other, name));
    expect(vendor.received).toEqual([]);
    expect((await use(one, name)).status).toBe(200);
  });
});
