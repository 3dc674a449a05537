import { expect, test } from 'vitest';
import { context, refusalOf, sentJson } from '../../test/support/parsed-request.ts';
import { refusals } from '../base/refusal.ts';
import { parseChat } from './chat.ts';
import { type RequestBody, parseJson } from './request-body.ts';
import { goDuration } from '../limits/limiter.ts';

const hello = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
const parsed = (body: RequestBody) => parseChat(context, sentJson(body));

const wrong: readonly (readonly [string, RequestBody, string])[] = [
  ['no model', { messages: hello.messages }, 'model'],
  ['an empty model', { ...hello, model: '' }, 'model'],
  ['a model that is no string', { ...hello, model: 4 }, 'model'],
  ['no messages', { model: 'm' }, 'messages'],
  ['messages that are no array', { model: 'm', messages: 'Hello' }, 'messages'],
  ['no message at all', { model: 'm', messages: [] }, 'messages'],
  ['a message that is no object', { model: 'm', messages: ['Hello'] }, 'messages[0]'],
  [
    'a message without a role',
    { model: 'm', messages: [{ content: 'Hello' }] },
    'messages[0].role',
  ],
  [
    'an unknown role',
    { model: 'm', messages: [{ role: 'robot', content: 'Hello' }] },
    'messages[0].role',
  ],
  ['a user without content', { model: 'm', messages: [{ role: 'user' }] }, 'messages[0].content'],
  [
    'an assistant with neither content nor calls',
    { model: 'm', messages: [{ role: 'assistant', content: null }] },
    'messages[0].content',
  ],
  [
    'content of a wrong type',
    { model: 'm', messages: [{ role: 'user', content: 5 }] },
    'messages[0].content',
  ],
  [
    'a part without a type',
    { model: 'm', messages: [{ role: 'user', content: [{}] }] },
    'messages[0].content[0].type',
  ],
  [
    'a text part without text',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'text' }] }] },
    'messages[0].content[0].text',
  ],
  [
    'an image without a URL',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
    'messages[0].content[0].image_url.url',
  ],
  [
    'an image from a file',
    {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }],
        },
      ],
    },
    'messages[0].content[0].image_url.url',
  ],
  ['a temperature above 2', { ...hello, temperature: 2.1 }, 'temperature'],
  ['a temperature below 0', { ...hello, temperature: -1 }, 'temperature'],
  ['a temperature that is a string', { ...hello, temperature: '1' }, 'temperature'],
  ['top_p above 1', { ...hello, top_p: 1.5 }, 'top_p'],
  ['max_tokens of 0', { ...hello, max_tokens: 0 }, 'max_tokens'],
  ['max_tokens with a fraction', { ...hello, max_tokens: 1.5 }, 'max_tokens'],
  ['max_completion_tokens of 0', { ...hello, max_completion_tokens: 0 }, 'max_completion_tokens'],
  ['n of 0', { ...hello, n: 0 }, 'n'],
  ['n beyond the limit', { ...hello, n: 129 }, 'n'],
  ['stream that is a string', { ...hello, stream: 'true' }, 'stream'],
  [
    'stream_options without stream',
    { ...hello, stream_options: { include_usage: true } },
    'stream_options',
  ],
  [
    'include_usage that is no boolean',
    { ...hello, stream: true, stream_options: { include_usage: 1 } },
    'stream_options.include_usage',
  ],
  ['five stops', { ...hello, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
  ['a stop that is no string', { ...hello, stop: [1] }, 'stop[0]'],
  ['tools that are no array', { ...hello, tools: {} }, 'tools'],
  ['a response format without a type', { ...hello, response_format: {} }, 'response_format.type'],
];

test.each(wrong)('%s is refused and named', (_what, body, param) => {
  const refused = refusalOf(() => parsed(body));
  expect(refusals[refused.refusal]).toMatchObject({ status: 400, code: 'invalid_request_error' });
  expect(refused.param).toBe(param);
  expect(refused.message).toContain(param.split(/[[.]/)[0]);
});

test('a request is understood: limits, stream, choices, media', () => {
  const body = {
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
    n: 2,
    max_tokens: 10,
    max_completion_tokens: 20,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ],
  };
  const request = parseChat({ ...context, id: 'req_abc' }, sentJson(body));
  expect(request).toMatchObject({
    stream: true,
    includeUsage: true,
    choices: 2,
    outputTokensRequested: 20,
    mediaCount: 1,
    textBytes: JSON.stringify(body).length - 26,
    answerId: 'chatcmpl-abc',
  });
  expect([...request.media]).toEqual([['image', 'messages[0].content[1]']]);
  expect(request.text()).toContain('What is this?');
  expect(request.text()).not.toContain('base64');
});

test('null members are absent members, as in the convention', () => {
  const body = {
    ...hello,
    temperature: null,
    max_tokens: null,
    stop: null,
    tools: null,
    stream: null,
  };
  expect(parsed(body)).toMatchObject({
    stream: false,
    outputTokensRequested: undefined,
  });
});

test('an assistant that called a tool may be silent', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: '1' },
  ];
  expect(parsed({ model: 'm', messages }).mediaCount).toBe(0);
});

test('a body is refused before it is understood: empty, broken, no object, no JSON', () => {
  const refusedAs = (bytes: Buffer | undefined, type: string | undefined): string =>
    refusalOf(() => parseJson(bytes, type)).refusal;
  expect(parseJson(Buffer.from('{}'), 'application/json; charset=utf-8').body).toEqual({});
  expect(refusedAs(undefined, 'application/json')).toBe('malformed_json');
  expect(refusedAs(Buffer.from(''), 'application/json')).toBe('malformed_json');
  expect(refusedAs(Buffer.from('{"a":'), 'application/json')).toBe('malformed_json');
  expect(refusedAs(Buffer.from('[]'), 'application/json')).toBe('malformed_json');
  expect(refusedAs(Buffer.from('{}'), 'text/plain')).toBe('wrong_content_type');
  expect(refusedAs(Buffer.from('{}'), undefined)).toBe('wrong_content_type');
});

test('a function in the form of /v1/responses is refused with the right one', () => {
  const tools = [
    { type: 'function', function: { name: 'f' } },
    { type: 'function', name: 'g' },
  ];
  expect(refusalOf(() => parsed({ ...hello, tools }))).toMatchObject({
    param: 'tools[1]',
    message:
      'Invalid value for \'tools[1]\': its form is {"type": "function", "function": {"name": …}}. {"type": "function", "name": …} is that of /v1/responses.',
  });
  // Mistral's clients leave out the type, and some repeat the name.
  const taken = [
    { function: { name: 'f' } },
    { type: 'function', name: 'f', function: { name: 'f' } },
    { type: 'web_search', name: 'web' },
  ];
  expect(parsed({ ...hello, tools: taken }).body['tools']).toEqual(taken);
});

test('durations are written as clients read them', () => {
  expect([0, 12, 1_000, 1_500, 60_000, 360_000, 90_500].map(goDuration)).toEqual([
    '0s',
    '12ms',
    '1s',
    '1.5s',
    '1m0s',
    '6m0s',
    '1m30.5s',
  ]);
});

test('C11: what is absent is called missing, not of a type', () => {
  const message = (body: object): string => refusalOf(() => parsed({ ...hello, ...body })).message;
  expect(message({ messages: [{ role: 'user', content: [{ type: 'text' }] }] })).toContain(
    "Missing required parameter: 'messages[0].content[0].text'.",
  );
  expect(message({ response_format: {} })).toContain(
    "Missing required parameter: 'response_format.type'.",
  );
  expect(message({ response_format: { type: null } })).toContain(
    'expected a string, but got null instead',
  );
});
