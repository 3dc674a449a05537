import { expect, it } from 'vitest';
import type { VendorCall } from '../adapter.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { bridgeOver } from './bridge.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

it('translates a call once for its request and its answer, through two bridges', () => {
  const translations: string[] = [];
  const bridge = (name: string, chat: Parameters<typeof bridgeOver>[0]) =>
    bridgeOver(chat, {
      toChat: (call) => {
        translations.push(name);
        return { ...call, answerId: `${call.answerId} ${name}` };
      },
      answer: (answer) => answer,
      stream: (_, stream) => stream,
    });
  const adapter = bridge('outer', bridge('inner', openaiChat()));
  const body = { model: 'm', messages: [] };
  const call = vendorCall(body, { publicModel: 'm', answerId: 'id' });
  const reply = Buffer.from(
    '{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}',
  );
  const idOf = (asked: VendorCall): unknown => {
    adapter.ask(asked);
    const read = adapter.read(reply, 'application/json', asked);
    return 'body' in read ? JSON.parse(read.body.toString()).id : read;
  };
  expect(idOf(adapter.translate?.(call) ?? call)).toBe('id outer inner');
  expect(translations).toEqual(['outer', 'inner']);
  expect(idOf(call)).toBe('id outer inner');
});
