import { describe, expect, test } from 'vitest';
import { Refusal } from '../../base/refusal.ts';
import { chunk, completion, streamOf } from '../../../test/support/scripted-vendor.ts';
import type { VendorCall } from '../adapter.ts';
import { vendors } from '../index.ts';
import { isFault } from '../formats/fault.ts';
import { openSignature, ownSignature } from '../formats/gemini/signature.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { generateOverChat } from './generate-over-chat.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const adapter = generateOverChat(openaiChat());
const hello = [{ role: 'user', parts: [{ text: 'Hello' }] }];

function callFor(body: Record<string, unknown>, more: Partial<VendorCall> = {}): VendorCall {
  const whole = { contents: hello, ...body };
  return vendorCall(whole, { includeUsage: true, answerId: 'answer', ...more });
}

const asked = (body: Record<string, unknown>) => adapter.ask(callFor(body));
const sent = (body: Record<string, unknown>) => JSON.parse(asked(body).body.toString('utf8'));
const sentMessages = (...contents: object[]) => sent({ contents })['messages'];

function refusalOf(body: Record<string, unknown>): Refusal {
  try {
    asked(body);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was taken');
}

function answered(reply: string, body: Record<string, unknown> = {}) {
  const read = adapter.read(Buffer.from(reply), 'application/json', callFor(body));
  if (isFault(read)) throw new Error(JSON.stringify(read));
  return JSON.parse(read.body.toString('utf8'));
}

function streamed(events: string, body: Record<string, unknown> = {}) {
  const stream = adapter.stream(callFor(body, { stream: true, streamUpstream: true }));
  const text = stream.push(Buffer.from(events)) + stream.end();
  return Buffer.from(text, 'latin1')
    .toString('utf8')
    .split('\n\n')
    .slice(0, -1)
    .map((event) => JSON.parse(event.slice('data: '.length)));
}

test('a request becomes a chat request, in either spelling of its members', () => {
  const parameters = { type: 'OBJECT', properties: { max_size: { type: 'STRING' } } };
  const camel = {
    systemInstruction: { parts: [{ text: 'Be' }, { text: 'brief.' }] },
    tools: [{ functionDeclarations: [{ name: 'f', description: 'F', parameters }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
    generationConfig: {
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      maxOutputTokens: '100',
      stopSequences: ['END'],
      seed: 7,
      candidateCount: 2,
      presencePenalty: 0.1,
      thinkingConfig: { thinkingBudget: 5_000 },
      responseMimeType: 'application/json',
      responseSchema: { type: 'ARRAY', items: { type: 'integer', nullable: true }, maxItems: '3' },
    },
  };
  const snake = JSON.parse(
    JSON.stringify(camel).replace(
      /"(\w+)":/g,
      (_, name: string) => `"${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`,
    ),
  );
  const chat = {
    model: 'up',
    messages: [
      { role: 'system', content: 'Be\nbrief.' },
      { role: 'user', content: 'Hello' },
    ],
    max_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    n: 2,
    stop: ['END'],
    seed: 7,
    presence_penalty: 0.1,
    tools: [
      {
        type: 'function',
        function: {
          name: 'f',
          description: 'F',
          parameters: { type: 'object', properties: { max_size: { type: 'string' } } },
        },
      },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    reasoning_effort: 'medium',
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'response',
        schema: { type: 'array', items: { type: ['integer', 'null'] }, maxItems: 3 },
        strict: false,
      },
    },
  };
  expect(sent(camel)).toEqual(chat);
  expect(sent(snake)).toEqual(chat);
  expect(asked(camel).dropped).toEqual(['generationConfig.topK']);
});

test('calls and results find each other: by id, and without one by name in their order', () => {
  const call = (name: string, id?: string) => ({ functionCall: { name, args: { n: 1 }, id } });
  const result = (name: string, id?: string) => ({
    functionResponse: { name, response: { ok: name }, id },
  });
  const messages = sentMessages(
    ...hello,
    { role: 'model', parts: [{ text: 'Hm.' }, call('f', 'a'), call('f'), call('g')] },
    { role: 'user', parts: [result('g'), result('f', 'a'), { text: 'so?' }, result('f')] },
  );
  expect(messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: 'Hm.',
      tool_calls: ['a', 'call_1_2', 'call_1_3'].map((id, i) => ({
        id,
        type: 'function',
        function: { name: i === 2 ? 'g' : 'f', arguments: '{"n":1}' },
      })),
    },
    { role: 'tool', tool_call_id: 'call_1_3', content: '{"ok":"g"}' },
    { role: 'tool', tool_call_id: 'a', content: '{"ok":"f"}' },
    { role: 'tool', tool_call_id: 'call_1_2', content: '{"ok":"f"}' },
    { role: 'user', content: 'so?' },
  ]);
});

test('a turn that a client keeps as the chunks of its stream is one message', () => {
  const model = (part: object) => ({ role: 'model', parts: [part] });
  const call = (id?: string) => ({ functionCall: { name: 'f', args: {}, id } });
  const result = (id?: string) => ({ functionResponse: { name: 'f', response: {}, id } });
  const made = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  expect(
    sentMessages(
      ...hello,
      model({ text: 'Why?', thought: true }),
      model({ text: 'Hel' }),
      model({ text: 'lo' }),
      model({ text: ' ' }),
      model({ text: 'you' }),
      model(call('a')),
      model(call()),
      model({ text: '' }),
      { role: 'user', parts: [result('a'), result()] },
      model({ text: 'Done.' }),
    ),
  ).toEqual([
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: 'Hello you',
      reasoning_content: 'Why?',
      tool_calls: [made('a'), made('call_7_0')],
    },
    { role: 'tool', tool_call_id: 'a', content: '{}' },
    { role: 'tool', tool_call_id: 'call_7_0', content: '{}' },
    { role: 'assistant', content: 'Done.' },
  ]);
  const image = { inlineData: { mimeType: 'image/png', data: 'AA' } };
  expect(refusalOf({ contents: [...hello, model({ text: 'a' }), model(image)] }).param).toBe(
    'contents[2].parts[0].inlineData',
  );
});

test('media in bytes become parts of chat, whatever letters of base64 they have', () => {
  const inline = (mimeType: string, data = 'ab-_') => ({ inlineData: { mimeType, data } });
  expect(
    sentMessages({
      parts: [
        inline('image/png'),
        inline('audio/mpeg'),
        inline('application/pdf'),
        inline('text/plain', Buffer.from('text').toString('base64')),
        { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
      ],
    }),
  ).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,ab+/' } },
        { type: 'input_audio', input_audio: { data: 'ab+/', format: 'mp3' } },
        {
          type: 'file',
          file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,ab+/' },
        },
        { type: 'text', text: 'text' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ],
    },
  ]);
});

describe('what chat cannot express is refused by its name', () => {
  const part = (value: object) => ({ contents: [{ parts: [value] }] });
  test.each([
    ['tools[0].googleSearch', { tools: [{ googleSearch: {} }] }],
    [
      'generationConfig.responseModalities',
      { generationConfig: { responseModalities: ['AUDIO'] } },
    ],
    ['generationConfig.responseMimeType', { generationConfig: { responseMimeType: 'text/csv' } }],
    [
      'generationConfig.responseSchema.type',
      { generationConfig: { responseMimeType: 'application/json', responseSchema: { type: 'X' } } },
    ],
    [
      'tools[0].functionDeclarations[0].parameters.properties.a.type',
      {
        tools: [
          {
            functionDeclarations: [
              { name: 'f', parameters: { type: 'object', properties: { a: { type: 'text' } } } },
            ],
          },
        ],
      },
    ],
    [
      'contents[0].parts[0].fileData.fileUri',
      part({ fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/x' } }),
    ],
    [
      'contents[0].parts[0].fileData.fileUri',
      part({ fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/x' } }),
    ],
    [
      'contents[0].parts[0].inlineData.mimeType',
      part({ inlineData: { mimeType: 'application/zip', data: 'AA==' } }),
    ],
    [
      'contents[0].parts[0].functionResponse',
      part({ functionResponse: { name: 'f', response: {} } }),
    ],
    ['contents[0].parts[0].toolResponse', part({ toolResponse: {} })],
    ['systemInstruction.parts[0]', { systemInstruction: { parts: [{ inlineData: {} }] } }],
  ])('%s', (param, body) => {
    const refused = refusalOf(body);
    expect(refused.param).toBe(param);
    expect(refused.message).toContain(param);
  });
});

test('an answer: thoughts where they are asked for, text, calls with their exact arguments, usage', () => {
  const message = {
    role: 'assistant',
    content: 'Hi.',
    reasoning_content: 'Hm.',
    tool_calls: [
      {
        id: 'c',
        type: 'function',
        function: { name: 'f', arguments: '{"n":12345678901234567890}' },
      },
      { id: 'd', type: 'function', function: { name: 'g', arguments: '' } },
    ],
  };
  const reply = completion('', {
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: {
      prompt_tokens: 19,
      completion_tokens: 10,
      total_tokens: 29,
      completion_tokens_details: { reasoning_tokens: 4 },
      prompt_tokens_details: { cached_tokens: 9 },
    },
  });
  const read = adapter.read(Buffer.from(reply), 'application/json', callFor({}));
  expect('body' in read && read.body.toString('utf8')).toContain(
    '"args":{"n":12345678901234567890}',
  );
  expect(answered(reply)).toEqual({
    candidates: [
      {
        content: {
          parts: [
            { text: 'Hi.' },
            {
              functionCall: { id: 'c', name: 'f', args: { n: Number('12345678901234567890') } },
              thoughtSignature: ownSignature([]),
            },
            { functionCall: { id: 'd', name: 'g', args: {} } },
          ],
          role: 'model',
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 19,
      cachedContentTokenCount: 9,
      candidatesTokenCount: 6,
      thoughtsTokenCount: 4,
      totalTokenCount: 29,
    },
    modelVersion: 'public',
    responseId: 'answer',
  });
  const thinks = { generationConfig: { thinkingConfig: { includeThoughts: true } } };
  expect(answered(reply, thinks).candidates[0].content.parts[0]).toEqual({
    text: 'Hm.',
    thought: true,
  });
});

test.each([
  ['length', 'MAX_TOKENS'],
  ['content_filter', 'SAFETY'],
  ['stop', 'STOP'],
])('%s is %s, whole and streamed, with a candidate even where nothing was said', (ours, theirs) => {
  const reply = completion('', {
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: ours }],
  });
  const candidate = {
    content: { parts: [{ text: '' }], role: 'model' },
    finishReason: theirs,
    index: 0,
  };
  expect(answered(reply).candidates).toEqual([candidate]);
  const events = streamed(`${chunk({ role: 'assistant' })}${chunk({}, ours)}data: [DONE]\n\n`);
  expect(events.at(-1).candidates).toEqual([candidate]);
});

test('a call whose arguments are no object is MALFORMED_FUNCTION_CALL; one that the limit cut is left out', () => {
  const called = (finish: string) =>
    answered(
      completion('', {
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"a":' } }],
            },
            finish_reason: finish,
          },
        ],
      }),
    ).candidates[0];
  expect(called('tool_calls')).toMatchObject({ finishReason: 'MALFORMED_FUNCTION_CALL' });
  expect(called('length')).toMatchObject({
    finishReason: 'MAX_TOKENS',
    content: { parts: [{ text: '' }] },
  });
});

test.each(['', ' ', 'null'])('a call with the arguments %j has none', (args) => {
  const call = { id: 'c', function: { name: 'f', arguments: args } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const reply = completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  expect(answered(reply).candidates[0]).toMatchObject({
    finishReason: 'STOP',
    content: { parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] },
  });
});

test('types of a schema may be Google’s numbers', () => {
  const parameters = {
    type: 6,
    properties: { a: { type: 1 }, b: { type: 5, items: { type: 0 } } },
  };
  const body = { tools: { functionDeclarations: { name: 'f', parameters } } };
  expect(sent(body)['tools'][0].function.parameters).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'array', items: {} } },
  });
  const wrong = { tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 8 } }] }] };
  expect(refusalOf(wrong).message).toContain('parameters.type');
});

test('a stream: pieces of text as they come, calls whole in the last event, and usage there', () => {
  expect(streamed(streamOf(['Hel', 'lo “海”']))).toMatchObject([
    { candidates: [{ content: { parts: [{ text: 'Hel' }] }, index: 0 }], modelVersion: 'public' },
    { candidates: [{ content: { parts: [{ text: 'lo “海”' }] } }], responseId: 'answer' },
    {
      candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 19, candidatesTokenCount: 10, totalTokenCount: 29 },
    },
  ]);
  const call = (args: string, more: object = {}) =>
    chunk({ tool_calls: [{ index: 0, ...more, function: { ...more, arguments: args } }] });
  const events = streamed(
    `${call('{"a":', { id: 'c', name: 'f' })}${call('"海"}')}${chunk({}, 'tool_calls')}data: [DONE]\n\n`,
  );
  expect(events).toHaveLength(1);
  expect(events[0].candidates[0].content.parts).toMatchObject([
    { functionCall: { id: 'c', name: 'f', args: { a: '海' } } },
  ]);
});

test('an enumeration is asked for as a schema, and answered as bare text', () => {
  const generationConfig = {
    responseMimeType: 'text/x.enum',
    responseSchema: { type: 'STRING', enum: ['a', 'b'] },
  };
  expect(sent({ generationConfig }).response_format.json_schema.schema).toEqual({
    type: 'string',
    enum: ['a', 'b'],
  });
  expect(answered(completion('"a"'), { generationConfig }).candidates[0].content.parts).toEqual([
    { text: 'a' },
  ]);
  expect(
    streamed(streamOf(['"', 'a', '"']), { generationConfig }).map(
      ({ candidates }) => candidates[0].content.parts,
    ),
  ).toEqual([[{ text: 'a' }]]);
});

test('what a vendor signs comes back to it as it was', () => {
  const details = [
    {
      type: 'reasoning.text',
      text: 'Hm.',
      signature: 's',
      format: 'anthropic-claude-v1',
      index: 0,
    },
  ];
  const message = {
    role: 'assistant',
    content: null,
    reasoning_details: details,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  };
  const reply = completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  const { content } = answered(reply).candidates[0];
  const signature = content.parts[0].thoughtSignature;
  expect(openSignature(signature)).toEqual(details);
  // Google's Python package writes the same bytes with other letters.
  for (const same of [signature, signature.replaceAll('+', '-').replaceAll('/', '_')]) {
    const parts = [{ ...content.parts[0], thoughtSignature: same }];
    const back = adapter.translate?.(callFor({ contents: [...hello, { role: 'model', parts }] }))
      .translated?.body['messages'];
    expect(back).toMatchObject([{}, { reasoning_details: details, tool_calls: [{ id: 'c' }] }]);
  }
});

test('citations are sources whose offsets count bytes', () => {
  const annotations = [
    {
      type: 'url_citation',
      url_citation: { start_index: 1, end_index: 3, url: 'https://a.example', title: 'A' },
    },
  ];
  const message = { role: 'assistant', content: '海 b', annotations };
  const reply = completion('', { choices: [{ index: 0, message, finish_reason: 'stop' }] });
  expect(answered(reply).candidates[0].groundingMetadata).toEqual({
    groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
    groundingSupports: [
      { segment: { startIndex: 3, endIndex: 5, text: ' b' }, groundingChunkIndices: [0] },
    ],
  });
});

test.each([
  ['gemini', 'gemini-3-flash', '/models/gemini-3-flash:countTokens', '{"totalTokens":7}'],
  ['vertex', 'gemini-3-flash', '/models/gemini-3-flash:countTokens', '{"totalTokens":7}'],
  [
    'vertex',
    'claude-haiku-4-5',
    '/publishers/anthropic/models/count-tokens:rawPredict',
    '{"input_tokens":7}',
  ],
])('%s counts the tokens of %s in its publisher’s format', (vendor, upstreamModel, path, reply) => {
  const counter = vendors.get(vendor)?.counts?.generate_content;
  const call = callFor(
    { system_instruction: { parts: [{ text: 'Be brief.' }] } },
    { upstreamModel },
  );
  const request = counter?.ask(call);
  expect(request?.path).toBe(path);
  const text = request?.body.toString('utf8') ?? '';
  expect(text).toContain('Hello');
  expect(text).toContain('Be brief.');
  expect(text).not.toContain('max_tokens');
  const read = counter?.read(Buffer.from(reply), 'application/json', call);
  expect(read && 'body' in read && read.body.toString('utf8')).toBe('{"totalTokens":7}');
});
