import { expect, test } from 'vitest';
import type { VendorCall } from '../../adapter.ts';
import { isFault } from '../fault.ts';
import { geminiNative } from './native.ts';
import { geminiNativeEmbeddings } from './native-embeddings.ts';
import { heldCharsMax } from './native-stream.ts';
import { ownSignature } from './signature.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const text =
  '{ "contents":[{"parts":[{"text":"Gr\\u00fc\\u00dfe 海"}]}], "m\\u006fdel":"models/public" }';
const body: Record<string, unknown> = JSON.parse(text);

const callOf = (more: Partial<VendorCall> = {}): VendorCall =>
  vendorCall(body, {
    bytes: Buffer.from(text),
    upstreamModel: 'gemini-3-flash',
    stream: true,
    includeUsage: true,
    streamUpstream: true,
    answerId: 'ours',
    ...more,
  });

const search = { webSearchQueries: ['a', 'b', 'a'], searchEntryPoint: { renderedContent: '<a>' } };
const usage = '"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3,"x":1.0}';
const events = [
  '{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"}}],"responseId":"up","modelVersion":"up-model"}',
  '{"candidates":[{"content":{"parts":[{"text":"海","thought":true,"x_future":12345678901234567890}],"role":"model"}}], "responseId":"up"}',
  `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP","groundingMetadata":${JSON.stringify(search)}}],${usage},"modelVersion":"up-model"}`,
  '{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]}}]}',
];
const stream = events.map((event) => `data: ${event}\r\n\r\n`).join('');
const shown = events
  .map((event) => `data: ${event.replace('"up"', '"ours"').replace('up-model', 'public')}\n\n`)
  .join('');

test('only the model changes, and the limit where it has to be lower', () => {
  const { path, body: asked } = geminiNative.ask(callOf({ outputTokensMax: 7 }));
  expect(path).toBe('/models/gemini-3-flash:streamGenerateContent?alt=sse');
  expect(asked.toString()).toBe(
    text
      .replace('models/public', 'models/gemini-3-flash')
      .replace(/ \}$/, ',"generationConfig":{"maxOutputTokens":7} }'),
  );
});

test('a whole answer that comes instead of events is one event, however it is written', () => {
  const translator = geminiNative.stream(callOf());
  const reply = JSON.stringify(JSON.parse(events[2] ?? ''), null, 2);
  const out = translator.push(Buffer.from(reply)) + translator.end();
  expect(out).toMatch(/^data: [^\n]+\r?\n\r?\n$/);
  expect(JSON.parse(out.slice(6))).toMatchObject({ candidates: [{ finishReason: 'STOP' }] });
  expect(translator.meter.fault).toBeUndefined();
});

test('a signature that Tollgate wrote is replaced, in lists and in a single turn or part', () => {
  const part = { functionCall: { name: 'f' }, thoughtSignature: ownSignature([]) };
  for (const parts of [part, [part]])
    for (const contents of [{ parts }, [{ parts }]]) {
      const sent = { contents };
      const bytes = Buffer.from(JSON.stringify(sent));
      const asked = JSON.stringify(geminiNative.ask(callOf({ body: sent, bytes })).body.toString());
      expect(asked).toContain('skip_thought_signature_validator');
      expect(asked).not.toContain(part.thoughtSignature);
    }
});

test('a stream keeps its bytes but for id and model, wherever it is cut', () => {
  const bytes = Buffer.from(stream);
  for (let at = 0; at <= bytes.length; at++) {
    const translator = geminiNative.stream(callOf());
    const before = translator.push(bytes.subarray(0, at)) + translator.push(bytes.subarray(at));
    // The last events wait for the charge.
    expect(before).not.toContain('STOP');
    expect(Buffer.from(before + translator.end(), 'latin1').toString()).toBe(shown);
    expect(translator.meter).toMatchObject({
      finished: true,
      fault: undefined,
      upstreamId: 'up',
      outputBytes: 5,
      quantities: { input: 9, output: 3, grounding_query: 2 },
    });
  }
});

test('a stream that ends anywhere before its finish reason is a fault, and what came before is kept', () => {
  const bytes = Buffer.from(stream);
  const last = bytes.indexOf('"finishReason"');
  for (let at = 0; at < last; at++) {
    const translator = geminiNative.stream(callOf());
    const told = translator.push(bytes.subarray(0, at)) + translator.end();
    expect(shown.startsWith(Buffer.from(told, 'latin1').toString())).toBe(true);
    expect(translator.meter.fault?.kind).toBe('protocol');
  }
});

test('nothing is told before the first content, so that another channel may answer', () => {
  const translator = geminiNative.stream(callOf());
  expect(translator.push(Buffer.from(`data: ${events[0]}\n\n`))).toBe('');
  translator.push(Buffer.from('data: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}\n\n'));
  expect(translator.meter.fault?.kind).toBe('rate_limited');
});

test('a stream is put together into one answer', () => {
  const collector = geminiNative.collect(callOf({ stream: false }));
  collector.push(Buffer.from(stream));
  const answer = collector.answer();
  expect(JSON.parse(answer.body.toString())).toMatchObject({
    candidates: [
      {
        content: {
          parts: [
            { text: '' },
            { text: '海', thought: true },
            { text: 'Hi', thoughtSignature: 'c2ln' },
          ],
          role: 'model',
        },
        finishReason: 'STOP',
      },
    ],
    responseId: 'ours',
    modelVersion: 'public',
  });
});

test.each([
  ['no JSON', '<html>', 'protocol'],
  ['no candidates', '{}', 'protocol'],
  ['an error in a list', '[{"error":{"code":503,"status":"UNAVAILABLE"}}]', 'overloaded'],
])('a whole reply with %s is a fault', (_what, reply, kind) => {
  const read = geminiNative.read(Buffer.from(reply), 'application/json', callOf());
  expect(isFault(read) && read.kind).toBe(kind);
});

test('a blocked prompt is told as the vendor tells it', () => {
  const reply =
    '{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}';
  const read = geminiNative.read(Buffer.from(reply), 'application/json', callOf());
  expect('body' in read && read.body.toString()).toBe(reply);
  const translator = geminiNative.stream(callOf());
  translator.push(Buffer.from(`data: ${reply}\n\n`));
  expect(translator.end()).toBe(`data: ${reply}\n\n`);
  expect(translator.meter).toMatchObject({ finished: true, quantities: { input: 9 } });
});

test('of several answers, the last events wait until all of them have ended', () => {
  const piece = (index: number, more = '') =>
    `{"candidates":[{"index":${index},"content":{"parts":[{"text":"x"}]}${more}}]}`;
  const end = ',"finishReason":"STOP"';
  const chunks = [piece(0), piece(0, end), piece(1), piece(1, end)];
  const translator = geminiNative.stream(callOf());
  const told = chunks.map((chunk) => translator.push(Buffer.from(`data: ${chunk}\n\n`)));
  expect(told).toEqual([
    `data: ${chunks[0]}\n\n`,
    '',
    `data: ${chunks[1]}\n\ndata: ${chunks[2]}\n\n`,
    '',
  ]);
  expect(translator.end()).toBe(`data: ${chunks[3]}\n\n`);
  const broken = geminiNative.stream(callOf());
  for (const chunk of chunks.slice(0, 3)) broken.push(Buffer.from(`data: ${chunk}\n\n`));
  broken.end();
  expect(broken.meter.fault?.kind).toBe('protocol');
});

test('each request of a batch of vectors names the vendor’s model', () => {
  const requests = [
    { content: { parts: [{ text: 'a' }] } },
    { model: 'models/public', content: {} },
  ];
  const bytes = Buffer.from(JSON.stringify({ requests }));
  const { path, body: asked } = geminiNativeEmbeddings.ask(callOf({ body: { requests }, bytes }));
  expect(path).toBe('/models/gemini-3-flash:batchEmbedContents');
  expect(JSON.parse(asked.toString())).toEqual({
    requests: requests.map((request) => ({ ...request, model: 'models/gemini-3-flash' })),
  });
});

test('events that are held back have a limit, before the first content and after the last', () => {
  const junk = Buffer.from(
    `data: {"candidates":[{"content":{"parts":[{"text":""}]}}],"x":"${'x'.repeat(1 << 20)}"}\n\n`,
  );
  const end =
    'data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}\n\n';
  for (const start of ['', end]) {
    const reader = geminiNative.stream(callOf());
    reader.push(Buffer.from(start));
    for (let i = 0; i < 80; i++) reader.push(junk);
    expect(reader.meter.fault).toMatchObject({ message: expect.stringContaining('too long') });
    expect(reader.end().length).toBeLessThanOrEqual(heldCharsMax);
  }
});
