import { bufferOf } from '../src/base/json.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anthropic } from '../sim/anthropic/anthropic.ts';
import { bedrock } from '../sim/bedrock/bedrock.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { vendors as simulated } from '../sim/vendors.ts';
import type { FaultKind } from '../src/base/fault.ts';
import type { Adapter, VendorAnswer, VendorCall } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/formats/fault.ts';
import { vendors } from '../src/providers/index.ts';
import { vendorCall } from './support/vendor-call.ts';

/**
 * The vendors' documents were read twice: by providers/, which speaks to vendors, and by sim/,
 * which plays them. Here the two talk to each other without a gateway between them.
 */
let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const question = 'Why is the sea salt? 海';
const tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

function callOf(upstreamModel: string, stream: boolean, more: object = {}): VendorCall {
  const body = {
    model: 'public',
    messages: [{ role: 'user', content: question }],
    ...(stream && { stream, stream_options: { include_usage: true } }),
    ...more,
  };
  return vendorCall(body, {
    upstreamModel,
    stream,
    includeUsage: stream,
    streamUpstream: stream,
  });
}

describe.each(
  [...simulated, anthropic, bedrock].map((dialect) => [dialect.vendor, dialect] as const),
)('%s', (name, { prefix }) => {
  const vendor = vendors.get(name);
  const adapter = vendor?.adapters.chat;

  async function post(call: VendorCall, secret = 'sk-sim') {
    if (vendor === undefined || adapter === undefined) throw new Error(`no vendor ${name}`);
    const { path, headers, body } = adapter.ask(call);
    const response = await fetch(sim.url + prefix + path, {
      method: 'POST',
      headers: { ...headers, ...vendor.sign(secret) },
      body: bufferOf(body),
    });
    const received = Buffer.from(await response.arrayBuffer());
    return {
      adapter,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      received,
    };
  }

  async function whole(call: VendorCall): Promise<VendorAnswer> {
    const { adapter: speaks, status, headers, received } = await post(call);
    const answer =
      status === 200
        ? speaks.read(received, headers['content-type'] ?? '', call)
        : speaks.fault(status, headers, received.toString());
    if (isFault(answer)) throw new Error(`${answer.kind}: ${answer.message}`);
    return answer;
  }

  async function streamed(call: VendorCall) {
    const { adapter: speaks, received } = await post(call);
    return translate(speaks, call, received);
  }

  async function faultOf(model: string, secret?: string): Promise<FaultKind | undefined> {
    const call = callOf(model, false);
    const { adapter: speaks, status, headers, received } = await post(call, secret);
    const result =
      status === 200
        ? speaks.read(received, headers['content-type'] ?? '', call)
        : speaks.fault(status, headers, received.toString());
    return isFault(result) ? result.kind : undefined;
  }

  test('the same words arrive, whole and streamed, and every token is counted', async () => {
    const answer = await whole(callOf('sim-chat', false));
    const { choices, usage } = JSON.parse(answer.body.toString());
    expect(choices[0]).toMatchObject({
      message: { content: expect.stringContaining(question) },
      finish_reason: 'stop',
    });
    expect(sum(answer.quantities)).toBe(usage.total_tokens);
    const stream = await streamed(callOf('sim-chat', true));
    expect(stream.text).toBe(choices[0].message.content);
    expect(stream.finishes).toEqual(['stop']);
    expect(stream.meter).toMatchObject({ finished: true, fault: undefined });
    expect(sum(stream.meter.quantities)).toBe(sum(answer.quantities));
  });

  test('reasoning is paid for, also where the vendor counts it apart', async () => {
    const [plain, thinking] = [
      await whole(callOf('sim-chat', false)),
      await whole(callOf('sim-think', false)),
    ];
    expect(sum(thinking.quantities)).toBeGreaterThan(sum(plain.quantities) + 10);
    expect(sum((await streamed(callOf('sim-think', true))).meter.quantities)).toBe(
      sum(thinking.quantities),
    );
  });

  test('usage that is not told is not made up', async () => {
    expect((await whole(callOf('sim-no-usage', false))).quantities).toBeUndefined();
    expect((await streamed(callOf('sim-no-usage', true))).meter.quantities).toBeUndefined();
  });

  test('a tool call arrives in OpenAI’s shape', async () => {
    if (name === 'perplexity') return; // which has no tools
    const more = { tools: [tool], messages: [{ role: 'user', content: 'The weather in Paris?' }] };
    const { choices } = JSON.parse((await whole(callOf('sim-chat', false, more))).body.toString());
    const called = {
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
    };
    expect(choices[0]).toMatchObject({
      message: { tool_calls: [called] },
      finish_reason: 'tool_calls',
    });
    const stream = await streamed(callOf('sim-chat', true, more));
    expect(stream.calls).toBe('function get_weather {"city":"Paris"}');
    expect(stream.finishes).toEqual(['tool_calls']);
  });

  test('a fault is taken for what it is', async () => {
    const parks: readonly (FaultKind | undefined)[] = ['credentials', 'quota'];
    const goesOn: readonly (FaultKind | undefined)[] = [
      'rate_limited',
      'overloaded',
      'server_error',
      'timeout',
    ];
    const clients: readonly (FaultKind | undefined)[] = ['bad_request', 'context_length'];
    expect(await faultOf('sim-chat', 'sk-wrong')).toBe('credentials');
    for (const model of ['sim-401', 'sim-402'])
      expect(parks, model).toContain(await faultOf(model));
    for (const model of ['sim-429', 'sim-500', 'sim-503'])
      expect(goesOn, model).toContain(await faultOf(model));
    for (const model of ['sim-400', 'sim-context'])
      expect(clients, model).toContain(await faultOf(model));
  });

  test.each([
    'sim-cut-after-3',
    'sim-half-event',
    'sim-error-in-stream',
    'sim-bad-json',
    'sim-html-200',
  ])('%s is a fault, whole and streamed', async (model) => {
    expect((await streamed(callOf(model, true))).meter.fault?.kind).toBeDefined();
    expect(await faultOf(model)).toBeDefined();
  });
});

function sum(quantities: VendorAnswer['quantities']): number {
  return Object.values(quantities ?? {}).reduce((total, amount) => total + amount, 0);
}

/** The client's side of a vendor's stream that arrives in pieces of 61 bytes. */
function translate(adapter: Adapter, call: VendorCall, received: Buffer) {
  const translator = adapter.stream(call);
  let sent = '';
  for (let at = 0; at < received.length; at += 61)
    sent += translator.push(received.subarray(at, at + 61));
  sent += translator.end();
  const choices = [
    ...Buffer.from(sent, 'latin1')
      .toString()
      .matchAll(/^data: (\{.*)$/gm),
  ].flatMap((match) => JSON.parse(match[1] ?? '').choices ?? []);
  const calls = choices.flatMap((choice) => choice.delta?.tool_calls ?? []);
  const head = calls.find((piece) => piece.id !== undefined);
  return {
    meter: translator.meter,
    text: choices.map((choice) => choice.delta?.content ?? '').join(''),
    finishes: choices.map((choice) => choice.finish_reason).filter(Boolean),
    calls: `${head?.type} ${head?.function.name} ${calls.map((piece) => piece.function?.arguments ?? '').join('')}`,
  };
}
