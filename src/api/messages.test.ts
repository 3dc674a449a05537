import { expect, test } from 'vitest';
import { context, refusalOf, sentJson } from '../../test/support/parsed-request.ts';
import { refusal, refusals } from '../base/refusal.ts';
import type { RequestBody } from './request-body.ts';
import { messagesEnvelope } from './errors.ts';
import { parseMessages, parseTokenCount } from './messages.ts';

const hello = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };
const bodyWith = (content: unknown): RequestBody => ({
  ...hello,
  messages: [{ role: 'user', content }],
});
const parsed = (body: RequestBody) => parseMessages(context, sentJson(body));

const at = 'messages[0].content[0]';
const wrong: readonly (readonly [string, RequestBody, string])[] = [
  ['no model', { ...hello, model: undefined }, 'model'],
  ['a model that is no string', { ...hello, model: 4 }, 'model'],
  ['no limit of tokens', { ...hello, max_tokens: undefined }, 'max_tokens'],
  ['a negative limit', { ...hello, max_tokens: -1 }, 'max_tokens'],
  ['a limit with a fraction', { ...hello, max_tokens: 1.5 }, 'max_tokens'],
  ['a limit that is a string', { ...hello, max_tokens: '10' }, 'max_tokens'],
  ['no messages', { ...hello, messages: undefined }, 'messages'],
  ['messages that are no array', { ...hello, messages: 'Hello' }, 'messages'],
  ['no message at all', { ...hello, messages: [] }, 'messages'],
  ['a message that is no object', { ...hello, messages: ['Hello'] }, 'messages[0]'],
  ['a message without a role', { ...hello, messages: [{ content: 'Hello' }] }, 'messages[0].role'],
  [
    'a role of another convention',
    { ...hello, messages: [{ role: 'tool', content: 'Hello' }] },
    'messages[0].role',
  ],
  ['a message without content', { ...hello, messages: [{ role: 'user' }] }, 'messages[0].content'],
  ['content of a wrong type', bodyWith(5), 'messages[0].content'],
  ['a block that is no object', bodyWith(['Hello']), at],
  ['a block without a type', bodyWith([{}]), `${at}.type`],
  ['a text block without text', bodyWith([{ type: 'text' }]), `${at}.text`],
  ['a text block whose text is no string', bodyWith([{ type: 'text', text: 1 }]), `${at}.text`],
  [
    'thinking whose signature is no string',
    bodyWith([{ type: 'thinking', thinking: 'Hm', signature: 1 }]),
    `${at}.signature`,
  ],
  ['a call without an id', bodyWith([{ type: 'tool_use', name: 'f', input: {} }]), `${at}.id`],
  [
    'a call whose input is text',
    bodyWith([{ type: 'tool_use', id: 't', name: 'f', input: '{}' }]),
    `${at}.input`,
  ],
  ['a result of no call', bodyWith([{ type: 'tool_result', content: 'x' }]), `${at}.tool_use_id`],
  [
    'a result whose content is no text',
    bodyWith([{ type: 'tool_result', tool_use_id: 't', content: 5 }]),
    `${at}.content`,
  ],
  ['an image without a source', bodyWith([{ type: 'image' }]), `${at}.source`],
  [
    'an image without bytes',
    bodyWith([{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }]),
    `${at}.source.data`,
  ],
  [
    'bytes without their type',
    bodyWith([{ type: 'image', source: { type: 'base64', data: 'AA==' } }]),
    `${at}.source.media_type`,
  ],
  [
    'bytes as a data URL',
    bodyWith([
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: 'data:image/png;base64,AA==' },
      },
    ]),
    `${at}.source.data`,
  ],
  [
    'an image from a file',
    bodyWith([{ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }]),
    `${at}.source.url`,
  ],
  ['instructions of a wrong type', { ...hello, system: 5 }, 'system'],
  ['an instruction without text', { ...hello, system: [{ type: 'text' }] }, 'system[0].text'],
  ['a temperature above 1', { ...hello, temperature: 1.1 }, 'temperature'],
  ['top_p above 1', { ...hello, top_p: 2 }, 'top_p'],
  ['top_k below -1', { ...hello, top_k: -2 }, 'top_k'],
  ['top_p below 0', { ...hello, top_p: -0.5 }, 'top_p'],
  ['a stop that is no string', { ...hello, stop_sequences: ['a', 1] }, 'stop_sequences[1]'],
  ['a stream that is a string', { ...hello, stream: 'yes' }, 'stream'],
  ['tools that are no array', { ...hello, tools: {} }, 'tools'],
  ['a tool without a name', { ...hello, tools: [{ input_schema: {} }] }, 'tools[0].name'],
  ['a tool without a schema', { ...hello, tools: [{ name: 'f' }] }, 'tools[0].input_schema'],
  [
    'an unknown choice of tools',
    { ...hello, tool_choice: { type: 'required' } },
    'tool_choice.type',
  ],
  ['a choice of tools as a word', { ...hello, tool_choice: 'auto' }, 'tool_choice'],
  [
    'a named choice without its name',
    { ...hello, tool_choice: { type: 'tool' } },
    'tool_choice.name',
  ],
  ['thinking without a type', { ...hello, thinking: { budget_tokens: 1024 } }, 'thinking.type'],
];

test.each(wrong)('%s is a 400 that names it', (_what, body, param) => {
  const refused = refusalOf(() => parsed(body));
  expect(refused.status).toBe(400);
  expect(refused.param).toBe(param);
  expect(refused.message).toContain(param);
  expect(JSON.parse(messagesEnvelope.body(refused, 'req_0'))).toEqual({
    type: 'error',
    error: { type: 'invalid_request_error', message: refused.message },
    request_id: 'req_0',
  });
});

test('what we do not know is the model’s to judge', () => {
  const unknown = bodyWith([
    { type: 'hologram', data: 1 },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  ]);
  expect(
    parsed({ ...unknown, tools: [{ type: 'web_search_20250305', name: 'web_search' }], x: 1 }).media
      .size,
  ).toBe(0);
});

test('media are told apart from text, inside results of tools too', () => {
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
  };
  const request = parsed(
    bodyWith([
      { type: 'tool_result', tool_use_id: 't', content: [image, { type: 'text', text: 'seen' }] },
      image,
    ]),
  );
  expect([...request.media]).toEqual([['image', `${at}.content[0]`]]);
  expect(request).toMatchObject({ mediaCount: 2, textBytes: request.bytes.length - 8 });
  expect(request.text()).toContain('seen');
  expect(request.text()).not.toContain('AAAA');
});

test('a question of how many tokens needs no limit', () => {
  const body = { ...hello, max_tokens: undefined };
  expect(parseTokenCount(context, sentJson(body))).toMatchObject({
    model: 'm',
    stream: false,
  });
});

test('every refusal has its type by status, and an empty balance is a matter of billing', () => {
  const typeOf = (name: keyof typeof refusals) =>
    JSON.parse(messagesEnvelope.body(refusal(name), 'req_0')).error.type;
  expect(
    Object.keys(refusals).every(
      (name) => typeof typeOf(name as keyof typeof refusals) === 'string',
    ),
  ).toBe(true);
  expect([
    typeOf('invalid_api_key'),
    typeOf('model_not_found'),
    typeOf('request_too_large'),
    typeOf('rate_limit_tokens'),
  ]).toEqual(['authentication_error', 'not_found_error', 'request_too_large', 'rate_limit_error']);
  expect([typeOf('insufficient_quota'), typeOf('server_error'), typeOf('unavailable')]).toEqual([
    'billing_error',
    'api_error',
    'overloaded_error',
  ]);
});

test('C6: top_k and top_p of -1, which older LangChain sends to say nothing, are left out and named', () => {
  for (const [off, rest] of [
    [{ top_k: -1 }, {}],
    [{ top_p: -1 }, { top_k: 5 }],
    [{ top_k: -1, top_p: -1 }, { temperature: 1 }],
  ] as const) {
    const request = parsed({ ...hello, ...off, ...rest });
    expect(request.body).toEqual({ ...hello, ...rest });
    expect(JSON.parse(request.bytes.toString())).toEqual({ ...hello, ...rest });
    expect(request.dropped).toEqual(Object.keys(off));
  }
  expect(parsed({ ...hello, top_k: 5, top_p: 0.5 }).dropped).toBe(undefined);
});
