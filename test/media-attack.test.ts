import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { imageOf } from '../sim/media/png.ts';
import { wav } from '../sim/media/wav.ts';
import { migrations } from '../src/app/schema.ts';
import type { TaskLimits } from '../src/gateway/tasks/parts.ts';
import { type Fresh, forEachDatabase } from './databases.ts';
import { aFilm, quickTasks } from './support/film-vendor.ts';
import { type Running, startRunning } from './support/running.ts';
import {
  json,
  type Received,
  type ScriptedVendor,
  startVendor,
} from './support/scripted-vendor.ts';

/** Prices that show at a glance what was charged for. */
const configuration = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: film, owned_by: openai, kind: video, durations: [5, 10], price: { second: 0.7 } }
  - { id: image, owned_by: openai, kind: image, image: { sizes: [1024x1024] }, price: { image: 1 } }
  - { id: voice, owned_by: openai, kind: speech, price: { character: 0.01 } }
  - { id: ear, owned_by: openai, kind: transcription, price: { second: 0.01 } }
channels:
  - { name: all, vendor: openai-compatible, base_url: "${url}/v1", api_key: 3f2a9c-up-key, models: [film, image, voice, ear] }
`;

interface Started {
  readonly vendor: ScriptedVendor;
  readonly running: Running;
}

async function startOn(
  fresh: Fresh,
  yuan = '10',
  limits: Partial<TaskLimits> = {},
): Promise<Started> {
  const vendor = await startVendor();
  const databaseUrl = (await fresh(migrations)).url;
  const running = await startRunning({
    databaseUrl,
    configuration: configuration(vendor.url),
    yuan,
    taskLimits: { ...quickTasks, ...limits },
  });
  return { vendor, running };
}

const film = { model: 'film', prompt: 'A wave', duration: 5, async: true };

const authorization = ({ key }: Running) => ({ authorization: `Bearer ${key}` });

interface Told {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
  readonly video_url?: string;
}

async function told(running: Running, id: string): Promise<Told> {
  return JSON.parse(
    await (
      await fetch(`${running.url}/v1/video/generations/${id}`, { headers: authorization(running) })
    ).text(),
  );
}

async function ended(running: Running, body: object = film): Promise<Told> {
  const submitted: Told = JSON.parse(
    await (await running.post('/v1/video/generations', body)).text(),
  );
  await expect
    .poll(async () => (await told(running, submitted.id)).status, { timeout: 8_000 })
    .toMatch(/completed|failed/);
  return told(running, submitted.id);
}

/** Takes every film at once, says that it is done, and gives of the n-th what `give` does. */
function filmed(
  give: (which: number, response: ServerResponse) => unknown,
  state: object = { status: 'completed' },
) {
  return ({ method, url, text }: Received, response: ServerResponse): unknown => {
    if (method === 'POST')
      return json(
        response,
        200,
        JSON.stringify({ id: `up_${/\d+/.exec(text.split('"prompt"')[1] ?? '')?.[0] ?? 0}` }),
      );
    const which = Number(/up_(\d+)/.exec(url)?.[1]);
    return url.endsWith('/content')
      ? give(which, response)
      : json(response, 200, JSON.stringify({ id: `up_${which}`, ...state }));
  };
}

forEachDatabase((_name, _open, fresh) => {
  test('nothing that is priced is smuggled past its price', async () => {
    const { vendor, running } = await startOn(fresh);
    const cheap: readonly (readonly [string, object, object])[] = [
      [
        '/v1/audio/speech',
        { model: 'voice', input: 'a', voice: 'alloy' },
        { Input: 'a'.repeat(4_000) },
      ],
      ['/v1/images/generations', { model: 'image', prompt: 'a' }, { Size: '4096x4096' }],
      ['/v1/images/generations', { model: 'image', prompt: 'a' }, { QUALITY: 'high' }],
      ['/v1/video/generations', film, { Duration: 10 }],
    ];
    for (const [path, body, more] of cheap) {
      const reply = await running.post(path, { ...body, ...more });
      expect([reply.status, await reply.json()]).toMatchObject([
        400,
        { error: { param: Object.keys(more)[0] } },
      ]);
    }
    for (const elsewhere of ['url', 'file_url']) {
      const form = new FormData();
      form.append('model', 'ear');
      form.append('file', new Blob([new Uint8Array(wav('Hi'))]), 'a.wav');
      form.append(elsewhere, 'https://example.com/ten-hours.mp3');
      const headers = { authorization: `Bearer ${running.key}` };
      const reply = await fetch(`${running.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers,
        body: form,
      });
      expect([reply.status, await reply.json()]).toMatchObject([
        400,
        { error: { param: elsewhere } },
      ]);
    }
    expect(vendor.received).toHaveLength(0);
    expect(await running.balance()).toBe('10.00');
  });

  test('a film that lies, or is none, is asked for again until its time is over, and costs nothing', async () => {
    const { vendor, running } = await startOn(fresh, '28', { ageMs: 700 });
    const type = { 'content-type': 'video/mp4' };
    const lies: readonly ((response: ServerResponse) => unknown)[] = [
      (response) => response.writeHead(200, type).end('<html><script>alert(1)</script></html>'),
      (response) => response.writeHead(200, type).end(),
      (response) =>
        response
          .writeHead(200, { ...type, 'content-length': aFilm.length + 1_000 })
          .write(aFilm, () => response.destroy()),
      (response) =>
        response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
      (response) => response.writeHead(302, { location: 'content' }).end(),
      (response) => response.writeHead(200, { ...type, 'content-encoding': 'gzip' }).end(aFilm),
      (response) => response.writeHead(404).end('{"error":{"message":"no 3f2a9c-up-key"}}'),
      (response) => response.writeHead(401).end(),
    ];
    vendor.answer(filmed((which, response) => lies[which]?.(response)));
    await Promise.all(
      lies.map(async (lie, i) => {
        const {
          status,
          error,
          video_url: url,
        } = await ended(running, { ...film, prompt: `lie ${i}` });
        expect([status, error, url, lie]).toEqual([
          'failed',
          'Task timed out and was cancelled.',
          undefined,
          lie,
        ]);
      }),
    );
    expect(await running.balance()).toBe('28.00');
    expect(await running.gateway.database.query('SELECT files, bytes FROM file_account')).toEqual(
      [],
    );
    await running.expectBooks();
  });

  test('what a vendor says of a film that failed tells nothing of our key', async () => {
    const { vendor, running } = await startOn(fresh);
    const error = {
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: 'a size \0 that 3f2a9c-up-key may not have \ud800',
    };
    vendor.answer(filmed(() => {}, { status: 'failed', error }));
    const { status, error: why } = await ended(running);
    expect([status, why]).toEqual(['failed', expect.stringContaining('that *** may not have')]);
    expect(await running.balance()).toBe('10.00');
    await running.expectBooks();
  });

  test('a page for a voice is no voice, and costs nothing', async () => {
    const { vendor, running } = await startOn(fresh);
    for (const page of ['<html><script>alert(1)</script></html>', '{"error":{"message":"no"}}']) {
      vendor.answer((_request, response) =>
        response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(page),
      );
      expect(
        (
          await running.post('/v1/audio/speech', {
            model: 'voice',
            input: 'Hello there',
            voice: 'alloy',
          })
        ).status,
      ).toBe(503);
    }
    expect(await running.balance()).toBe('10.00');
    await running.expectBooks();
  });

  test('the last yuan buys one film, however many ask for it at once, with and without a key of their own', async () => {
    const { vendor, running } = await startOn(fresh, '3.5');
    vendor.answer(
      filmed((_which, response) =>
        response.writeHead(200, { 'content-type': 'video/mp4' }).end(aFilm),
      ),
    );
    const asked = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const headers: Record<string, string> = i < 10 ? { 'idempotency-key': 'the same' } : {};
        const reply = await running.post('/v1/video/generations', film, { headers });
        return { status: reply.status, body: JSON.parse(await reply.text()) };
      }),
    );
    const ids = new Set(asked.filter(({ status }) => status === 200).map(({ body }) => body.id));
    expect([...new Set(asked.map(({ status }) => status))].toSorted()).toEqual([200, 429]);
    expect(ids.size).toBe(1);
    expect(vendor.received.filter(({ method }) => method === 'POST')).toHaveLength(1);
    for (const id of ids)
      await expect.poll(async () => (await told(running, id)).status).toBe('completed');
    expect(await running.balance()).toBe('0.00');
    expect(await running.usage()).toHaveLength(1);
    await running.expectBooks();
  });

  test('a picture for a film that is none is refused before anything is asked or held', async () => {
    const { vendor, running } = await startOn(fresh);
    const png = imageOf('a fox', 64, 64).toString('base64');
    for (const [type, base64] of [
      ['png', ''],
      ['png', 'A'.repeat(100_000)],
      ['jpeg', Buffer.from('<html>').toString('base64')],
      ['png', png.slice(0, 200)],
      ['heic', ''],
    ]) {
      const reply = await running.post('/v1/video/generations', {
        ...film,
        image: `data:image/${type};base64,${base64}`,
      });
      expect([reply.status, await reply.json()]).toMatchObject([
        400,
        { error: { param: 'image' } },
      ]);
    }
    expect(vendor.received).toHaveLength(0);
    expect(
      (
        await running.post('/v1/video/generations', {
          ...film,
          image: `data:image/png;base64,${png}`,
        })
      ).status,
    ).toBe(200);
    await running.expectBooks();
  });
});
