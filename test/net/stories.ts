import { setTimeout as wait } from 'node:timers/promises';
import { type Build, commandJson } from './build.ts';
import type { Case } from './cases.ts';
import { ask, type Asked, type Answer, exchangeText, type Records } from './client.ts';
import { type Format, formats } from './conversation.ts';
import { type Serving, soldCase } from './customer.ts';
import { type Played, playAll, recordPlayed } from './exchanges.ts';
import { Placeholders } from './placeholders.ts';
import { type Json, parsed, type Recording } from './recordings.ts';
import type { Vendor } from './vendor.ts';

// Requests whose result needs more than one exchange.

const json = { 'content-type': 'application/json' };
const plain = {
  id: '',
  vendor: 'openai',
  endpoint: 'chat',
  url: '',
  request: undefined,
  streamed: false,
};
const error = (status: number, code: string, headers: Record<string, string> = {}): Recording => ({
  ...plain,
  status,
  headers: { ...json, ...headers },
  answer: Buffer.from(
    JSON.stringify({ error: { message: `It is ${code}.`, type: code, code, param: null } }),
  ),
});

/** The fault of the first of two channels. */
const faults: Readonly<Record<string, Recording>> = {
  'bad request': error(400, 'invalid_value'),
  'too long': error(400, 'context_length_exceeded'),
  key: error(401, 'invalid_api_key'),
  purse: error(402, 'insufficient_quota'),
  forbidden: error(403, 'forbidden'),
  'no model': error(404, 'model_not_found'),
  busy: error(429, 'rate_limit_exceeded', { 'retry-after': '7' }),
  'empty purse': error(429, 'insufficient_quota'),
  failing: error(500, 'server_error'),
  unavailable: error(503, 'overloaded'),
  'no JSON': { ...plain, status: 200, headers: json, answer: Buffer.from('<html>') },
  nothing: { ...plain, status: 200, headers: json, answer: Buffer.alloc(0) },
  'a stream without an end': {
    ...plain,
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    streamed: true,
    answer: Buffer.from(
      'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}\n\n',
    ),
  },
};

const bodyOf: Readonly<Record<Format, Json>> = {
  chat: { messages: [{ role: 'user', content: 'Hello' }] },
  responses: { input: 'Hello' },
  messages: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
};

/**
 * Each fault in each format, whole and streamed: a second channel sells the same model, and gets
 * the request next.
 */
const faultCases = (): readonly Case[] =>
  Object.entries(faults).flatMap(([fault, recording]) =>
    (Object.keys(formats) as Format[]).flatMap((format) =>
      [false, true].map((stream): Case => {
        const name = `${fault.replaceAll(' ', '-')}-${format}-${stream ? 'stream' : 'whole'}`;
        const body = { model: `${name}/gpt-4o`, ...bodyOf[format], ...(stream && { stream }) };
        const asked = { path: formats[format].path, body };
        return { ...soldCase(name), vendor: 'openai-compatible', asked, recording };
      }),
    ),
  );

/** The second channel of each, and a group in which two requests a minute are allowed. */
function configured({ groups, models, channels }: Json, twice: ReadonlySet<string>): Json {
  const second = channels
    .filter(({ name }: Json) => twice.has(name))
    .map((channel: Json) => ({
      ...channel,
      name: `${channel.name}-second`,
      priority: 1,
      base_url: channel.base_url.replace(channel.name, `${channel.name}-second`),
    }));
  const tight = {
    name: 'tight',
    price_multiplier: 0.5,
    limits: { rpm: 2, tpm: 100_000, concurrency: 1 },
  };
  const all = [...channels, ...second].map((channel: Json) => ({
    ...channel,
    groups: ['default', 'tight'],
  }));
  return { groups: [...groups, tight], models, channels: all };
}

export async function recordStories(
  build: Build,
  recordings: readonly Recording[],
): Promise<Records> {
  const failing = faultCases();
  const sold = [soldCase('sold'), soldCase('film', 'video')];
  const twice = new Set(failing.map(({ name }) => name));
  const told: Records = new Map();
  const play = async (serving: Serving, vendor: Vendor): Promise<readonly Played[]> => {
    const { key: tight = '' } = await commandJson(
      build,
      ['key', 'create', '--user', serving.userId, '--group', 'tight'],
      serving.place,
    );
    const played = await playAll(serving, vendor, failing, 'story of a fault');
    for (const [name, steps] of Object.entries(stories(tight)))
      await tell(serving, vendor, name, steps, told);
    return played;
  };
  const faulty = await recordPlayed(
    build,
    'stories',
    [...failing, ...sold],
    recordings,
    play,
    (all) => configured(all, twice),
  );
  return new Map([...faulty, ...told]);
}

interface Step extends Asked {
  /** Repeats the request until the response matches. */
  readonly until?: RegExp;
}

const model = 'sold/gpt-4o';
const film = 'film/gpt-4o';
const chat = { path: '/v1/chat/completions', body: { model, ...bodyOf.chat } };

/** `$id` in a path or body is the id of the story's first answer. */
const stories = (tight: string): Readonly<Record<string, readonly Step[]>> => {
  const limited = { ...chat, headers: { authorization: `Bearer ${tight}` } };
  const once = (body: Json): Step => ({
    ...chat,
    body,
    headers: { 'idempotency-key': 'net-once' },
  });
  const get = (path: string, method = 'GET'): Step => ({ method, path });
  const stored = '/v1/responses/$id';
  const ended = /"status": ?"(?:completed|failed|incomplete|cancelled)"/;
  return {
    'a limit': [limited, limited, limited, get('/v1/models')],
    'a request sent twice': [once(chat.body), once(chat.body), once({ ...chat.body, n: 1 })],
    'a stored response': [
      { path: '/v1/responses', body: { model, input: 'Hello' } },
      get(stored),
      get(`${stored}/input_items`),
      get(`${stored}?stream=true`),
      { path: '/v1/responses', body: { model, input: 'And then?', previous_response_id: '$id' } },
      get(stored, 'DELETE'),
      get(stored),
      { path: '/v1/responses', body: { model, input: 'And then?', previous_response_id: '$id' } },
    ],
    'a response that is not stored': [
      { path: '/v1/responses', body: { model, input: 'Hello', store: false } },
      get(stored),
    ],
    'a response in the background': [
      { path: '/v1/responses', body: { model, input: 'Hello', background: true } },
      { ...get(stored), until: ended },
      get(`${stored}/cancel`, 'POST'),
    ],
    'a video': [
      {
        path: '/v1/video/generations',
        body: { model: film, prompt: 'a cat', async: true, duration: 5 },
      },
      get('/v1/video/generations/$id'),
      get('/v1/videos/$id'),
      get('/v1/videos/$id/content'),
      get('/v1/videos'),
    ],
    'a video of the other interface': [
      { path: '/v1/videos', body: { model: film, prompt: 'a cat', seconds: '4' } },
      get('/v1/videos/$id'),
      get('/v1/videos/$id', 'DELETE'),
    ],
  };
};

const accepted: Recording = {
  ...plain,
  endpoint: 'video',
  status: 200,
  headers: json,
  answer: Buffer.from(
    '{"id":"video_up","object":"video","status":"queued","model":"sora-2","seconds":"4","created_at":1,"progress":0}',
  ),
};
const triesMax = 100;

/** The vendor's requests come at no fixed time: of these stories only the client's side is kept. */
async function tell(
  { gateway, key }: Serving,
  vendor: Vendor,
  story: string,
  steps: readonly Step[],
  told: Records,
): Promise<void> {
  const names = new Placeholders();
  vendor.play({ film: accepted });
  let id = '';
  for (const [index, { until, ...step }] of steps.entries()) {
    const filled: Json = JSON.parse(
      JSON.stringify({ ...step, body: step.body ?? null }).replaceAll('$id', id),
    );
    const asked: Asked = {
      ...filled,
      headers: { authorization: `Bearer ${key}`, ...step.headers },
      body: filled.body ?? undefined,
    };
    let answer: Answer = await ask(gateway.url, asked);
    for (
      let tries = 0;
      until?.test(answer.body.toString('utf8')) === false && tries < triesMax;
      tries += 1
    ) {
      await wait(100);
      answer = await ask(gateway.url, asked);
    }
    if (index === 0) id = parsed(answer.body.toString('utf8'))?.id ?? 'none';
    told.set(`story of ${story} ${index} ${step.path}`, exchangeText(names, [], answer));
  }
  vendor.sent();
}
