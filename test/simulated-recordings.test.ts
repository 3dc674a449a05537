import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redact, sign } from '../sim/anthropic/thought.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { Refusal } from '../src/base/refusal.ts';
import type { Adapter, VendorRequest } from '../src/providers/adapter.ts';
import { cohereChat } from '../src/providers/formats/cohere/adapter.ts';
import { geminiChat } from '../src/providers/formats/gemini/adapter.ts';
import {
  chatRecordings,
  type Recording,
  recordingsAt,
  recordingsFolder,
} from './recorded-traffic.ts';
import { chatCall } from './support/vendor-call.ts';

/**
 * The simulator was written from the vendors' documents; what was recorded of the vendors
 * themselves says whether they were read rightly.
 */
let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const taken = (endpoint: string, url: RegExp): Recording[] =>
  recordingsFolder === undefined
    ? []
    : recordingsAt(recordingsFolder, endpoint).filter(
        (one) => one.status === 200 && one.request !== undefined && url.test(one.url),
      );

const ofGoogle = taken('gemini', /:(?:stream)?[gG]enerateContent/);
const ofCohere = taken('nativechat', /api\.cohere\.(?:com|ai)\/v2\/chat/);

/** Where a recorded request goes here, and with what key. */
function here(url: string): { readonly url: string; readonly headers: Record<string, string> } {
  const { host, pathname: path, search } = new URL(url.replaceAll('<', '').replaceAll('>', ''));
  const vertex = /aiplatform|publishers/.test(host + path);
  // Proxies put words of their own before it.
  const pathname = path.slice(path.search(/\/v1(?:beta1?)?\/(?:models|projects|publishers)/));
  const query = search.replace(/[?&]key=[^&]*/, '').replace(/^&/, '?');
  return {
    url: `${sim.url}/${vertex ? 'vertex' : 'gemini'}${pathname}${query}`,
    headers: vertex ? { authorization: 'Bearer ya29.sim' } : { 'x-goog-api-key': 'k' },
  };
}

/** Signatures are their vendor's secret: here the word stands for them that every model takes. */
const unsigned = (request: object): string =>
  JSON.stringify(request).replace(
    /"(thought_?[sS]ignature)":"[^"]*"/g,
    '"$1":"skip_thought_signature_validator"',
  );

/** Each request that is refused here, with the refusal. */
async function refused(
  recordings: readonly Recording[],
  send: (recording: Recording) => {
    readonly url: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  },
): Promise<string[]> {
  const all: string[] = [];
  for (const recording of recordings) {
    const { url, ...request } = send(recording);
    const answer = await fetch(url, { method: 'POST', ...request });
    const text = await answer.text();
    if (answer.status !== 200) all.push(`${recording.id}: ${answer.status} ${text.slice(0, 600)}`);
  }
  return all;
}

test.skipIf(ofGoogle.length === 0)('what Google took is taken', async () => {
  expect(ofGoogle.length).toBeGreaterThan(500);
  expect(
    await refused(ofGoogle, ({ url, request = {} }) => ({ ...here(url), body: unsigned(request) })),
  ).toEqual([]);
});

test.skipIf(ofCohere.length === 0)('what Cohere took is taken', async () => {
  expect(ofCohere.length).toBeGreaterThan(50);
  const to = { url: `${sim.url}/cohere/v2/chat`, headers: { authorization: 'Bearer k' } };
  expect(
    await refused(ofCohere, ({ request }) => ({ ...to, body: JSON.stringify(request) })),
  ).toEqual([]);
});

const ofAnthropic = taken('messages', /api\.anthropic\.com/);
const ofBedrock = taken('converse', /\/model\//);
/** What cannot have been taken as it was recorded, or would not be taken any more. */
const untaken: Readonly<Record<string, string>> = {
  'anthropic-0098': 'a JPEG that calls itself a PNG, taken in 2024',
  'anthropic-0119': 'the call and its result were given different ids when they were collected',
  'bedrock-0002': 'the name of the document was redacted into one that nobody takes',
  'bedrock-0004': 'the name of the document was redacted into one that nobody takes',
  'bedrock-0021': 'written by hand: the model has no structured outputs',
};
const judged = (recordings: readonly Recording[]): Recording[] =>
  recordings.filter(({ id }) => untaken[id] === undefined);

/** Thoughts with this vendor's signatures. */
function signed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(signed);
  if (typeof value !== 'object' || value === null) return value;
  const all: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, signed(inner)]),
  );
  if (typeof all['signature'] === 'string')
    all['signature'] = sign(String(all['thinking'] ?? all['text']));
  if (all['type'] === 'redacted_thinking') all['data'] = redact('');
  return all;
}

const betas = 'structured-outputs-2025-11-13,interleaved-thinking-2025-05-14';
const toAnthropic = () => ({
  url: `${sim.url}/anthropic/v1/messages`,
  headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'anthropic-beta': betas },
});

test.skipIf(ofAnthropic.length === 0)('what Anthropic took is taken', async () => {
  expect(ofAnthropic.length).toBeGreaterThan(500);
  const send = ({ request }: Recording) => ({
    ...toAnthropic(),
    body: JSON.stringify(signed(request)),
  });
  expect(await refused(judged(ofAnthropic), send)).toEqual([]);
});

test.skipIf(ofBedrock.length === 0)('what Bedrock took is taken', async () => {
  expect(ofBedrock.length).toBeGreaterThan(150);
  const send = ({ url, request }: Recording) => ({
    url: `${sim.url}/bedrock/model/${url.split('/model/')[1] ?? ''}`,
    headers: { authorization: 'Bearer ABSK' },
    body: JSON.stringify(signed(request)),
  });
  expect(await refused(judged(ofBedrock), send)).toEqual([]);
});

test.skipIf(recordingsFolder === undefined)(
  'what Anthropic refused is refused in the same words',
  async () => {
    const no = recordingsAt(recordingsFolder ?? '', 'messages').filter(
      ({ url, status }) => status === 400 && /api\.anthropic\.com/.test(url),
    );
    expect(no.length).toBeGreaterThan(5);
    for (const { id, request, reply } of no) {
      const { url, headers } = toAnthropic();
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
      const said: unknown = await answer.json();
      expect(said, id).toMatchObject({ type: 'error', error: JSON.parse(reply.toString()).error });
    }
  },
);

/**
 * What the simulator may refuse of what clients really asked: mistakes of theirs, and what the
 * model cannot do.
 */
const theirs =
  /Logprobs is not enabled|Multiple candidates is not enabled|image content is not supported|combination of response modalities|Corrupted thought signature|data must be specified|number of function response parts|did not have response messages|does not match any tool call|of type 'object'/;

/** One request in so many: enough of each kind, in a few seconds. */
const share = 3;

describe.skipIf(recordingsFolder === undefined)(
  'what clients asked of any vendor is taken as our adapters write it',
  () => {
    const asked = (recordingsFolder === undefined ? [] : chatRecordings(recordingsFolder)).filter(
      ({ status, request }) => status === 200 && Array.isArray(request?.['messages']),
    );

    test.each([
      { adapter: geminiChat, base: '/gemini/v1beta', model: 'gemini-2.5-flash' },
      { adapter: geminiChat, base: '/gemini/v1beta', model: 'gemini-3-flash-preview' },
      {
        adapter: geminiChat,
        base: '/vertex/v1/publishers/google',
        model: 'gemini-3.1-pro-preview',
      },
      { adapter: cohereChat, base: '/cohere/v2', model: 'command-a-03-2025' },
      { adapter: cohereChat, base: '/cohere/v2', model: 'command-a-plus-05-2026' },
    ])('by $model at $base', async ({ adapter, base, model }) => {
      const headers = { 'x-goog-api-key': 'k', authorization: 'Bearer ya29.sim' };
      const written = asked
        .filter((_recording, i) => i % share === 0)
        .flatMap((recording) => {
          const ask = askOf(adapter, recording, model);
          return ask === undefined
            ? []
            : [{ ...recording, url: sim.url + base + ask.path, body: ask.body.toString('utf8') }];
        });
      const bodies = new Map(written.map(({ id, body }) => [id, body]));
      expect(written.length).toBeGreaterThan(200);
      const all = await refused(written, ({ url, id }) => ({
        url,
        headers,
        body: bodies.get(id) ?? '',
      }));
      expect(all.filter((refusal) => !theirs.test(refusal))).toEqual([]);
    });
  },
);

/** Undefined where we refuse it ourselves: the model cannot be told such a thing. */
function askOf(
  adapter: Adapter,
  { request = {} }: Recording,
  model: string,
): VendorRequest | undefined {
  const stream = request['stream'] === true;
  try {
    return adapter.ask(chatCall({ ...request }, model, { stream, streamUpstream: stream }));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
