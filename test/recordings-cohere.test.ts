import { expect } from 'vitest';
import type { VendorCall } from '../src/providers/adapter.ts';
import { cohereChat as chat } from '../src/providers/formats/cohere/adapter.ts';
import { chatRequest, cohereMeaning, cohereSaid } from './cohere-meaning.ts';
import type { Recording } from './recorded-traffic.ts';
import { conversation, replayTranslated } from './replay-translated.ts';

/** The recorded request, said in chat's words, arrives as it was recorded. */
function checkRequest({ request }: Recording, call: VendorCall): void {
  const ask = chat.ask(call);
  expect(ask.path).toBe('/chat');
  expect(cohereSaid(JSON.parse(ask.body.toString('utf8')))).toEqual(cohereSaid({ ...request }));
}

replayTranslated({
  title: 'Cohere’s own format',
  endpoint: 'nativechat',
  chat,
  model: ({ request }) =>
    typeof request?.['model'] === 'string' ? request['model'] : 'command-a-03-2025',
  meaning: (reply) => cohereMeaning(reply.toString('utf8')),
  chatRequest: conversation(chatRequest),
  checkRequest,
  faults: ({ status }) =>
    status === 400 ? ['context_length'] : status === 401 ? ['credentials'] : ['unknown_model'],
});
