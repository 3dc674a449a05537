import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { type Running, startGateway, startRunning } from './support/running.ts';
import {
  json,
  type Received,
  type ScriptedVendor,
  sse,
  startVendor,
} from './support/scripted-vendor.ts';

/**
 * Vendors as strict as the real ones: a tool call comes back with what was signed with it, or the
 * request is refused. Clients that bring back nothing beyond what their format knows.
 */
interface Strict {
  readonly vendor: string;
  readonly prefix: string;
  readonly upstream: string;
  /** Its two answers: a signed tool call, and the last word. */
  readonly call: object;
  readonly word: object;
  /** What a request with the tool's result has to hold, and what it may hold when that is lost. */
  readonly signed: string;
  readonly lost: (text: string) => boolean;
}

const parts = (...all: object[]): object => ({
  candidates: [{ content: { role: 'model', parts: all }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
});
const message = (...content: object[]): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'c',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 2 },
});
const thinking = { type: 'thinking', thinking: 'Köln lies on the Rhine.', signature: 'EqQ/+1==' };
const response = (...output: object[]): object => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output,
  usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
});
const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA/+1==' };

const vendors: readonly Strict[] = [
  {
    vendor: 'gemini',
    prefix: '/v1beta',
    upstream: 'gemini-3-pro-preview',
    call: parts({
      functionCall: { id: 'call_1', name: 'weather', args: { city: 'Köln', days: 2 } },
      thoughtSignature: 'ErkE/+1==',
    }),
    word: parts({ text: 'It rains.' }),
    signed: '"thoughtSignature":"ErkE/+1=="',
    lost: (text) => text.includes('"thoughtSignature":"skip_thought_signature_validator"'),
  },
  {
    vendor: 'anthropic',
    prefix: '/v1',
    upstream: 'claude-sonnet-4-5',
    call: message(thinking, {
      type: 'tool_use',
      id: 'toolu_1',
      name: 'weather',
      input: { city: 'Köln', days: 2 },
    }),
    word: message({ type: 'text', text: 'It rains.' }),
    signed: JSON.stringify(thinking),
    // "Expected `thinking` … but found `tool_use`" holds while thinking is on.
    lost: (text) => !text.includes('"thinking"'),
  },
  {
    vendor: 'openai',
    prefix: '/v1',
    upstream: 'gpt-5.6-sol',
    call: response(sealed, {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"city":"Köln","days":2}',
      status: 'completed',
    }),
    word: response({
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'It rains.', annotations: [] }],
    }),
    signed: '"encrypted_content":"gAAAA/+1=="',
    lost: (text) => !text.includes('encrypted_content":'),
  },
];

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: object;
  readonly call_id?: string;
  readonly arguments?: string;
}

/** How the requests with a tool's result came. */
interface Seen {
  readonly accepted: ('signed' | 'lost')[];
}

const hasResult = (text: string): boolean =>
  /"functionResponse"|"tool_result"|"function_call_output"/.test(text);

function answerStrictly(
  vendor: ScriptedVendor,
  { vendor: id, call, word, signed, lost }: Strict,
): Seen {
  const seen: Seen = { accepted: [] };
  vendor.answer(({ text, url }: Received, reply: ServerResponse) => {
    if (!hasResult(text)) return say(reply, id, call, url, text);
    if (!text.includes(signed) && !lost(text))
      return json(reply, 400, '{"error":{"message":"it lacks what was signed"}}');
    seen.accepted.push(text.includes(signed) ? 'signed' : 'lost');
    return say(reply, id, word, url, text);
  });
  return seen;
}

function say(
  reply: ServerResponse,
  id: string,
  answer: object,
  url: string,
  text: string,
): unknown {
  if (id === 'gemini' && url.includes('alt=sse'))
    return sse(reply).end(`data: ${JSON.stringify(answer)}\r\n\r\n`);
  if (/"stream":true/.test(text)) throw new Error('only Gemini streams here');
  return json(reply, 200, JSON.stringify(answer));
}

const configuration = (vendorUrl: string, strict: Strict, names = ['a']): string => `
models:
  - { id: m1, owned_by: x, kind: chat, max_output: 8000, price: { input: 1000, output: 1000 } }
channels:
${names.map((name, i) => `  - { name: ${name}, vendor: ${strict.vendor}, base_url: "${vendorUrl}${strict.prefix}", api_key: up, priority: ${i}, models: [{ id: m1, upstream: ${strict.upstream} }] }`).join('\n')}
`;

const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
];
const question = { role: 'user', content: 'How is the weather?' };

interface Chat {
  readonly choices: readonly {
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly { readonly id: string; readonly function: object }[];
    };
  }[];
}

type Post = (path: string, body: object) => Promise<Response>;

const postTo =
  (url: string, key: string): Post =>
  (path, body) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

/**
 * A plain client of chat asks, calls its tool and asks again; `then` is where it asks the second
 * time.
 */
async function converse(first: Post, then: Post): Promise<string> {
  const ask = { model: 'm1', tools, reasoning_effort: 'low', max_tokens: 4000 };
  const called = (await (
    await first('/v1/chat/completions', { ...ask, messages: [question] })
  ).json()) as Chat;
  const [call] = called.choices[0]?.message.tool_calls ?? [];
  const kept = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: call?.id, type: 'function', function: call?.function }],
  };
  const result = { role: 'tool', tool_call_id: call?.id, content: 'rain' };
  const said = await then('/v1/chat/completions', { ...ask, messages: [question, kept, result] });
  return said.status === 200
    ? (((await said.json()) as Chat).choices[0]?.message.content ?? '')
    : said.text();
}

forEachDatabase((database, _, fresh) => {
  describe.each(vendors)('$vendor', (strict) => {
    async function start(names?: string[]) {
      const vendor = await startVendor();
      const seen = answerStrictly(vendor, strict);
      const options = {
        databaseUrl: (await fresh(migrations)).url,
        configuration: configuration(vendor.url, strict, names),
      };
      const running = await startRunning(options);
      /** Another node; the next one where a database has one node only. */
      const another = async (): Promise<Post> => {
        if (database === 'sqlite') await running.gateway.close();
        return postTo((await startGateway(options)).url, running.key);
      };
      return { vendor, running, seen, another, first: postTo(running.url, running.key) };
    }

    test('a client that knows nothing of signatures goes on with its tool, on this node and on another', async () => {
      const { seen, first, another } = await start();
      expect(await converse(first, first)).toBe('It rains.');
      expect(await converse(first, async (path, body) => (await another())(path, body))).toBe(
        'It rains.',
      );
      expect(seen.accepted).toEqual(['signed', 'signed']);
    });

    test('another account’s call is not signed with it, and goes on as the vendor documents it', async () => {
      const { running, seen, first } = await start();
      const { key } = await newCustomer(running.gateway.database, 1_000_000_000_000n);
      expect(await converse(first, postTo(running.url, key.secret))).toBe('It rains.');
      expect(seen.accepted).toEqual(['lost']);
    });

    test('a second channel is given what it can read', async () => {
      const { running, seen, vendor, first } = await start(['a', 'b']);
      const second: Post = async (path, body) => {
        const asked = vendor.received.length;
        refuseOnce(vendor, strict, seen);
        const answer = await first(path, body);
        expect(vendor.received.length - asked).toBe(2);
        return answer;
      };
      expect(await converse(first, second)).toBe('It rains.');
      expect(seen.accepted).toEqual([strict.vendor === 'openai' ? 'lost' : 'signed']);
      expect(await running.usage()).toMatchObject([{ channel: 'a' }, { channel: 'b' }]);
    });
  });

  test('clients of /v1/messages and /v1/responses go on with Gemini, too', async () => {
    const [strict] = vendors;
    if (strict === undefined) throw new Error('there is Gemini');
    const vendor = await startVendor();
    const seen = answerStrictly(vendor, strict);
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(vendor.url, strict),
    });
    expect(await overMessages(running)).toContain('It rains.');
    expect(await overResponses(running)).toContain('It rains.');
    expect(seen.accepted).toEqual(['signed', 'signed']);
  });

  test('a stream is remembered before its end, and nothing is written for answers without signatures', async () => {
    const [strict] = vendors;
    if (strict === undefined) throw new Error('there is Gemini');
    const vendor = await startVendor();
    answerStrictly(vendor, strict);
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(vendor.url, strict),
    });
    const rows = () => running.gateway.database.query('SELECT signer, account FROM signature');
    const text = await (
      await running.post('/v1/chat/completions', {
        model: 'm1',
        tools,
        messages: [question],
        stream: true,
      })
    ).text();
    expect(text).toContain('"name":"weather"');
    expect(await rows()).toEqual([
      { signer: 'gemini gemini-3-pro-preview', account: running.userId },
    ]);
    vendor.answer((_request, reply) => json(reply, 200, JSON.stringify(strict.word)));
    expect(
      (await running.post('/v1/chat/completions', { model: 'm1', tools, messages: [question] }))
        .status,
    ).toBe(200);
    expect(await rows()).toHaveLength(1);
  });
});

/** The first channel is overloaded once, so that the second one is asked. */
function refuseOnce(vendor: ScriptedVendor, strict: Strict, seen: Seen): void {
  vendor.answer((_request, reply) => {
    Object.assign(seen, { accepted: answerStrictly(vendor, strict).accepted });
    json(reply, 503, '{"error":{"message":"overloaded"}}');
  });
}

async function overMessages({ post }: Running): Promise<string> {
  const own = [{ name: 'weather', input_schema: { type: 'object', properties: {} } }];
  const ask = { model: 'm1', max_tokens: 4000, tools: own };
  const called = (await (await post('/v1/messages', { ...ask, messages: [question] })).json()) as {
    content: Block[];
  };
  const use = called.content.find(({ type }) => type === 'tool_use');
  const kept = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: use?.id, name: use?.name, input: use?.input }],
  };
  const result = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: use?.id, content: 'rain' }],
  };
  return (await post('/v1/messages', { ...ask, messages: [question, kept, result] })).text();
}

async function overResponses({ post }: Running): Promise<string> {
  const own = [
    { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } },
  ];
  const ask = { model: 'm1', tools: own, store: false };
  const called = (await (await post('/v1/responses', { ...ask, input: [question] })).json()) as {
    output: Block[];
  };
  const call = called.output.find(({ type }) => type === 'function_call');
  const kept = {
    type: 'function_call',
    call_id: call?.call_id,
    name: call?.name,
    arguments: call?.arguments,
  };
  const result = { type: 'function_call_output', call_id: call?.call_id, output: 'rain' };
  return (await post('/v1/responses', { ...ask, input: [question, kept, result] })).text();
}
