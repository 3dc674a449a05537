import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { GoogleGenAI, createPartFromUri } from '@google/genai';
import { expect, onTestFinished, test } from 'vitest';
import { mebibyte } from '../src/base/mebibyte.ts';
import { simConfig } from '../sim/catalog.ts';
import { startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { ledgerProcedures } from '../src/ledger/procedures.ts';
import { uploadLimits } from '../src/media/limits.ts';
import { Uploads } from '../src/media/uploads.ts';
import { open } from '../src/storage/open.ts';
import { openSealer } from '../src/storage/seal.ts';
import { forEachDatabase } from './databases.ts';
import { png } from './sdk/sdk.ts';
import { newCustomer } from './support/customer.ts';
import { fileStore, temporaryFolder } from './support/file-store.ts';
import { startProcess } from './support/process.ts';
import { oneModel, type RunningOptions, startRunning } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';

const secret = 'the red fox hides its gold below the old mill';
const picture = Buffer.from(png, 'base64');
const blobOf = (bytes: Buffer, type: string): Blob => new Blob([new Uint8Array(bytes)], { type });

/** A gateway whose vendors answer for themselves: one of Google's format, one of OpenAI's. */
const configuration = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: gem, owned_by: google, kind: chat, context: 200000, max_output: 1000, modalities: { in: [text, image], out: [text] }, price: { input: 1000, output: 1000 } }
  - { id: chat/m, owned_by: openai, kind: chat, context: 128000, max_output: 1000, modalities: { in: [text, image], out: [text] }, price: { input: 1000, output: 1000 } }
channels:
  - { name: a, vendor: gemini, base_url: "${url}/v1beta", api_key: up-key, groups: [default], models: [gem] }
  - { name: c, vendor: openai, base_url: "${url}/v1", api_key: up-key, groups: [default], models: [chat/m] }
`;

const answered = {
  candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
};

interface StartHeaders {
  readonly size?: number | string;
  readonly type?: string;
  readonly body?: unknown;
  readonly more?: Record<string, string>;
}

forEachDatabase((_name, openFresh, fresh) => {
  async function begin(extra = '', limits: RunningOptions['limits'] = {}) {
    const vendor = await startVendor();
    vendor.answer((request, response) =>
      json(
        response,
        200,
        request.url.includes('countTokens')
          ? '{"totalTokens":264}'
          : request.url.includes('generateContent')
            ? JSON.stringify(answered)
            : completion('Hi'),
      ),
    );
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(vendor.url) + extra,
      limits,
    });
    const { url, key } = running;
    const call = (method: string, address: string, init: RequestInit = {}, as = key) =>
      fetch(address.startsWith('http') ? address : url + address, {
        method,
        ...init,
        headers: { 'x-goog-api-key': as, ...Object.fromEntries(new Headers(init.headers)) },
      });
    const start = ({ size, type, body = {}, more = {} }: StartHeaders, as = key) =>
      call(
        'POST',
        '/upload/v1beta/files',
        {
          headers: {
            'content-type': 'application/json',
            'x-goog-upload-protocol': 'resumable',
            'x-goog-upload-command': 'start',
            ...(size === undefined ? {} : { 'x-goog-upload-header-content-length': String(size) }),
            ...(type === undefined ? {} : { 'x-goog-upload-header-content-type': type }),
            ...more,
          },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        },
        as,
      );
    const opened = async (what: StartHeaders): Promise<string> => {
      const response = await start(what);
      expect(response.status, await response.clone().text()).toBe(200);
      return response.headers.get('x-goog-upload-url') ?? '';
    };
    const send = (to: string, command: string, offset?: number | string, bytes?: Buffer) =>
      call('POST', to, {
        headers: {
          'x-goog-upload-command': command,
          ...(offset === undefined ? {} : { 'x-goog-upload-offset': String(offset) }),
        },
        ...(bytes === undefined ? {} : { body: new Uint8Array(bytes) }),
      });
    const uploaded = async (bytes: Buffer, type: string): Promise<Record<string, string>> => {
      const to = await opened({ size: bytes.length, type });
      const response = await send(to, 'upload, finalize', 0, bytes);
      expect(response.status).toBe(200);
      return JSON.parse(await response.text()).file;
    };
    const generate = (method: string, parts: readonly object[], as = key) =>
      call(
        'POST',
        `/v1beta/models/${method}`,
        {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ contents: [{ role: 'user', parts }] }),
        },
        as,
      );
    return { vendor, running, call, start, opened, send, uploaded, generate };
  }

  const errorOf = async (response: Response) => {
    const { error } = JSON.parse(await response.text());
    return { http: response.status, ...error };
  };

  test('the SDK uploads, lists, reads and deletes files, and asks models about them', async () => {
    const sim = await startSim();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: simConfig(sim.url),
    });
    const { files, models } = new GoogleGenAI({
      apiKey: running.key,
      httpOptions: { baseUrl: running.url },
    });
    const file = await files.upload({
      file: blobOf(picture, 'image/png'),
      config: { displayName: 'Ein Bild — 图' },
    });
    expect(file).toMatchObject({
      displayName: 'Ein Bild — 图',
      mimeType: 'image/png',
      sizeBytes: String(picture.length),
      sha256Hash: createHash('sha256').update(picture).digest('base64'),
      state: 'ACTIVE',
      source: 'UPLOADED',
      uri: `${running.url}/v1beta/${file.name}`,
    });
    // The default of `media.kept_seconds` is less than two days.
    expect(Date.parse(file.expirationTime ?? '') - Date.parse(file.createTime ?? '')).toBe(
      86_400_000,
    );
    const { name = '', uri = '', mimeType = '' } = file;
    expect(await files.get({ name })).toEqual(file);
    const text = await files.upload({ file: blobOf(Buffer.from(secret), 'text/plain') });
    const more = await files.upload({ file: blobOf(picture, 'image/png') });
    const names: (string | undefined)[] = [];
    for await (const each of await files.list({ config: { pageSize: 2 } })) names.push(each.name);
    expect([...names].sort()).toEqual([file.name, text.name, more.name].sort());

    for (const model of ['gemini-2.5-flash', 'gemini-2.5-pro', 'gpt-4o', 'claude-haiku-4-5']) {
      const said = await models.generateContent({
        model,
        contents: ['What is this?', createPartFromUri(uri, mimeType)],
      });
      expect(said.text, model).toContain('What is this?');
      let streamed = '';
      for await (const piece of await models.generateContentStream({
        model,
        contents: ['What is this?', createPartFromUri(uri, mimeType)],
      }))
        streamed += piece.text ?? '';
      expect(streamed, model).toContain('What is this?');
    }
    await files.delete({ name });
    await expect(files.get({ name })).rejects.toThrow('PERMISSION_DENIED');
    await running.expectBooks();
  });

  test('vendors get the bytes of a file in the place of its name, and the count sees them', async () => {
    const { vendor, running, uploaded, generate } = await begin();
    const { uri, name } = await uploaded(picture, 'image/png');
    const kept = { text: 'x', thoughtSignature: 'AAAA' };
    const inline = { inlineData: { mimeType: 'image/png', data: png } };
    for (const fileUri of [uri, name]) {
      const answer = await generate('gem:generateContent', [
        kept,
        { fileData: { fileUri, mimeType: 'image/png' } },
        { file_data: { file_uri: fileUri }, videoMetadata: { fps: 1 } },
      ]);
      expect(answer.status).toBe(200);
      expect(JSON.parse(vendor.received.at(-1)?.text ?? '').contents[0].parts).toEqual([
        kept,
        inline,
        { ...inline, videoMetadata: { fps: 1 } },
      ]);
    }
    await generate('chat%2Fm:generateContent', [{ fileData: { fileUri: uri } }]);
    expect(vendor.received.at(-1)?.text).toContain(`data:image/png;base64,${png}`);
    const counted = await generate('gem:countTokens', [{ fileData: { fileUri: uri } }]);
    expect(JSON.parse(await counted.text())).toEqual({ totalTokens: 264 });
    expect(vendor.received.at(-1)?.text).toContain(png);
    expect(await running.usage()).toHaveLength(3);
    await running.expectBooks();
  });

  test('clients of version v1 find their files under /v1, where other clients find none', async () => {
    const { running, call } = await begin();
    const begun = await call('POST', '/upload/v1/files', {
      headers: { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' },
    });
    expect(begun.status).toBe(200);
    const ended = await call('POST', begun.headers.get('x-goog-upload-url') ?? '', {
      headers: { 'x-goog-upload-command': 'upload, finalize', 'x-goog-upload-offset': '0' },
      body: new Uint8Array(picture),
    });
    const { file } = JSON.parse(await ended.text());
    expect(JSON.parse(await (await call('GET', '/v1/files')).text()).files).toEqual([file]);
    expect(JSON.parse(await (await call('GET', `/v1/${file.name}`)).text())).toEqual(file);
    const asked = await call('POST', '/v1/models/gem:generateContent', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        contents: [
          { parts: [{ fileData: { fileUri: file.uri.replace('/v1beta/', '/v1/') } }] },
          { parts: [{ fileData: { fileUri: file.name } }] },
        ],
      }),
    });
    expect(asked.status, await asked.clone().text()).toBe(200);
    for (const [method, path] of [
      ['GET', '/v1/files'],
      ['POST', '/v1/files'],
      ['GET', `/v1/${file.name}`],
      ['DELETE', `/v1/${file.name}`],
      ['PUT', '/v1/files'],
      ['DELETE', '/v1/files'],
      ['POST', `/v1/${file.name}`],
      ['GET', '/v1/v1/files'],
    ] as const) {
      const headers = { authorization: `Bearer ${running.key}` };
      const refused = await fetch(running.url + path, { method, headers });
      expect(refused.status).toBe(404);
      expect(JSON.parse(await refused.text()).error).toMatchObject({
        message: `Invalid URL (${method} ${path})`,
        code: 'unknown_url',
      });
    }
    expect((await call('DELETE', `/v1/${file.name}`)).status).toBe(200);
    expect(await errorOf(await call('GET', `/v1/${file.name}`))).toMatchObject({ http: 403 });
  });

  test('the address of an upload stands for the key, for that upload alone', async () => {
    const { running, opened, call } = await begin();
    const { url, key } = running;
    const to = await opened({ size: picture.length, type: 'image/png' });
    const other = await opened({ size: picture.length, type: 'image/png' });
    expect(to).not.toContain(key);
    // Google's package for Python and AI SDK send no key with the bytes.
    const send = (address: string, command: string, body?: Buffer) =>
      fetch(address, {
        method: 'POST',
        headers: { 'x-goog-upload-command': command, 'x-goog-upload-offset': '0' },
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      });
    const pass = new URL(to).searchParams.get('upload_pass') ?? '';
    const idOf = (address: string) => new URL(address).searchParams.get('upload_id') ?? '';
    const missing = { http: 403, status: 'PERMISSION_DENIED' };
    for (const wrong of [
      to.replace(idOf(to), idOf(other)),
      to.replace(pass, pass.startsWith('v1.A') ? `v1.B${pass.slice(4)}` : `v1.A${pass.slice(4)}`),
      to.replace(pass, 'v1.AAAA'),
      to.replace(pass, ''),
      `${url}/upload/v1beta/files?upload_pass=${pass}`,
    ])
      expect(await errorOf(await send(wrong, 'query')), wrong).toMatchObject(missing);
    for (const path of ['/v1beta/files', `/v1beta/files/${idOf(to)}`])
      expect(
        await errorOf(await fetch(`${url}${path}?upload_id=${idOf(to)}&upload_pass=${pass}`)),
      ).toMatchObject(missing);
    const ended = await send(to, 'upload, finalize', picture);
    expect(ended.status, await ended.clone().text()).toBe(200);
    const { file } = JSON.parse(await ended.text());
    expect((await call('GET', `/v1beta/${file.name}`)).status).toBe(200);
    const refused = await call(
      'POST',
      to,
      { headers: { 'x-goog-upload-command': 'query' } },
      'sk-x',
    );
    expect(await errorOf(refused)).toMatchObject({ details: [{ reason: 'API_KEY_INVALID' }] });
  });

  test('a file in pieces: offsets are checked, and `query` tells how far it is', async () => {
    const { opened, send, call } = await begin();
    const bytes = Buffer.alloc(9 * mebibyte, 'abc');
    const to = await opened({ size: bytes.length, type: 'text/plain' });
    const half = 8 * mebibyte;
    const first = await send(to, 'upload', 0, bytes.subarray(0, half));
    expect([first.status, first.headers.get('x-goog-upload-status')]).toEqual([200, 'active']);
    for (const offset of [0, half + 1, -1, 'x', undefined])
      expect(await errorOf(await send(to, 'upload', offset, bytes.subarray(half)))).toMatchObject({
        http: 400,
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`expected ${half}, the bytes received so far`),
      });
    const asked = await send(to, 'query');
    expect(asked.headers.get('access-control-expose-headers')).toContain('x-goog-upload-status');
    expect(asked.headers.get('x-goog-upload-status')).toBe('active');
    expect(asked.headers.get('x-goog-upload-size-received')).toBe(String(half));
    expect(await errorOf(await send(to, 'finalize'))).toMatchObject({
      http: 400,
      message: expect.stringContaining(`'finalize' came after ${half} bytes`),
    });
    const last = await send(to, 'upload, finalize', half, bytes.subarray(half));
    expect(last.headers.get('x-goog-upload-status')).toBe('final');
    const { file } = JSON.parse(await last.text());
    expect(file).toMatchObject({
      sizeBytes: String(bytes.length),
      sha256Hash: createHash('sha256').update(bytes).digest('base64'),
    });
    // A client that lost the answer asks for it again.
    const again = await send(to, 'query');
    expect(again.headers.get('x-goog-upload-status')).toBe('final');
    expect(JSON.parse(await again.text())).toEqual({ file });
    expect(await errorOf(await send(to, 'upload', bytes.length, picture))).toMatchObject({
      http: 404,
      status: 'NOT_FOUND',
    });
    expect((await call('DELETE', `/v1beta/${file.name}`)).status).toBe(200);
  });

  test('a start that is refused says what is wrong, and costs nothing', async () => {
    const { start, running } = await begin();
    const wrong: readonly (readonly [StartHeaders, string])[] = [
      [{ size: 15 * mebibyte + 1 }, 'of 1 to 15728640 bytes'],
      [{ size: 0 }, 'of 1 to 15728640 bytes'],
      [{ size: 'many' }, 'of 1 to 15728640 bytes'],
      [{ type: 'png' }, "expected a type such as image/png, but got 'png'"],
      [{ body: { file: { name: 'files/mine' } } }, 'the gateway names files'],
      [{ body: { file: [] } }, "Invalid type for 'file'"],
      [{ body: { file: { display_name: 7 } } }, 'file.displayName'],
      [{ body: { file: { displayName: 'x'.repeat(513) } } }, 'of at most 512 characters'],
      [{ body: '{' }, 'could not parse'],
      [{ more: { 'x-goog-upload-protocol': 'raw' } }, "'resumable'"],
      [{ more: { 'x-goog-upload-command': 'upload' } }, "'start'"],
    ];
    for (const [what, why] of wrong)
      expect(await errorOf(await start(what))).toMatchObject({
        http: 400,
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining(why),
      });
    expect(await running.gateway.database.query('SELECT * FROM upload')).toEqual([]);
    expect(await running.balance()).toBe('100.00');
  });

  test('the one served protocol is named where a client asks for another, or for bytes back', async () => {
    const { call, uploaded } = await begin();
    for (const protocol of ['multipart', 'raw']) {
      const refused = await call('POST', '/upload/v1beta/files', {
        headers: {
          'x-goog-upload-protocol': protocol,
          'content-type': 'multipart/related; boundary=x',
        },
        body: new Uint8Array(picture),
      });
      const { http, message } = await errorOf(refused);
      expect([http, message]).toEqual([
        400,
        `Invalid value for 'X-Goog-Upload-Protocol': expected 'resumable', the one protocol of uploads here, but got '${protocol}'.`,
      ]);
    }
    const { name } = await uploaded(picture, 'image/png');
    for (const path of [`/v1beta/${name}:download?alt=media`, `/v1/${name}:download?alt=media`]) {
      const { http, message } = await errorOf(await call('GET', path));
      expect([http, message]).toEqual([
        400,
        "Invalid value for 'name': uploaded files cannot be downloaded. Keep your own copy.",
      ]);
    }
  });

  test('an upload that is refused names what is wrong, and goes on after it', async () => {
    const { opened, send } = await begin();
    const to = await opened({ size: picture.length });
    expect(await errorOf(await send(to, 'upload, finalize', 0))).toMatchObject({
      http: 400,
      message: expect.stringContaining(`after 0 bytes, and the file has at least`),
    });
    const longer = Buffer.concat([picture, picture]);
    expect(await errorOf(await send(to, 'upload, finalize', 0, longer))).toMatchObject({
      http: 413,
    });
    expect(await errorOf(await send(to, 'upload, query', 0, picture))).toMatchObject({ http: 400 });
    const done = await send(to, 'upload, finalize', 0, picture);
    // No type was given: the bytes show it.
    expect(JSON.parse(await done.text()).file).toMatchObject({ mimeType: 'image/png' });
    const unknown = await opened({});
    const noise = Buffer.from([0, 1, 2, 3]);
    expect(await errorOf(await send(unknown, 'upload, finalize', 0, noise))).toMatchObject({
      http: 400,
      message: expect.stringContaining('the bytes do not show it'),
    });
    expect((await send(unknown, 'cancel')).headers.get('x-goog-upload-status')).toBe('cancelled');
    expect(await errorOf(await send(unknown, 'query'))).toMatchObject({ http: 404 });
  });

  test('files of another account, unknown and expired ones cannot be read, used or deleted', async () => {
    const { vendor, running, uploaded, generate, call } = await begin();
    const { uri = '', name = '' } = await uploaded(picture, 'image/png');
    const { database } = running.gateway;
    const other = (await newCustomer(database, 10_000_000_000n)).key.secret;
    const id = name.slice('files/'.length);
    const denied = {
      http: 403,
      code: 403,
      status: 'PERMISSION_DENIED',
      message: `You do not have permission to access the File ${id} or it may not exist.`,
    };
    const expectDenied = async (as: string) => {
      for (const method of ['GET', 'DELETE'])
        expect(await errorOf(await call(method, `/v1beta/${name}`, {}, as))).toMatchObject(denied);
      for (const fileUri of [uri, name])
        expect(
          await errorOf(await generate('gem:generateContent', [{ fileData: { fileUri } }], as)),
        ).toMatchObject(denied);
      const list = await call('GET', '/v1beta/files', {}, as);
      expect(JSON.parse(await list.text())).toEqual({ files: [] });
    };
    await expectDenied(other);
    expect(
      await errorOf(await generate('gem:countTokens', [{ fileData: { fileUri: 'files/abc' } }])),
    ).toMatchObject({ http: 403, message: expect.stringContaining('the File abc') });
    await database.query('UPDATE upload SET expires_at=1', []);
    await expectDenied(running.key);
    expect(vendor.received).toEqual([]);
    expect(await running.usage()).toEqual([]);
    expect(await running.balance()).toBe('100.00');
  });

  test('two requests with the same piece: one is stored, and the other is told the offset', async () => {
    const { opened, send, running } = await begin();
    const to = await opened({ size: 6, type: 'text/plain' });
    const both = await Promise.all(
      ['abc', 'xyz'].map((text) => send(to, 'upload', 0, Buffer.from(text))),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    const [counted] = await running.gateway.database.query('SELECT * FROM file_account');
    expect(counted).toMatchObject({ files: 1n, bytes: 3n });
    expect((await send(to, 'upload, finalize', 3, Buffer.from('def'))).status).toBe(200);
    // And two uploads of one account at once.
    const sent = ['first', 'second'].map(async (text) => {
      const address = await opened({ size: text.length, type: 'text/plain' });
      const answer = await send(address, 'upload, finalize', 0, Buffer.from(text));
      return JSON.parse(await answer.text()).file.sizeBytes;
    });
    expect(await Promise.all(sent)).toEqual(['5', '6']);
  });

  test.for(['finalize', 'cancel'])('a piece that arrives after %s is told so', async (command) => {
    const { opened, send } = await begin();
    const to = await opened({ type: 'text/plain' });
    expect((await send(to, 'upload', 0, Buffer.from('abc'))).status).toBe(200);
    let end: () => void = expect.fail;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array([100]));
        end = () => controller.close();
      },
    });
    const headers = { 'x-goog-upload-command': 'upload', 'x-goog-upload-offset': '3' };
    const late = fetch(to, { method: 'POST', headers, body, duplex: 'half' });
    // Long enough that the gateway has found the upload and reads the piece.
    await wait(200);
    expect((await send(to, command)).status).toBe(200);
    end();
    expect(await errorOf(await late)).toMatchObject({
      http: 404,
      message: expect.stringContaining('not found: it has ended'),
    });
  });

  test('an upload has few pieces, and so have the files of a request', async () => {
    const { running, opened, send, uploaded, generate, vendor } = await begin();
    const { piecesMax, piecesOfRequestMax } = uploadLimits;
    const to = await opened({ type: 'text/plain' });
    for (let i = 0; i < piecesMax; i += 1)
      expect((await send(to, 'upload', i, Buffer.from('a'))).status).toBe(200);
    expect(
      await errorOf(await send(to, 'upload, finalize', piecesMax, Buffer.from('a'))),
    ).toMatchObject({ http: 400, message: expect.stringContaining(`${piecesMax} pieces`) });
    expect((await send(to, 'finalize')).status).toBe(200);
    const { uri } = await uploaded(Buffer.from('b'), 'text/plain');
    const { database } = running.gateway;
    const [row] = await database.query('SELECT pieces FROM upload WHERE bytes=1');
    const repeated = (count: number): string => Array(count).fill(row?.['pieces']).join(' ');
    const ask = async (count: number): Promise<Response> => {
      await database.query('UPDATE upload SET pieces=$1 WHERE bytes=1', [repeated(count)]);
      return generate('gem:generateContent', [{ fileData: { fileUri: uri } }]);
    };
    expect((await ask(piecesOfRequestMax)).status).toBe(200);
    expect(await errorOf(await ask(piecesOfRequestMax + 1))).toMatchObject({
      http: 400,
      message: expect.stringContaining(`at most ${piecesOfRequestMax} pieces`),
    });
    expect(vendor.received).toHaveLength(1);
  });

  test('limits: uploads under way, bytes of the account, requests per minute', async () => {
    const { start, opened, send, call } = await begin(
      'settings: { media: { kept_bytes: 10, kept_seconds: 60 } }',
    );
    const to = await opened({ size: 20, type: 'text/plain' });
    expect((await send(to, 'upload', 0, Buffer.from('12345678'))).status).toBe(200);
    expect(await errorOf(await send(to, 'upload', 8, Buffer.from('123')))).toMatchObject({
      http: 429,
      message: expect.stringContaining('reached the storage limit'),
    });
    for (let i = 1; i < uploadLimits.underWayMax; i += 1) await opened({});
    expect(await errorOf(await start({}))).toMatchObject({
      http: 429,
      message: expect.stringContaining(`${uploadLimits.underWayMax} uploads that have not ended`),
    });
    await send(to, 'cancel');
    const last = await opened({ size: 2, type: 'text/plain' });
    const { file } = JSON.parse(
      await (await send(last, 'upload, finalize', 0, Buffer.from('ab'))).text(),
    );
    expect(Date.parse(file.expirationTime) - Date.parse(file.createTime)).toBe(60_000);
    for (const query of ['pageToken=x', 'pageSize=x', 'pageToken=1-A'])
      expect((await call('GET', `/v1beta/files?${query}`)).status).toBe(400);
    expect(await errorOf(await call('GET', '/v1beta/files?pageSize=x'))).toMatchObject({
      message: "Invalid 'pageSize': expected a value of at least 1, in digits, but got x instead.",
    });
  });

  test('bodies without a length are counted while they arrive', async () => {
    const { running, opened } = await begin('', { bodyBytesInFlightMax: 15 * mebibyte });
    const send = (to: string, body: ReadableStream<Uint8Array>) =>
      fetch(to, {
        method: 'POST',
        headers: {
          'x-goog-api-key': running.key,
          'x-goog-upload-command': 'upload',
          'x-goog-upload-offset': '0',
        },
        body,
        duplex: 'half',
      });
    let pulled = 0;
    let end: () => void = expect.fail;
    const slow = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          pulled += 1;
          if (pulled > 12) await new Promise(() => {});
          controller.enqueue(new Uint8Array(mebibyte));
          end = () => controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const first = send(await opened({}), slow);
    await expect.poll(() => pulled, { timeout: 10_000 }).toBe(13);
    await wait(500);
    const large = new Uint8Array(6 * mebibyte);
    const refused = await send(await opened({}), new Blob([large]).stream());
    expect(await errorOf(refused)).toMatchObject({
      http: 429,
      message: expect.stringContaining('exceed 15728640 bytes'),
    });
    end();
    expect((await first).status).toBe(200);
    expect((await send(await opened({}), new Blob([large]).stream())).status).toBe(200);
  });

  test('requests for files count towards the requests of the group', async () => {
    const vendor = await startVendor();
    const { url, key } = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: oneModel(vendor.url).replace(
        '{ name: default, price_multiplier: 1.0 }',
        '{ name: default, price_multiplier: 1.0, limits: { rpm: 2 } }',
      ),
    });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1)
      statuses.push((await fetch(`${url}/v1beta/files?key=${key}`)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('an idle upload and an expired file are removed with their bytes', async () => {
    const store = await fileStore(openFresh);
    const clock = { now: () => store.time, monotonicMs: () => store.time };
    const { database, files } = store;
    const limits = { ...uploadLimits, underWayMax: 1 };
    const addresses = { base: () => '' };
    const sealer = openSealer(Buffer.alloc(32, 7));
    const uploads = new Uploads({ database, files, clock, limits, addresses, sealer });
    const wish = { account: 'ada', displayName: '', type: undefined, declared: undefined };
    const idle = (await uploads.begin(wish)) ?? expect.fail();
    expect(await uploads.begin(wish)).toBe(undefined);
    await uploads.append(idle, Buffer.from('abc'));
    store.time += limits.idleMs;
    expect(await uploads.find('ada', idle.id)).toBe(undefined);
    const next = (await uploads.begin(wish)) ?? expect.fail();
    const grown = await uploads.append(next, Buffer.from('def'));
    if (grown === 'overtaken' || 'why' in grown) return expect.fail();
    const ended = await uploads.finish(grown);
    expect(ended).toMatchObject({ type: 'text/plain', bytes: 3 });
    expect(await uploads.expire()).toBe(1);
    expect((await store.left()).blobs).toHaveLength(1);
    store.time += limits.keptMs - 1;
    expect(await uploads.list('ada', 10)).toHaveLength(1);
    store.time += 1;
    expect(await uploads.list('ada', 10)).toEqual([]);
    await uploads.expire();
    await files.expire();
    expect(await store.left()).toEqual({ rows: [], accounts: [], blobs: [] });
    expect(await database.query('SELECT * FROM upload')).toEqual([]);
  });
});

test('no byte of a file is in a log line or a record of a refusal', async () => {
  const folder = await temporaryFolder();
  const vendor = await startVendor();
  vendor.answer((_request, response) => json(response, 200, JSON.stringify(answered)));
  const node = await startProcess({
    folder,
    configuration: configuration(vendor.url),
    env: { TOLLGATE_LOG: 'info' },
  });
  onTestFinished(() => node.kill());
  const database = await open(`sqlite:${join(folder, 'tollgate.db')}`, {
    procedures: ledgerProcedures,
  });
  onTestFinished(() => database.close());
  const { key } = await newCustomer(database, 1_000_000_000_000n);
  const bytes = Buffer.from(JSON.stringify({ model: secret }));
  const post = (address: string, headers: Record<string, string>, body: string | Buffer) =>
    fetch(address, {
      method: 'POST',
      headers: { 'x-goog-api-key': key.secret, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
  const begun = await post(
    `${node.url}/upload/v1beta/files`,
    { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' },
    '',
  );
  const to = begun.headers.get('x-goog-upload-url') ?? '';
  const send = (command: string, offset: number) =>
    post(to, { 'x-goog-upload-command': command, 'x-goog-upload-offset': String(offset) }, bytes);
  expect((await send('upload', 7)).status).toBe(400);
  expect((await send('upload, finalize', 0)).status).toBe(200);
  expect((await send('upload', 0)).status).toBe(404);
  const { files } = JSON.parse(
    await (await fetch(`${node.url}/v1beta/files?key=${key.secret}`)).text(),
  );
  const ask = (model: string) =>
    post(
      `${node.url}/v1beta/models/${model}:generateContent`,
      {},
      JSON.stringify({ contents: [{ parts: [{ fileData: { fileUri: files[0].uri } }] }] }),
    );
  expect((await ask('none')).status).toBe(404);
  await ask('gem');
  await node.stop();
  const kept = JSON.stringify(await database.query('SELECT * FROM request_log'), (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  for (const text of [node.output(), kept]) {
    expect(text).toContain('/upload/v1beta/files');
    expect(text).not.toContain('the red fox');
    expect(text).not.toContain(bytes.toString('base64').slice(0, 20));
  }
}, 60_000);
