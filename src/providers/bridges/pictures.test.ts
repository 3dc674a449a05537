import { expect, test } from 'vitest';
import { adapterOf } from '../../../test/support/asks.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';
import type { VendorCall } from '../adapter.ts';
import { isFault } from '../formats/fault.ts';

const said = [{ role: 'user', content: 'Draw' }];
const asked = {
  messages: { model: 'm', max_tokens: 100, messages: said },
  responses: { model: 'm', input: said },
  generate_content: { contents: [{ role: 'user', parts: [{ text: 'Draw' }] }] },
} as const;
type Format = keyof typeof asked;

const data = Buffer.from('a picture').toString('base64');
const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }];
const usage = { prompt_tokens: 7, completion_tokens: 1290, total_tokens: 1297 };
const chatOf = (choice: object, more: object): string =>
  JSON.stringify({ id: 'x', created: 1, model: 'up', choices: [{ index: 0, ...choice }], ...more });

function callOf(format: Format, stream: boolean): VendorCall {
  const call = vendorCall(asked[format], { stream, streamUpstream: stream, answerId: 'a' });
  return adapterOf('openrouter', format).translate?.(call) ?? call;
}

function whole(format: Format, content: string): Record<string, unknown> {
  const message = { role: 'assistant', content, images };
  const reply = chatOf({ message, finish_reason: 'stop' }, { object: 'chat.completion', usage });
  const read = adapterOf('openrouter', format).read(
    Buffer.from(reply),
    'application/json',
    callOf(format, false),
  );
  if (isFault(read)) throw new Error(read.message);
  return JSON.parse(read.body.toString('latin1'));
}

function events(format: Format): string {
  const translator = adapterOf('openrouter', format).stream(callOf(format, true));
  const object = 'chat.completion.chunk';
  const chunks = [
    chatOf({ delta: { role: 'assistant', content: 'Here: ' } }, { object }),
    chatOf({ delta: { images } }, { object }),
    chatOf({ delta: {}, finish_reason: 'stop' }, { object, usage }),
  ];
  const out = chunks.map((chunk) => translator.push(Buffer.from(`data: ${chunk}\n\n`)));
  return [...out, translator.push(Buffer.from('data: [DONE]\n\n')), translator.end()].join('');
}

const picture = {
  type: 'image_generation_call',
  status: 'completed',
  output_format: 'png',
  result: data,
};

test('a picture that a chat model makes arrives in Google’s format', () => {
  const parts = [{ text: 'Here: ' }, { inlineData: { mimeType: 'image/png', data } }];
  expect(whole('generate_content', 'Here: ')).toMatchObject({
    candidates: [{ content: { parts } }],
  });
  expect(whole('generate_content', '')).toMatchObject({
    candidates: [{ content: { parts: parts.slice(1) } }],
  });
  expect(events('generate_content')).toContain(
    `{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"${data}"}}]`,
  );
});

test('and in /v1/responses', () => {
  expect(whole('responses', '')['output']).toMatchObject([picture]);
  expect(whole('responses', 'Here: ')['output']).toMatchObject([
    { content: [{ text: 'Here: ' }] },
    picture,
  ]);
  const sent = events('responses')
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));
  expect(sent.filter(({ item }) => item?.type === picture.type)).toMatchObject([
    { type: 'response.output_item.added', output_index: 1, item: { status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: 1, item: picture },
  ]);
  expect(sent.at(-1).response.output).toMatchObject([{ type: 'message' }, picture]);
  expect(sent.map(({ sequence_number: number }) => number)).toEqual(sent.map((_, i) => i));
});

test('a message, which cannot hold it, says so', () => {
  const note = /The model made a picture/;
  expect(whole('messages', '')['content']).toMatchObject([{ text: expect.stringMatching(note) }]);
  expect(whole('messages', 'Here: ')['content']).toMatchObject([
    { text: expect.stringMatching(/^Here: \n\[The model made a picture/) },
  ]);
  expect(events('messages')).toMatch(note);
});
