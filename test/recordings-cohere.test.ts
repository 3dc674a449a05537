import { expect } from 'vitest';
import { cohereChat as chat } from '../src/providers/wire/cohere-chat.ts';
import { chatRequest, cohereMeaning, cohereSaid } from './cohere-meaning.ts';
import { describeTranslated } from './replay-translated.ts';

describeTranslated({
  title: 'Cohere’s own format',
  endpoint: 'nativechat',
  chat,
  model: ({ request }) => (typeof request?.['model'] === 'string' ? request['model'] : 'command-a-03-2025'),
  meaning: (reply) => cohereMeaning(reply.toString('utf8')),
  chatRequest: ({ request }) => (Array.isArray(request?.['messages']) ? chatRequest({ ...request }) : undefined),
  checkRequest({ request }, call) {
    const ask = chat.ask(call);
    expect(ask.path).toBe('/chat');
    expect(cohereSaid(JSON.parse(ask.body.toString('utf8')))).toEqual(cohereSaid({ ...request }));
  },
  faults: ({ status }) => (status === 400 ? ['context_length'] : status === 401 ? ['credentials'] : ['unknown_model']),
});
