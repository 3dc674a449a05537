import { expect, test } from 'vitest';
import { Refusal } from '../../../base/refusal.ts';
import type { VendorCall } from '../../adapter.ts';
import { geminiChat } from './adapter.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

function callOf(body: Record<string, unknown>, over: Partial<VendorCall> = {}): VendorCall {
  return vendorCall(body, {
    publicModel: 'm',
    upstreamModel: 'gemini-3-flash-preview',
    answerId: 'chatcmpl-abc',
    ...over,
  });
}

const hello = [{ role: 'user', content: 'Hello' }];

function sentText(body: Record<string, unknown>, upstreamModel = 'gemini-3-flash-preview'): string {
  return geminiChat
    .ask(callOf({ messages: hello, ...body }, { upstreamModel }))
    .body.toString('utf8');
}
const sent = (body: Record<string, unknown>, upstreamModel?: string): Record<string, unknown> =>
  JSON.parse(sentText(body, upstreamModel));
const configOf = (body: Record<string, unknown>, model?: string): unknown =>
  sent(body, model)['generationConfig'];

function refusedFor(body: Record<string, unknown>, model?: string): string | null {
  try {
    sentText(body, model);
  } catch (error) {
    if (error instanceof Refusal) return error.param;
    throw error;
  }
  throw new Error('it was taken');
}

test('the model and the stream stand in the path, escaped', () => {
  const pathOf = (upstreamModel: string, streamUpstream: boolean): string =>
    geminiChat.ask(callOf({ messages: hello }, { upstreamModel, streamUpstream })).path;
  expect(pathOf('gemini-2.5-pro', false)).toBe('/models/gemini-2.5-pro:generateContent');
  expect(pathOf('gemini-2.5-pro', true)).toBe(
    '/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  );
  expect(pathOf('a?b:c', false)).toBe('/models/a%3Fb%3Ac:generateContent');
  expect(pathOf('tunedModels/mine', false)).toBe('/tunedModels/mine:generateContent');
});

test('instructions go where instructions go, and turns alternate', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
    { role: 'user', content: 'One' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Two' },
        { type: 'text', text: '' },
      ],
    },
    { role: 'assistant', content: 'Three' },
    { role: 'assistant', content: null, refusal: 'No.' },
    { role: 'user', content: 'Four' },
  ];
  expect(sent({ messages })).toEqual({
    systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'model', parts: [{ text: 'Three' }] },
      { role: 'user', parts: [{ text: 'Four' }] },
    ],
  });
});

test('the first turn is always the user’s, and instructions alone become one', () => {
  const assistant = { role: 'assistant', content: 'Hi' };
  expect(sent({ messages: [assistant] })['contents']).toEqual([
    { role: 'user', parts: [{ text: ' ' }] },
    { role: 'model', parts: [{ text: 'Hi' }] },
  ]);
  expect(sent({ messages: [{ role: 'system', content: 'Say hi.' }] })).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Say hi.' }] }],
  });
});

test('a model without instructions reads them before the first question', () => {
  const messages = [{ role: 'system', content: 'Be brief.' }, ...hello];
  expect(sent({ messages }, 'gemma-3-27b-it')).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hello' }] }],
  });
});

test('images, sounds and files go along as bytes', () => {
  const content = [
    { type: 'text', text: 'See' },
    { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' } },
    { type: 'input_audio', input_audio: { format: 'mp3', data: 'BBBB' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
    { type: 'video_url', video_url: { url: 'https://youtu.be/abc' } },
  ];
  expect(sent({ messages: [{ role: 'user', content }] })['contents']).toEqual([
    {
      role: 'user',
      parts: [
        { text: 'See' },
        { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' } },
        { inlineData: { mimeType: 'audio/mp3', data: 'BBBB' } },
        { inlineData: { mimeType: 'application/pdf', data: 'CCCC' } },
        { fileData: { fileUri: 'https://youtu.be/abc', mimeType: 'video/mp4' } },
      ],
    },
  ]);
});

test('an address goes where the model reads it itself, and is refused by name where not', () => {
  const image = (url: string): unknown[] => [
    { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
  ];
  expect(sentText({ messages: image('https://host/a.png?x=1') })).toContain(
    '"fileData":{"fileUri":"https://host/a.png?x=1","mimeType":"image/png"}',
  );
  const own = 'https://generativelanguage.googleapis.com/v1beta/files/abc';
  expect(sentText({ messages: image(own) }, 'gemini-2.0-flash')).toContain(
    `"fileData":{"fileUri":"${own}"}`,
  );
  expect(refusedFor({ messages: image('https://host/a.png') }, 'gemini-2.0-flash')).toBe(
    'messages[0].content[0]',
  );
  expect(refusedFor({ messages: image('https://host/a') })).toBe('messages[0].content[0]');
  expect(refusedFor({ messages: image('http://host/a.png') })).toBe('messages[0].content[0]');
});

const call = (id: string, name: string, args: string, more = {}): object => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...more,
});
const tool = (id: string, content: unknown): object => ({
  role: 'tool',
  tool_call_id: id,
  content,
});

test('calls and results are paired by id and name, and keep every number as it was written', () => {
  const messages = [
    ...hello,
    {
      role: 'assistant',
      content: 'Looking.',
      tool_calls: [call('a', 'f', '{"n":12345678901234567890}'), call('b', 'g', '')],
    },
    tool('a', '{"n":1.0,"m":12345678901234567890}'),
    tool('b', [{ type: 'text', text: 'plain' }]),
    { role: 'user', content: 'And?' },
  ];
  const text = sentText({ messages }, 'gemini-2.5-flash');
  expect(text).toContain(
    '{"functionCall":{"id":"a","name":"f","args":{"n":12345678901234567890}}}',
  );
  expect(text).toContain(
    '{"functionResponse":{"id":"a","name":"f","response":{"n":1.0,"m":12345678901234567890}}}',
  );
  expect(sent({ messages }, 'gemini-2.5-flash')['contents']).toMatchObject([
    { role: 'user' },
    {
      role: 'model',
      parts: [
        { text: 'Looking.' },
        { functionCall: { id: 'a' } },
        { functionCall: { id: 'b', name: 'g', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'f' } },
        { functionResponse: { id: 'b', name: 'g', response: { output: 'plain' } } },
        { text: 'And?' },
      ],
    },
  ]);
});

test('a result for no call is refused by name', () => {
  expect(refusedFor({ messages: [...hello, tool('x', '1')] })).toBe('messages[1].tool_call_id');
});

test('media in a result lie in it for models that take them there, and after it for others', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const messages = [
    ...hello,
    { role: 'assistant', tool_calls: [call('a', 'f', '{}')] },
    tool('a', [{ type: 'text', text: 'x' }, image]),
  ];
  const bytes = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const last = (model: string): unknown =>
    (sent({ messages }, model)['contents'] as unknown[]).at(-1);
  const response = { id: 'a', name: 'f', response: { output: 'x' } };
  expect(last('gemini-3-flash-preview')).toEqual({
    role: 'user',
    parts: [{ functionResponse: { ...response, parts: [bytes] } }],
  });
  expect(last('gemini-2.5-flash')).toEqual({
    role: 'user',
    parts: [{ functionResponse: response }, { text: 'Result of the call a:' }, bytes],
  });
});

test('thought signatures come back where they came from, and stand-ins where there are none', () => {
  const signed = { extra_content: { google: { thought_signature: 'c2ln' } } };
  const details = [
    { type: 'reasoning.encrypted', data: 'dGV4dA==', format: 'google-gemini-v1', index: 0 },
    {
      type: 'reasoning.encrypted',
      data: 'Y2FsbA==',
      format: 'google-gemini-v1',
      id: 'd',
      index: 1,
    },
    { type: 'reasoning.encrypted', data: 'other', format: 'openai-responses-v1' },
  ];
  const messages = [
    ...hello,
    {
      role: 'assistant',
      content: 'Hm.',
      tool_calls: [call('a', 'f', '{}', signed), call('b', 'f', '{}')],
    },
    tool('a', '1'),
    tool('b', '2'),
    { role: 'assistant', content: null, tool_calls: [call('c', 'f', '{}'), call('e', 'f', '{}')] },
    tool('c', '3'),
    tool('e', '3'),
    {
      role: 'assistant',
      content: 'Ah.',
      reasoning_content: 'unseen',
      reasoning_details: details,
      tool_calls: [call('d', 'f', '{}')],
    },
    tool('d', '4'),
  ];
  const signatures = (model: string): unknown[] =>
    (
      sent({ messages }, model)['contents'] as {
        role: string;
        parts: { thoughtSignature?: string }[];
      }[]
    )
      .filter((turn) => turn.role === 'model')
      .map((turn) => turn.parts.map((part) => part.thoughtSignature));
  const skip = 'skip_thought_signature_validator';
  expect(signatures('gemini-3.1-pro-preview')).toEqual([
    [undefined, 'c2ln', undefined],
    [skip, undefined],
    ['dGV4dA==', 'Y2FsbA=='],
  ]);
  expect(signatures('gemini-2.5-flash')).toEqual([
    [undefined, 'c2ln', undefined],
    [undefined, undefined],
    ['dGV4dA==', 'Y2FsbA=='],
  ]);
  expect(sentText({ messages })).not.toContain('unseen');
});

const tools = [
  {
    type: 'function',
    function: {
      name: 'f',
      description: 'F',
      parameters: { type: 'object', properties: {} },
      strict: true,
    },
  },
];

test.each([
  [undefined, undefined],
  ['auto', { mode: 'AUTO' }],
  ['none', { mode: 'NONE' }],
  ['required', { mode: 'ANY' }],
  [
    { type: 'function', function: { name: 'f' } },
    { mode: 'ANY', allowedFunctionNames: ['f'] },
  ],
  [
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
  ],
  [
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    { mode: 'ANY', allowedFunctionNames: ['f'] },
  ],
])('tool choice %j', (choice, functionCallingConfig) => {
  const body = sent({ tools, tool_choice: choice });
  expect(body['tools']).toEqual([
    {
      functionDeclarations: [
        { name: 'f', description: 'F', parametersJsonSchema: { type: 'object', properties: {} } },
      ],
    },
  ]);
  expect(body['toolConfig']).toEqual(functionCallingConfig && { functionCallingConfig });
});

test('tools of other kinds are refused by name', () => {
  expect(refusedFor({ tools: [...tools, { type: 'web_search' }] })).toBe('tools[1].type');
  expect(refusedFor({ functions: [{ name: 'f' }] })).toBe('functions');
});

test('sampling and limits have Gemini’s names; what it has no word for is left out', () => {
  const body = {
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    max_tokens: 10,
    max_completion_tokens: 20,
    stop: 'END',
    n: 2,
    seed: 2 ** 31 + 5,
    logprobs: true,
    top_logprobs: 3,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    user: 'u',
    parallel_tool_calls: false,
    logit_bias: { 1: 2 },
    metadata: {},
  };
  const all = {
    temperature: 0.5,
    topP: 0.9,
    topK: 40,
    maxOutputTokens: 20,
    stopSequences: ['END'],
    candidateCount: 2,
    seed: 5,
    responseLogprobs: true,
    logprobs: 3,
  };
  expect(Object.keys(sent(body))).toEqual(['contents', 'generationConfig']);
  expect(configOf(body)).toEqual(all);
  expect(configOf(body, 'gemini-2.0-flash')).toEqual({
    ...all,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
  });
  expect(sent({ temperature: null, stop: null, n: 1, logprobs: false })).not.toHaveProperty(
    'generationConfig',
  );
});

test('our own limit is the vendor’s when money is short', () => {
  const { body } = geminiChat.ask(
    callOf({ messages: hello, max_tokens: 100 }, { outputTokensMax: 16 }),
  );
  expect(JSON.parse(body.toString()).generationConfig).toEqual({ maxOutputTokens: 16 });
});

test.each([
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0, includeThoughts: false }],
  ['gemini-2.5-pro', 'none', { thinkingBudget: 128, includeThoughts: false }],
  ['gemini-2.5-flash-lite', 'minimal', { thinkingBudget: 512, includeThoughts: true }],
  ['gemini-2.5-flash', 'low', { thinkingBudget: 1024, includeThoughts: true }],
  ['gemini-2.5-flash', 'medium', { thinkingBudget: 8192, includeThoughts: true }],
  ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
  ['gemini-2.5-pro', 'xhigh', { thinkingBudget: 32_768, includeThoughts: true }],
  ['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
  ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL', includeThoughts: false }],
  ['gemini-3.1-flash-lite', 'minimal', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
  ['gemini-3.5-flash', 'minimal', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
  ['gemini-3.7-flash', 'minimal', { thinkingLevel: 'LOW', includeThoughts: true }],
  ['gemini-3.8-flash', 'none', { thinkingLevel: 'LOW', includeThoughts: false }],
  ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'HIGH', includeThoughts: true }],
  ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
  ['gemini-flash-latest', 'xhigh', { thinkingLevel: 'HIGH', includeThoughts: true }],
  ['gemini-2.0-flash', 'high', undefined],
  ['gemini-2.5-flash-image', 'high', undefined],
  ['gemma-3-27b-it', 'high', undefined],
  ['gemini-3-flash-preview', 'unheard-of', undefined],
])('%s thinks with effort %s', (model, effort, thinkingConfig) => {
  expect(configOf({ reasoning_effort: effort }, model)).toEqual(
    thinkingConfig && { thinkingConfig },
  );
});

test('Google’s own extensions are taken as they are', () => {
  const google = {
    thinking_config: { thinking_budget: 200, include_thoughts: true },
    cached_content: 'cachedContents/a',
  };
  expect(sent({ extra_body: { google }, reasoning_effort: 'low' })).toMatchObject({
    generationConfig: { thinkingConfig: google.thinking_config },
    cachedContent: 'cachedContents/a',
  });
});

const schema = {
  type: 'object',
  properties: { b: { type: 'integer' }, a: { const: 'x' } },
  required: ['b'],
};
const jsonSchema = { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } };

test('an answer’s format is bound', () => {
  expect(configOf({ response_format: { type: 'text' } })).toBeUndefined();
  expect(configOf({ response_format: { type: 'json_object' } })).toEqual({
    responseMimeType: 'application/json',
  });
  expect(configOf({ response_format: jsonSchema })).toEqual({
    responseMimeType: 'application/json',
    responseJsonSchema: {
      type: 'object',
      properties: { b: { type: 'integer' }, a: { enum: ['x'], type: 'string' } },
      required: ['b'],
    },
  });
  expect(configOf({ response_format: jsonSchema, tools }, 'gemini-3-flash-preview')).toHaveProperty(
    'responseJsonSchema',
  );
});

test('a model that cannot be bound to a format beside tools is asked for it', () => {
  const body = sent({ response_format: jsonSchema, tools }, 'gemini-2.5-flash');
  expect(body).not.toHaveProperty('generationConfig');
  expect(JSON.stringify(body['systemInstruction'])).toContain(
    '{\\"properties\\":{\\"a\\":{\\"const\\":\\"x\\"},\\"b\\":{\\"type\\":\\"integer\\"}},\\"required\\":[\\"b\\"],\\"type\\":\\"object\\"}',
  );
});

test('images and speech come when asked for', () => {
  expect(configOf({ modalities: ['text'] })).toBeUndefined();
  expect(configOf({ modalities: ['text', 'image'] })).toEqual({
    responseModalities: ['TEXT', 'IMAGE'],
  });
  expect(
    configOf({ modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'pcm16' } }),
  ).toEqual({
    responseModalities: ['AUDIO'],
    speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
  });
  expect(refusedFor({ modalities: ['audio'], audio: { voice: 'Kore', format: 'mp3' } })).toBe(
    'audio.format',
  );
});
