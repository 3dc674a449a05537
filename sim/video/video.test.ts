import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Sim, startSim } from '../index.ts';
import { klingSecret } from './kling.ts';

let sim: Sim;
/** The clock of this test and of its simulators stands still, but for what a test lets pass. */
let nowMs = systemClock.now();
beforeAll(async () => {
  vi.spyOn(systemClock, 'now').mockImplementation(() => nowMs);
  sim = await startSim();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await sim.close();
});
const pass = (ms: number): void => {
  nowMs += ms;
};

type Headers = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;
const bearer: Headers = { authorization: 'Bearer sk-sim' };

async function ask(
  method: string,
  path: string,
  headers: Headers,
  body?: object,
): Promise<{ readonly status: number; readonly json: Json; readonly text: string }> {
  const response = await fetch(sim.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    json: text.startsWith('{') ? (JSON.parse(text) as Json) : {},
    text,
  };
}

const veo = '/gemini/v1beta/models/veo-3.1-generate-preview:predictLongRunning';
const google: Headers = { 'x-goog-api-key': 'sim' };
const wan = '/qwen/api/v1/services/aigc/video-generation/video-synthesis';
const dashscope: Headers = { ...bearer, 'x-dashscope-async': 'enable' };
const runway: Headers = { ...bearer, 'x-runway-version': '2024-11-06' };
const vidu: Headers = { authorization: 'Token vda_sim' };
const ark = '/volcengine/api/v3/contents/generations/tasks';
const prompt = 'a cat';
const instances = [{ prompt }];
const text = { type: 'text', text: prompt };

/** Documented refusals: path, headers, body, and the error text. */
const refused: readonly (readonly [string, Headers, object, RegExp])[] = [
  [veo, {}, { instances }, /unregistered callers/],
  [veo, { 'x-goog-api-key': 'wrong' }, { instances }, /API key not valid/],
  [veo, google, { instances: [] }, /instances/],
  [
    veo,
    google,
    {
      instances: [
        {
          prompt,
          image: { bytesBase64Encoded: 'data:image/png;base64,AAAA', mimeType: 'image/png' },
        },
      ],
    },
    /base64/,
  ],
  [veo, google, { instances, parameters: { durationSeconds: 5 } }, /durationSeconds/],
  [
    veo,
    google,
    { instances, parameters: { durationSeconds: 6, resolution: '1080p' } },
    /only supported/,
  ],
  [veo, google, { instances, parameters: { durationSeconds: '6' } }, /integer/],
  [veo, google, { instances, parameters: { generateAudio: true } }, /generateAudio/],
  ['/kling/v1/videos/text2video', {}, { model_name: 'kling-v3', prompt }, /1001/],
  [
    '/kling/v1/videos/text2video',
    { authorization: 'Bearer a.b.c' },
    { model_name: 'kling-v3', prompt },
    /1002/,
  ],
  [
    '/kling/v1/videos/text2video',
    bearer,
    { model_name: 'kling-v3', prompt, duration: 5 },
    /duration/,
  ],
  [
    '/kling/v1/videos/text2video',
    bearer,
    { model_name: 'kling-v2-6', prompt, duration: '7' },
    /duration/,
  ],
  [
    '/kling/v1/videos/text2video',
    bearer,
    { model_name: 'kling-v2-1', prompt, sound: 'on' },
    /sound/,
  ],
  [
    '/kling/v1/videos/text2video',
    bearer,
    { model_name: 'kling-v2-6', prompt, sound: 'on', mode: 'std' },
    /mode pro/,
  ],
  [
    '/kling/v1/videos/image2video',
    bearer,
    { model_name: 'kling-v3', image: 'data:image/png;base64,AAAA' },
    /image/,
  ],
  [
    '/kling/v1/videos/image2video',
    bearer,
    { model_name: 'kling-v3', image: 'AAAA', aspect_ratio: '1:1' },
    /aspect_ratio/,
  ],
  [
    '/minimax/v1/video_generation',
    bearer,
    { model: 'MiniMax-Hailuo-02', prompt, duration: 5 },
    /2013/,
  ],
  [
    '/minimax/v1/video_generation',
    bearer,
    { model: 'MiniMax-Hailuo-02', prompt, duration: 10, resolution: '1080P' },
    /1080P/,
  ],
  [
    '/minimax/v1/video_generation',
    bearer,
    { model: 'MiniMax-Hailuo-2.3-Fast', prompt },
    /first_frame_image/,
  ],
  [
    '/minimax/v2/video_generation',
    bearer,
    { model: 'MiniMax-H3', content: [text], duration: 4 },
    /invalid_request_error/,
  ],
  [wan, bearer, { model: 'wan2.6-t2v', input: { prompt } }, /synchronous calls/],
  [
    wan,
    dashscope,
    { model: 'wan2.6-t2v', input: { prompt }, parameters: { size: '1280x720' } },
    /InvalidParameter/,
  ],
  [
    wan,
    dashscope,
    { model: 'wan2.6-t2v', input: { prompt }, parameters: { duration: 7 } },
    /InvalidParameter/,
  ],
  [
    wan,
    dashscope,
    { model: 'wan2.7-i2v', input: { prompt, img_url: 'https://a.example/a.png' } },
    /InvalidParameter/,
  ],
  [ark, bearer, { model: 'doubao-seedance-2-0-260128', content: [text], duration: 16 }, /duration/],
  [
    ark,
    bearer,
    { model: 'doubao-seedance-2-0-fast-260128', content: [text], resolution: '1080p' },
    /resolution/,
  ],
  ['/xai/v1/videos/generations', bearer, { model: 'grok-imagine-video', prompt, seed: 1 }, /seed/],
  [
    '/xai/v1/videos/generations',
    bearer,
    { model: 'grok-imagine-video', prompt, resolution: '1080p' },
    /1080p/,
  ],
  [
    '/runway/v1/text_to_video',
    bearer,
    { model: 'gen4.5', promptText: prompt, ratio: '1280:720', duration: 5 },
    /X-Runway-Version/,
  ],
  [
    '/runway/v1/text_to_video',
    runway,
    { model: 'gen4.5', promptText: prompt, ratio: '960:960', duration: 5 },
    /ratio/,
  ],
  [
    '/runway/v1/text_to_video',
    runway,
    { model: 'gen4_turbo', promptText: prompt, ratio: '1280:720', duration: 5 },
    /duration/,
  ],
  [
    '/zhipu/api/paas/v4/videos/generations',
    bearer,
    { model: 'cogvideox-3', prompt, duration: 6 },
    /duration/,
  ],
  [
    '/zhipu/api/paas/v4/videos/generations',
    bearer,
    { model: 'cogvideox-3', prompt, size: '720p' },
    /size/,
  ],
  ['/vidu/ent/v2/text2video', bearer, { model: 'viduq3-pro', prompt }, /Unauthorized/],
  ['/vidu/ent/v2/text2video', vidu, { model: 'viduq3-pro', prompt, duration: 17 }, /duration/],
  [
    '/vidu/ent/v2/start-end2video',
    vidu,
    { model: 'viduq3-pro', images: ['https://a.example/a.png'] },
    /images/,
  ],
];

test.each(refused)('%s refuses', async (path, headers, body, message) => {
  const reply = await ask('POST', path, headers, body);
  expect(reply.text).toMatch(message);
  expect(JSON.stringify(reply.json)).not.toMatch(
    /"(?:task_id|request_id|id|name)":"(?:[^"]*\/)?t-/,
  );
});

describe('tasks', () => {
  const submit = async (scenario: string): Promise<string> => {
    const { json } = await ask('POST', ark, bearer, {
      model: `doubao-seedance-2-0-260128+${scenario}`,
      content: [text],
    });
    return String(json['id']);
  };
  const look = (id: string) => ask('GET', `${ark}/${id}`, bearer);

  test('wait, run, and are done, known to every simulator', async () => {
    const id = await submit('sim-task-400ms');
    expect((await look(id)).json).toMatchObject({ status: 'queued' });
    pass(150);
    expect((await look(id)).json).toMatchObject({ status: 'running' });
    pass(400);
    const other = await startSim();
    const seen = await fetch(`${other.url}${ark}/${id}`, { headers: bearer });
    await other.close();
    const task = (await seen.json()) as { readonly status: string; readonly usage: Json };
    expect(task).toMatchObject({ status: 'succeeded', usage: { completion_tokens: 108_900 } });
  });

  test('are taken back while they wait', async () => {
    const id = await submit('sim-task-5000ms');
    expect((await ask('DELETE', `${ark}/${id}`, bearer)).status).toBe(200);
    expect((await look(id)).json).toMatchObject({ status: 'cancelled' });
    expect((await ask('DELETE', `${ark}/t-none`, bearer)).status).toBe(404);
  });

  test('lie and vanish as their scenario says', async () => {
    const [odd, html, refusing, gone] = await Promise.all(
      ['odd', 'html', '401', 'gone'].map((how) => submit(`sim-task-${how}+sim-task-200ms`)),
    );
    pass(80);
    expect((await look(odd ?? '')).json).toMatchObject({ status: 'postprocessing' });
    expect((await look(html ?? '')).text).toMatch(/^<html>/);
    expect((await look(refusing ?? '')).status).toBe(401);
    expect((await look(gone ?? '')).status).toBe(404);
    pass(200);
    expect((await look(html ?? '')).json).toMatchObject({ status: 'succeeded' });
  });

  test('of Kling take keys that are signed and valid now', async () => {
    const path = '/kling/v1/videos/text2video';
    const encoded = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const as = (secret: string, nowMs: number) => {
      const begun = Math.floor(nowMs / 1_000);
      const unsigned = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ iss: 'ak', exp: begun + 1_800, nbf: begun - 5 })}`;
      const token = `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`;
      return ask(
        'POST',
        path,
        { authorization: `Bearer ${token}` },
        { model_name: 'kling-v3', prompt },
      );
    };
    const now = systemClock.now();
    expect((await as(klingSecret, now)).json).toMatchObject({ code: 0 });
    expect((await as('another', now)).json).toMatchObject({ code: 1002 });
    expect((await as(klingSecret, now - 3_600_000)).json).toMatchObject({ code: 1002 });
    expect((await as(klingSecret, now + 60_000)).json).toMatchObject({ code: 1002 });
  });

  test('of Google have their video at another address, which needs the key', async () => {
    const { json } = await ask('POST', veo, google, {
      instances,
      parameters: { durationSeconds: 4 },
    });
    pass(700);
    const polled = await ask('GET', `/gemini/v1beta/${String(json['name'])}`, google);
    const uri = /"uri":"([^"]+)"/.exec(polled.text)?.[1] ?? '';
    expect((await fetch(uri)).status).toBe(403);
    const moved = await fetch(uri, { headers: google, redirect: 'manual' });
    expect(moved.status).toBe(302);
    const there = moved.headers.get('location') ?? '';
    expect((await fetch(there)).status).toBe(403);
    const download = await fetch(there, { headers: google });
    expect([download.status, download.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  });
});
