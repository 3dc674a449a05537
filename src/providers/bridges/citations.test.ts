import { expect, test } from 'vitest';
import type { Adapter, VendorCall } from '../adapter.ts';
import { isFault } from '../formats/fault.ts';
import { chatOverResponses } from '../formats/openai-responses/chat.ts';
import { completionsOverChat } from './completions-over-chat.ts';
import { messagesOverChat } from './messages-over-chat.ts';
import { responsesOverChat } from './responses-over-chat.ts';
import { adapterOf } from '../../../test/support/asks.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

type Value = Readonly<Record<string, unknown>>;
type Format = 'chat' | 'messages' | 'responses';

const url = 'https://example.com/sky';
const text = 'Über dem Meer 🌊 ist es blau [1].';
/** The cited text: the last three words. Code points count the wave as one character. */
const cited = 'ist es blau';
const start = [...text].join('').indexOf(cited) - 1;
const end = start + cited.length;

function callFor(format: Format, stream: boolean, upstreamModel = 'up'): VendorCall {
  const said = [{ role: 'user', content: 'Why?' }];
  const body: Value =
    format === 'responses'
      ? { model: 'm', input: said }
      : { model: 'm', max_tokens: 100, messages: said };
  const ids = { chat: 'chatcmpl-1', messages: 'msg_1', responses: 'resp_1' };
  return vendorCall(body, {
    publicModel: 'm',
    upstreamModel,
    stream,
    includeUsage: true,
    streamUpstream: stream,
    answerId: ids[format],
  });
}

/** The three formats over one chat adapter. */
const over = (chat: Adapter): Readonly<Record<Format, Adapter>> => ({
  chat,
  messages: messagesOverChat(chat),
  responses: responsesOverChat(chat),
});

function whole(adapter: Adapter, reply: unknown, call: VendorCall): Value {
  const answer = adapter.read(Buffer.from(JSON.stringify(reply)), 'application/json', call);
  if (isFault(answer)) throw new Error(answer.message);
  const body: Value = JSON.parse(answer.body.toString('utf8'));
  return body;
}

function events(adapter: Adapter, sse: string, call: VendorCall): Value[] {
  const translator = adapter.stream(call);
  const out = translator.push(Buffer.from(sse)) + translator.end();
  expect(translator.meter.fault).toBeUndefined();
  const lines = Buffer.from(out, 'latin1').toString('utf8').split('\n');
  return lines
    .filter((line) => line.startsWith('data: {'))
    .map((line): Value => JSON.parse(line.slice(6)));
}

const list = (value: unknown): Value[] => (Array.isArray(value) ? value : []);
const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inside, name) => (inside === undefined || inside === null ? undefined : Object(inside)[name]),
    value,
  );

/**
 * The citations of a whole answer in each client format, as `url start end title`, or `url title`
 * where the format has no offsets.
 */
function citedWhole(format: Format, body: Value): string[] {
  if (format === 'chat')
    return list(at(body, 'choices', 0, 'message', 'annotations')).map((one) =>
      pageOf(at(one, 'url_citation')),
    );
  if (format === 'responses')
    return list(at(body, 'output', 0, 'content', 0, 'annotations')).map(pageOf);
  return list(at(body, 'content', 0, 'citations')).map(placeOf);
}

function citedStreamed(format: Format, all: readonly Value[]): string[] {
  if (format === 'chat')
    return all.flatMap((chunk) =>
      list(at(chunk, 'choices', 0, 'delta', 'annotations')).map((one) =>
        pageOf(at(one, 'url_citation')),
      ),
    );
  if (format === 'messages')
    return all
      .filter((one) => at(one, 'delta', 'type') === 'citations_delta')
      .map((one) => placeOf(at(one, 'delta', 'citation')));
  const told = all
    .filter(({ type }) => type === 'response.output_text.annotation.added')
    .map((one) => pageOf(at(one, 'annotation')));
  // The response in the last event has everything that the events have.
  expect(citedWhole('responses', { ...Object(at(all.at(-1), 'response')) })).toEqual(told);
  return told;
}

const words = (value: unknown, ...names: readonly string[]): string =>
  names.map((name) => String(at(value, name))).join(' ');
const pageOf = (page: unknown): string => words(page, 'url', 'start_index', 'end_index', 'title');
const placeOf = (page: unknown): string => words(page, 'type', 'url', 'title');
const expected = (format: Format, from = start, to = end): string =>
  format === 'messages' ? `web_search_result_location ${url} Sky` : `${url} ${from} ${to} Sky`;

const sse = (...all: readonly Value[]): string =>
  all.map((one) => `event: ${String(one['type'])}\ndata: ${JSON.stringify(one)}\n\n`).join('');

const [before, after] = [
  text.slice(0, text.indexOf(cited)),
  text.slice(text.indexOf(cited) + cited.length),
];
const place = {
  type: 'web_search_result_location',
  url,
  title: 'Sky',
  cited_text: 'It is blue.',
  encrypted_index: 'E',
};
const claudes = {
  whole: {
    id: 'msg',
    content: [
      { type: 'text', text: before },
      { type: 'text', text: cited, citations: [place] },
      { type: 'text', text: after },
    ],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 2 },
  },
  streamed: sse(
    { type: 'message_start', message: { id: 'msg', usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: before } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'text', text: '', citations: [] },
    },
    { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: place } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: cited } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: after } },
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ),
};

const [startBytes, endBytes] = [Buffer.byteLength(before), Buffer.byteLength(before + cited)];
const grounding = {
  groundingChunks: [{ web: { uri: url, title: 'Sky' } }],
  groundingSupports: [
    {
      segment: { startIndex: startBytes, endIndex: endBytes, text: cited },
      groundingChunkIndices: [0],
    },
  ],
};
const candidate = (parts: readonly string[], more: object = {}): Value => ({
  candidates: [
    { content: { role: 'model', parts: parts.map((part) => ({ text: part })) }, ...more },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
});
const geminis = {
  whole: candidate([text], { finishReason: 'STOP', groundingMetadata: grounding }),
  streamed: [
    candidate([before + cited], {
      groundingMetadata: { groundingChunks: grounding.groundingChunks },
    }),
    candidate([after], { finishReason: 'STOP', groundingMetadata: grounding }),
  ]
    .map((one) => `data: ${JSON.stringify(one)}\n\n`)
    .join(''),
};

const annotation = {
  type: 'url_citation',
  url_citation: { start_index: start, end_index: end, url, title: 'Sky' },
};
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const chunk = (delta: Value, finish: string | null = null, more: Value = {}): Value => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const chats = {
  whole: {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, annotations: [annotation] },
        finish_reason: 'stop',
      },
    ],
    usage,
  },
  streamed: `${sse(
    chunk({ role: 'assistant', content: before + cited }),
    chunk({ content: after }),
    chunk({ annotations: [annotation] }),
    chunk({}, 'stop', { usage }),
  )}data: [DONE]\n\n`,
};

const item = {
  id: 'm1',
  type: 'message',
  role: 'assistant',
  content: [
    {
      type: 'output_text',
      text,
      annotations: [
        { type: 'url_citation', url, title: 'Sky', start_index: start, end_index: end },
      ],
    },
  ],
};
const responded = {
  id: 'r',
  status: 'completed',
  output: [item],
  usage: { input_tokens: 3, output_tokens: 2 },
};
const responses = {
  whole: responded,
  streamed: sse(
    { type: 'response.created', response: { id: 'r' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    {
      type: 'response.content_part.added',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '' },
    },
    {
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: before + cited,
    },
    {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      content_index: 0,
      annotation: item.content[0]?.annotations[0],
    },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: after },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: responded },
  ),
};

const chatOf = (id: string): Adapter => adapterOf(id, 'chat');

const sources: readonly (readonly [
  string,
  Adapter,
  string,
  { readonly whole: unknown; readonly streamed: string },
])[] = [
  ['Claude', chatOf('anthropic'), 'claude-sonnet-4-5', claudes],
  ['Gemini', chatOf('gemini'), 'gemini-3-flash-preview', geminis],
  ['OpenAI’s chat', chatOf('openai'), 'gpt-4o', chats],
  ['chat over Responses', chatOverResponses(), 'gpt-5.5', responses],
];
const formats = ['chat', 'messages', 'responses'] as const;

test.each(
  sources.flatMap(([name, chat, model, replies]) =>
    formats.map((format) => [name, format, chat, model, replies] as const),
  ),
)(
  'T10: what %s cites reaches a client of %s, whole and streamed',
  (_, format, chat, model, replies) => {
    const adapter = over(chat)[format];
    expect(
      citedWhole(format, whole(adapter, replies.whole, callFor(format, false, model))),
    ).toEqual([expected(format)]);
    expect(
      citedStreamed(format, events(adapter, replies.streamed, callFor(format, true, model))),
    ).toEqual([expected(format)]);
  },
);

const perplexitys = {
  search_results: [{ url, title: 'Sky', snippet: 'It is blue.' }],
  citations: [url],
};
test.each(['messages', 'responses'] as const)(
  'T10: the sources that Perplexity tells beside its choices reach a client of %s',
  (format) => {
    const adapter = over(chatOf('perplexity'))[format];
    const message = { role: 'assistant', content: text };
    const reply = {
      id: 'p',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
      ...perplexitys,
    };
    const mark = [...text].indexOf('[');
    expect(citedWhole(format, whole(adapter, reply, callFor(format, false)))).toEqual([
      expected(format, mark, mark + 3),
    ]);
    const streamed = sse(
      chunk({ role: 'assistant', content: before }, null, { usage, ...perplexitys }),
      chunk({ content: cited + after }, null, { usage, ...perplexitys }),
      chunk({ content: '' }, 'stop', { usage, ...perplexitys }),
    );
    expect(
      citedStreamed(format, events(adapter, `${streamed}data: [DONE]\n\n`, callFor(format, true))),
    ).toEqual([expected(format, mark, mark + 3)]);
  },
);

test('T10: a place in a document reaches each client in its own words', () => {
  const location = { documentChar: { documentIndex: 0, start: 0, end: 5 } };
  const citations = [{ title: 'facts', sourceContent: [{ text: 'Blue.' }], location }];
  const reply = {
    output: {
      message: {
        role: 'assistant',
        content: [{ citationsContent: { content: [{ text: 'Blue' }], citations } }],
      },
    },
    stopReason: 'end_turn',
    usage: { inputTokens: 3, outputTokens: 2 },
  };
  const adapters = over(chatOf('bedrock'));
  const told = (format: Format): Value =>
    whole(adapters[format], reply, callFor(format, false, 'anthropic.claude-sonnet-4-5'));
  expect(at(told('chat'), 'choices', 0, 'message', 'citations')).toMatchObject([
    { type: 'char_location', start: 0, end: 4 },
  ]);
  expect(at(told('messages'), 'content', 0, 'citations')).toEqual([
    {
      type: 'char_location',
      document_index: 0,
      document_title: 'facts',
      cited_text: 'Blue.',
      start_char_index: 0,
      end_char_index: 5,
    },
  ]);
  // Open Responses has only annotations with an address.
  expect(at(told('responses'), 'output', 0, 'content', 0, 'annotations')).toEqual([]);
});

test('T10: Claude is not sent back a citation that another vendor made', () => {
  const anthropic = adapterOf('anthropic', 'messages');
  const content = [{ type: 'text', text: 'Blue', citations: [{ ...place, encrypted_index: '' }] }];
  const body = {
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Why?' },
      { role: 'assistant', content },
      { role: 'user', content: 'Oh' },
    ],
  };
  const sent: Value = JSON.parse(
    String(
      anthropic.ask({
        ...callFor('messages', false, 'claude-sonnet-4-5'),
        body,
        bytes: Buffer.from(JSON.stringify(body)),
      }).body,
    ),
  );
  expect(at(sent, 'messages', 1, 'content')).toEqual([{ type: 'text', text: 'Blue' }]);
});

test('T10: completions have no room for sources, and their text stays as it is', () => {
  const adapter = completionsOverChat(chatOf('openai'));
  const body = { model: 'm', prompt: 'Why?' };
  const call = {
    ...callFor('chat', false, 'gpt-4o'),
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    answerId: 'cmpl-1',
  };
  expect(at(whole(adapter, chats.whole, call), 'choices', 0, 'text')).toBe(text);
});
