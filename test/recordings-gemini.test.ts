import { expect } from 'vitest';
import type { VendorCall } from '../src/providers/adapter.ts';
import { geminiChat as chat } from '../src/providers/formats/gemini/adapter.ts';
import { chatRequest, geminiMeaning, geminiSaid } from './gemini-meaning.ts';
import type { Recording } from './recorded-traffic.ts';
import { replayTranslated, sameMeaning } from './replay-translated.ts';

/** A conversation that nobody began is none that chat could have asked for. */
function asked({ request, url }: Recording): Record<string, unknown> | undefined {
  const body = chatRequest({ ...request }, url);
  const messages = body?.['messages'];
  return Array.isArray(messages) && messages.some((message) => message.role === 'user')
    ? body
    : undefined;
}

/** The recorded request, said in chat's words, arrives as it was recorded. */
function checkRequest({ request, url }: Recording, call: VendorCall): void {
  const { path, body } = chat.ask(call);
  expect(geminiSaid(JSON.parse(body.toString('utf8')))).toEqual(geminiSaid({ ...request }));
  expect(url.replace(/\$alt=[^&]*&?|alt=sse/g, '')).toContain(path.slice(0, path.indexOf(':')));
}

replayTranslated({
  title: 'Gemini’s format',
  endpoint: 'gemini',
  chat,
  model: ({ url }) =>
    decodeURIComponent(/\/models\/([^:/?]+)/.exec(url)?.[1] ?? 'gemini-2.5-flash'),
  meaning: (reply) => geminiMeaning(reply.toString('utf8')),
  chatRequest: asked,
  // What the convention has no word for is put into words.
  same: (got, want) => sameMeaning(got, want.choices === 1 ? want : { ...want, text: got.text }),
  failed: ({ error }) => error !== undefined,
  checkRequest,
  faults({ status, reply }) {
    if (status === 400)
      return /API_KEY_INVALID/.test(reply.toString('utf8')) ? ['credentials'] : ['bad_request'];
    return [
      'credentials',
      'quota',
      'rate_limited',
      'overloaded',
      'unknown_model',
      'server_error',
      'timeout',
      'protocol',
    ];
  },
});
