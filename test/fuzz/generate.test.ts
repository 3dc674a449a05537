import { expect, test } from 'vitest';
import { parseBatchEmbedContents, parseEmbedContent } from '../../src/api/embed-content.ts';
import { parseGenerate, parseTokenCountOf } from '../../src/api/generate.ts';
import { parseJson } from '../../src/api/request-body.ts';
import { isObject } from '../../src/base/json.ts';
import type { ApiRequest } from '../../src/gateway/api-request.ts';
import { ArrayResponse } from '../../src/http/array-response.ts';
import type { Adapter, VendorCall } from '../../src/providers/adapter.ts';
import { billableFeatures } from '../../src/providers/billable-features.ts';
import { adaptersOf } from '../../src/providers/bridges/index.ts';
import { inCamelCase } from '../../src/providers/conversation/spelling.ts';
import { vendors } from '../../src/providers/index.ts';
import { SimulatedClient } from '../gateway/simulated-client.ts';
import { chunk, streamOf } from '../support/scripted-vendor.ts';
import { vendorCall } from '../support/vendor-call.ts';
import { expectLinear, fuzz, inPieces, timeout } from './fuzzing.ts';
import { context, unlessRefused } from '../support/parsed-request.ts';

const requests = [
  {
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'Hello "you" \\ é 名' },
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        ],
      },
      {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'a', name: 'f', args: { my_arg: 1 } },
            thoughtSignature: 'dGdzaWcxW10=',
          },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { x: 1 } } },
          { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a' } },
        ],
      },
    ],
    systemInstruction: { parts: { text: 'Be brief.' } },
    tools: [
      {
        functionDeclarations: [
          {
            name: 'f',
            parameters: {
              type: 'OBJECT',
              properties: { my_arg: { type: 'integer', maxItems: '3', nullable: true } },
            },
          },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'g'] } },
    generationConfig: {
      maxOutputTokens: '5',
      candidateCount: 2,
      thinkingConfig: { thinkingBudget: 9, includeThoughts: true },
      responseMimeType: 'application/json',
      responseSchema: { type: 'STRING', enum: ['a'] },
    },
  },
  {
    contents: { parts: [{ text: 'x' }] },
    generation_config: { max_output_tokens: 5, top_k: 3 },
    safety_settings: [],
  },
  { generateContentRequest: { model: 'models/m', contents: [{ parts: [{ text: 'x' }] }] } },
  { content: { parts: [{ text: 'x' }] }, taskType: 'RETRIEVAL_QUERY', outputDimensionality: 3 },
  { requests: [{ model: 'models/m', content: { parts: { text: 'x' } }, title: 't' }] },
].map((body) => Buffer.from(JSON.stringify(body)));
const words = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  'null',
  'true',
  '-1',
  '1e999',
  '{}',
  '[]',
  '""',
  '"contents":',
  '"parts":',
  '"max_output_tokens":',
  '"maxOutputTokens":',
  '"__proto__":',
  '"models":',
  '"google_search":{}',
  '\\ud800',
  '_',
  'model',
];

const asked = { ...context, model: 'm' };

const callOf = (request: ApiRequest, stream: boolean): VendorCall =>
  vendorCall(request.body, {
    bytes: request.bytes,
    skeleton: request.skeleton,
    stream,
    includeUsage: true,
    streamUpstream: stream,
    outputTokensMax: 7,
  });

const generating = ['gemini', 'vertex', 'openai', 'anthropic', 'bedrock', 'cohere'];

function adapterOf(vendor: string): Adapter {
  const known = vendors.get(vendor);
  const adapter = known && adaptersOf(known).generate_content;
  if (adapter === undefined) throw new Error(`${vendor} does not generate content`);
  return adapter;
}

test('a request of generateContent is refused by name, or becomes a request of every vendor', {
  timeout,
}, async () => {
  let made = 0;
  const holds = (input: Buffer): void => {
    const sent = unlessRefused(() => parseJson(input, 'application/json'));
    if (sent === undefined) return;
    const camel = unlessRefused(() => inCamelCase(sent.body));
    if (camel !== undefined) expect(inCamelCase(camel)).toBe(camel);
    unlessRefused(() => parseTokenCountOf(asked, sent).text());
    const request = unlessRefused(() => parseGenerate(asked, sent, true));
    if (request === undefined) return;
    request.text();
    if (
      unlessRefused(() => billableFeatures('generate_content', request.body, 'm') ?? 'plain') ===
      undefined
    )
      return;
    for (const vendor of generating) {
      const call = callOf(request, true);
      const ask = unlessRefused(() => adapterOf(vendor).ask(call));
      if (ask === undefined) continue;
      made += 1;
      expect(isObject(JSON.parse(ask.body.toString('utf8')))).toBe(true);
    }
  };
  // A parser that refuses everything keeps every other promise.
  for (const sample of requests) holds(sample);
  expect(made).toBeGreaterThan(generating.length);
  await fuzz('requests of generateContent', { samples: requests, words, holds });
});

test(
  'a request for vectors is refused by name, or becomes a request of every vendor',
  { timeout },
  () =>
    fuzz('requests of embedContent', {
      samples: requests.slice(3),
      words,
      holds(input) {
        const sent = unlessRefused(() => parseJson(input, 'application/json'));
        if (sent === undefined) return;
        for (const parse of [parseEmbedContent, parseBatchEmbedContents]) {
          const request = unlessRefused(() => parse(asked, sent));
          if (request === undefined) continue;
          for (const vendor of ['gemini', 'vertex', 'openai', 'cohere']) {
            const known = vendors.get(vendor);
            const adapter = known && adaptersOf(known).embed_content;
            const ask = unlessRefused(() => adapter?.ask(callOf(request, false)));
            if (ask !== undefined) JSON.parse(ask.body.toString('utf8'));
          }
        }
      },
    }),
);

const geminiEvent = (more: object): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi 名' }] }, ...more }], responseId: 'up', modelVersion: 'v', usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 3 } })}\r\n\r\n`;
const streams = [
  geminiEvent({}) + geminiEvent({ finishReason: 'STOP' }),
  `[${JSON.stringify({ candidates: [] })},\n{"error":{"code":503,"status":"UNAVAILABLE"}}]`,
  `${streamOf(['Hel', 'lo'])}${chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{' } }] })}`,
].map((text) => Buffer.from(text));
const streamWords = [
  '\n',
  '\r\n\r\n',
  '\n\n',
  'data: ',
  '[DONE]',
  'null',
  '{}',
  '"finishReason":"STOP"',
  '"error":',
  '[',
  ']',
];

const body = { contents: [{ parts: [{ text: 'x' }] }] };

function translated(vendor: string, pieces: readonly Buffer[]) {
  const stream = adapterOf(vendor).stream({
    ...callOf({ body, bytes: Buffer.from(JSON.stringify(body)) } as unknown as ApiRequest, true),
    outputTokensMax: undefined,
  });
  let text = '';
  for (const piece of pieces) {
    text += stream.push(piece);
    if (stream.meter.fault !== undefined || stream.meter.done) break;
  }
  if (stream.meter.fault === undefined) text += stream.end();
  const { outputBytes, fault, quantities } = stream.meter;
  return { text, outputBytes, fault: fault?.kind, quantities };
}

test.each(['gemini', 'openai', 'anthropic'])(
  'a stream of %s is chunks and nothing else, the same however it was cut, and ends with a finish reason',
  { timeout },
  (vendor) =>
    fuzz(`streams of generateContent from ${vendor}`, {
      samples: streams,
      words: streamWords,
      holds(input, random) {
        const whole = translated(vendor, [input]);
        const cut = translated(vendor, inPieces(input, random));
        // A fault may be found before the last whole event of a piece is told.
        if (whole.fault === undefined) expect(cut).toEqual(whole);
        const events = whole.text.split('\n\n').slice(0, -1);
        for (const event of events) {
          expect(event.startsWith('data: {')).toBe(true);
          expect(event).not.toContain('\n');
          JSON.parse(event.slice('data: '.length));
        }
        if (whole.fault === undefined && vendor !== 'gemini')
          expect(events.at(-1)).toContain('"finishReason":"');
        const client = new SimulatedClient(
          'id',
          () => true,
          () => {},
        );
        const list = new ArrayResponse(client.reply);
        list.startStream();
        list.write(whole.text);
        list.end('');
        expect(JSON.parse(client.body)).toHaveLength(events.length);
      },
    }),
);

test('a request takes time in proportion to its length', { timeout }, async () => {
  const call = (i: number) => `{"function_call":{"name":"f","id":"c${i}","args":{"a_b":1}}}`;
  const result = (i: number) => `{"functionResponse":{"name":"f","response":{}${i}}}`;
  const shapes: Readonly<Record<string, (times: number) => string>> = {
    'small parts': (times) => `{"parts":[${Array(times).fill('{"text":"x"}').join(',')}]}`,
    'calls and their results': (times) => {
      const each = Array.from({ length: times }, (_, i) => i);
      const results = each.toReversed().map((i) => result(i).replace(`{}${i}`, `{},"id":"c${i}"`));
      return `{"role":"model","parts":[${each.map(call).join(',')}]},{"parts":[${results.join(',')}]}`;
    },
    'calls and results without ids': (times) => {
      const calls = Array(times).fill('{"functionCall":{"name":"f"}}');
      const results = Array(times).fill('{"functionResponse":{"name":"f"}}');
      return `{"role":"model","parts":[${calls.join(',')}]},{"parts":[${results.join(',')}]}`;
    },
  };
  for (const [name, contents] of Object.entries(shapes))
    await expectLinear(name, (times) => {
      const bytes = Buffer.from(`{"contents":[${contents(times)}]}`);
      const request = parseGenerate(asked, parseJson(bytes, 'application/json'), true);
      adapterOf('gemini').ask(callOf(request, true));
      adapterOf('openai').ask(callOf(request, true));
    });
});
