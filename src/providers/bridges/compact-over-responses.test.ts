import { expect, test } from 'vitest';
import { isObject, listOf } from '../../base/json.ts';
import type { VendorCall } from '../adapter.ts';
import { isFault } from '../formats/fault.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { compactOverResponses, openedSummary } from './compact-over-responses.ts';
import { responsesOverChat } from './responses-over-chat.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const bridge = compactOverResponses(responsesOverChat(openaiChat()));
const input = [
  {
    role: 'user',
    content: [
      { type: 'input_text', text: 'What is in it? ' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ],
  },
  { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"a.png"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'a fox' },
  { role: 'assistant', content: [{ type: 'output_text', text: 'A fox.' }] },
];
const body = { model: 'm', instructions: 'Be kind.', input, prompt_cache_key: 'k', store: true };
const call = vendorCall(body, {
  publicModel: 'm',
  includeUsage: true,
  answerId: 'resp_1',
});

function answered(content: string, asked = call) {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  const reply = { id: 'x', choices, usage: { prompt_tokens: 30, completion_tokens: 2 } };
  return bridge.read(Buffer.from(JSON.stringify(reply)), 'application/json', asked);
}

test('the model is asked for a summary of all that was said, called and answered, and for nothing else', () => {
  const sent: Readonly<Record<string, unknown>> = JSON.parse(
    bridge.ask(call).body.toString('utf8'),
  );
  const messages = listOf(sent['messages']).filter(isObject);
  expect(messages).toHaveLength(1);
  expect(JSON.stringify(messages[0])).toMatch(
    /Be kind\..*user: What is in it\? \[input_image\].*assistant calls look: .*a\.png.*tool answers: a fox.*assistant: A fox\./,
  );
  expect(sent).not.toHaveProperty('store');
});

test('the answer keeps what the user said and one item with the summary, which opens as words of the user', () => {
  const answer = answered('A fox was seen.');
  if (isFault(answer)) throw new Error(answer.message);
  const compaction: Readonly<Record<string, unknown>> = JSON.parse(answer.body.toString('utf8'));
  expect(compaction).toMatchObject({
    id: 'resp_1',
    object: 'response.compaction',
    usage: { input_tokens: 30 },
  });
  const [said, sealed, ...rest] = listOf(compaction['output']).filter(isObject);
  expect(rest).toEqual([]);
  expect(said).toMatchObject({ type: 'message', role: 'user', content: input[0]?.content });
  expect(openedSummary(sealed ?? {})).toMatchObject({
    role: 'user',
    content: [{ text: expect.stringContaining('summary of it:\nA fox was seen.') }],
  });
});

test('an earlier summary goes into the new one, and is not kept beside it', () => {
  const first = answered('A fox was seen.');
  if (isFault(first)) throw new Error(first.message);
  const output = listOf(JSON.parse(first.body.toString('utf8')).output).filter(isObject);
  const again: VendorCall = { ...call, body: { ...body, input: output.map(openedSummary) } };
  expect(
    bridge.ask({ ...again, bytes: Buffer.from(JSON.stringify(again.body)) }).body.toString('utf8'),
  ).toContain('A fox was seen.');
  const second = answered('Still a fox.', again);
  if (isFault(second)) throw new Error(second.message);
  expect(listOf(JSON.parse(second.body.toString('utf8')).output)).toMatchObject([
    { type: 'message' },
    { type: 'compaction' },
  ]);
});

test('what a vendor has sealed stays as it is', () => {
  const item = { type: 'compaction', encrypted_content: 'gAAAA' };
  expect(openedSummary(item)).toBe(item);
});

test('an answer without a summary is a fault: the conversation would be lost', () => {
  expect(isFault(answered(''))).toBe(true);
});
