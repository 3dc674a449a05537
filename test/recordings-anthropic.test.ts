import { expect } from 'vitest';
import type { VendorCall } from '../src/providers/adapter.ts';
import { anthropicMessages } from '../src/providers/formats/anthropic-messages/adapter.ts';
import { advisedMeaning, chatRequest, messagesSaid } from './messages-meaning.ts';
import { type Recording, sentBy } from './recorded-traffic.ts';
import { conversation, replayTranslated } from './replay-translated.ts';

const chat = anthropicMessages();

/** The recorded request, said in chat's words, arrives as it was recorded. */
function checkRequest({ request }: Recording, call: VendorCall): void {
  const native = { ...request };
  const sent: Record<string, unknown> = JSON.parse(sentBy(chat.ask(call)));
  const { model, temperature, thinking } = native;
  expect(messagesSaid(sent)).toEqual(messagesSaid(native));
  if (model !== undefined) expect(sent['model']).toBe(model);
  // Thinking takes no temperature but the usual one.
  if (temperature !== undefined && sent['thinking'] === undefined)
    expect(sent['temperature']).toBe(temperature);
  if (
    JSON.stringify(thinking)?.includes('budget') &&
    JSON.stringify(sent['thinking'])?.includes('budget')
  )
    expect(Object.entries(sent['thinking'] ?? {}).sort()).toEqual(
      Object.entries(thinking ?? {}).sort(),
    );
}

replayTranslated({
  title: 'Anthropic’s format',
  endpoint: 'messages',
  chat,
  model: ({ request, url }) =>
    typeof request?.['model'] === 'string'
      ? request['model']
      : (/\/models\/([^:/?]+)/.exec(url)?.[1] ?? 'claude-sonnet-4-5'),
  meaning: (reply) => advisedMeaning(reply.toString('utf8')),
  chatRequest: conversation(chatRequest),
  checkRequest,
  failed: ({ error }, { reply }) =>
    error !== undefined || !/"content"/.test(reply.toString('utf8')),
  faults: ({ status }) =>
    status === 401 ? ['credentials'] : status === 404 ? ['unknown_model'] : ['bad_request'],
});
