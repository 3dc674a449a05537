import { describe, expect, test } from 'vitest';
import { eventFrame } from '../../../test/support/event-stream.ts';
import { adapterOf, ask, callOf, weather, type Body } from '../../../test/support/asks.ts';
import { bufferOf, isObject, listOf, objectsOf, textOf } from '../../base/json.ts';
import { isFault } from '../formats/fault.ts';

// Claude thinks between the calls of one answer. Its thinking comes back where it stood, whichever
// format the client has: "`thinking` or `redacted_thinking` blocks in the latest assistant message
// cannot be modified" (UKGovernmentBEIS/inspect_ai#4922, 2026-08).

const thinking = (name: string) => ({
  type: 'thinking' as const,
  thinking: `${name}?`,
  signature: `sig${name}`,
});
const call = (id: string) => ({
  type: 'tool_use' as const,
  id,
  name: 'weather',
  input: { city: id },
});
const said = (text: string) => ({ type: 'text' as const, text });
type Block = ReturnType<typeof thinking> | ReturnType<typeof call> | ReturnType<typeof said>;

const answers: readonly (readonly [string, readonly Block[]])[] = [
  ['between calls', [thinking('A'), call('a'), thinking('B'), call('b')]],
  ['after words and calls', [thinking('A'), said('Ä.'), call('a'), thinking('B'), call('b')]],
  [
    'everywhere',
    [thinking('A'), call('a'), call('b'), thinking('B'), said('So.'), thinking('C'), call('c')],
  ],
];

/** How a vendor writes these blocks: as an answer, and as a stream. */
interface Claude {
  readonly vendor: string;
  readonly model: string;
  readonly whole: (blocks: readonly Block[]) => Buffer;
  readonly stream: (blocks: readonly Block[]) => Buffer;
  readonly streamType: string;
}

const usage = { input_tokens: 5, output_tokens: 9 };

function anthropicStream(blocks: readonly Block[]): Buffer {
  const events: Body[] = [{ type: 'message_start', message: { id: 'msg_x', usage } }];
  blocks.forEach((block, index) => {
    const delta = (value: object): void => {
      events.push({ type: 'content_block_delta', index, delta: value });
    };
    const empty =
      block.type === 'thinking'
        ? { ...block, thinking: '', signature: '' }
        : block.type === 'text'
          ? said('')
          : { ...block, input: {} };
    events.push({ type: 'content_block_start', index, content_block: empty });
    if (block.type === 'thinking') {
      for (const letter of block.thinking) delta({ type: 'thinking_delta', thinking: letter });
      delta({ type: 'signature_delta', signature: block.signature });
    } else if (block.type === 'text') delta({ type: 'text_delta', text: block.text });
    else delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) });
    events.push({ type: 'content_block_stop', index });
  });
  events.push({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage });
  events.push({ type: 'message_stop' });
  return Buffer.from(
    events.map((one) => `event: ${String(one['type'])}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
  );
}

const converseBlock = (block: Block): Body =>
  block.type === 'thinking'
    ? {
        reasoningContent: {
          reasoningText: { text: block.thinking, signature: block.signature },
        },
      }
    : block.type === 'text'
      ? { text: block.text }
      : { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };

function converseStream(blocks: readonly Block[]): Buffer {
  const frames = [eventFrame('messageStart', { role: 'assistant' })];
  blocks.forEach((block, contentBlockIndex) => {
    const delta = (value: object): void => {
      frames.push(eventFrame('contentBlockDelta', { contentBlockIndex, delta: value }));
    };
    if (block.type === 'tool_use') {
      const toolUse = { toolUseId: block.id, name: block.name };
      frames.push(eventFrame('contentBlockStart', { contentBlockIndex, start: { toolUse } }));
      delta({ toolUse: { input: JSON.stringify(block.input) } });
    } else if (block.type === 'text') delta({ text: block.text });
    else {
      for (const letter of block.thinking) delta({ reasoningContent: { text: letter } });
      delta({ reasoningContent: { signature: block.signature } });
    }
    frames.push(eventFrame('contentBlockStop', { contentBlockIndex }));
  });
  frames.push(eventFrame('messageStop', { stopReason: 'tool_use' }));
  frames.push(eventFrame('metadata', { usage: { inputTokens: 5, outputTokens: 9 } }));
  return Buffer.concat(frames);
}

const anthropic: Claude = {
  vendor: 'anthropic',
  model: 'claude-sonnet-4-5',
  whole: (content) =>
    Buffer.from(JSON.stringify({ id: 'msg_x', content, stop_reason: 'tool_use', usage })),
  stream: anthropicStream,
  streamType: 'text/event-stream',
};
const bedrock: Claude = {
  vendor: 'bedrock',
  model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  whole: (blocks) =>
    Buffer.from(
      JSON.stringify({
        output: { message: { role: 'assistant', content: blocks.map(converseBlock) } },
        stopReason: 'tool_use',
        usage: { inputTokens: 5, outputTokens: 9 },
      }),
    ),
  stream: converseStream,
  streamType: 'application/vnd.amazon.eventstream',
};

type Format = 'chat' | 'responses' | 'messages' | 'generate_content';
const question = { role: 'user', content: 'Hi' };
const idsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));

/** What the client got, as the turns that it sends back, with the results of its calls. */
function turnsOf(format: Format, answer: Body, ids: readonly string[]): unknown[] {
  if (format === 'responses')
    return [
      ...listOf(answer['output']),
      ...ids.map((call_id) => ({ type: 'function_call_output', call_id, output: 'sun' })),
    ];
  if (format === 'messages')
    return [
      { role: 'assistant', content: answer['content'] },
      {
        role: 'user',
        content: ids.map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'sun' })),
      },
    ];
  if (format === 'generate_content')
    return [
      ...objectsOf(answer['candidates']).map(({ content }) => content),
      {
        role: 'user',
        parts: ids.map((id) => ({
          functionResponse: { id, name: 'weather', response: { output: 'sun' } },
        })),
      },
    ];
  const [choice] = objectsOf(answer['choices']);
  return [
    choice?.['message'],
    ...ids.map((tool_call_id) => ({ role: 'tool', tool_call_id, content: 'sun' })),
  ];
}

const requestOf = (format: Format, turns: readonly unknown[]): Body =>
  format === 'generate_content'
    ? { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }, ...turns] }
    : format === 'responses'
      ? { input: [question, ...turns] }
      : {
          messages: [question, ...turns],
          ...(format === 'messages' ? { max_tokens: 9_000 } : { tools: [weather] }),
        };

const sent = (vendor: string, model: string, body: Body, format: Format): Body =>
  JSON.parse(ask(vendor, model, body, format).body.toString('utf8'));

/** The blocks of the assistant's only message, in the names of Anthropic's format. */
function blocksSent(body: Body): unknown[] {
  const messages = objectsOf(body['messages']).filter(({ role }) => role === 'assistant');
  expect(messages).toHaveLength(1);
  return objectsOf(messages[0]?.['content']).map((block) => {
    const { reasoningContent: thought, toolUse: used } = block;
    if (isObject(used))
      return { type: 'tool_use', id: used['toolUseId'], name: used['name'], input: used['input'] };
    const text = isObject(thought) ? thought['reasoningText'] : undefined;
    if (isObject(text))
      return { type: 'thinking', thinking: text['text'], signature: text['signature'] };
    return { type: 'text', ...block };
  });
}

/** The answer as the client of this format puts it together from a stream. */
function collected({ vendor, model, stream }: Claude, format: Format, blocks: readonly Block[]) {
  const asked = { ...callOf({}, model, format), stream: true, streamUpstream: true };
  const translator = adapterOf(vendor, format).stream(asked);
  const text = Buffer.from(translator.push(stream(blocks)) + translator.end(), 'latin1').toString();
  const events: Body[] = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
  if (format === 'responses') return events.at(-1)?.['response'] as Body;
  // Google's SDK keeps each chunk as a content of its own.
  if (format === 'generate_content')
    return { candidates: events.flatMap((event) => [...objectsOf(event['candidates'])]) };
  if (format === 'chat') {
    // A client that keeps every piece of the details, as it came.
    const message: Record<string, unknown> = { role: 'assistant', content: '' };
    const details: unknown[] = [];
    const calls: Record<string, unknown>[] = [];
    for (const event of events)
      for (const { delta } of objectsOf(event['choices'])) {
        if (!isObject(delta)) continue;
        message['content'] = (textOf(message['content']) ?? '') + (textOf(delta['content']) ?? '');
        details.push(...listOf(delta['reasoning_details']));
        for (const { index, function: fn, ...rest } of objectsOf(delta['tool_calls'])) {
          const at = Number(index);
          const made = (calls[at] ??= { ...rest, function: { arguments: '' } });
          const before = made['function'] as { name?: string; arguments: string };
          const piece = fn as { name?: string; arguments?: string };
          made['function'] = {
            name: before.name ?? piece.name,
            arguments: before.arguments + (piece.arguments ?? ''),
          };
        }
      }
    return {
      choices: [{ message: { ...message, reasoning_details: details, tool_calls: calls } }],
    };
  }
  const content: Record<string, unknown>[] = [];
  for (const event of events) {
    const at = Number(event['index']);
    if (event['type'] === 'content_block_start')
      content[at] = { ...(event['content_block'] as Body), json: '' };
    const block = content[at];
    const { type: _, ...delta } = isObject(event['delta']) ? event['delta'] : {};
    if (event['type'] !== 'content_block_delta' || block === undefined) continue;
    for (const [name, piece] of Object.entries(delta)) {
      const into = name === 'partial_json' ? 'json' : name;
      block[into] = (textOf(block[into]) ?? '') + (textOf(piece) ?? '');
    }
  }
  return {
    content: content.map(({ json, ...block }) =>
      block['type'] === 'tool_use' ? { ...block, input: JSON.parse(String(json)) } : block,
    ),
  };
}

const clients: readonly { readonly claude: Claude; readonly format: Format }[] = [
  { claude: anthropic, format: 'chat' },
  { claude: anthropic, format: 'responses' },
  { claude: bedrock, format: 'chat' },
  { claude: bedrock, format: 'responses' },
  { claude: bedrock, format: 'messages' },
  { claude: anthropic, format: 'generate_content' },
  { claude: bedrock, format: 'generate_content' },
];

describe.each(answers)('thinking %s', (_, blocks) => {
  const ids = idsOf(blocks);

  test.each(clients)('comes back in its place: $claude.vendor, $format', ({ claude, format }) => {
    const { vendor, model, whole } = claude;
    const asked = callOf({}, model, format);
    const read = adapterOf(vendor, format).read(whole(blocks), 'application/json', asked);
    if (isFault(read)) throw new Error(read.message);
    const got: Body = JSON.parse(bufferOf(read.body).toString('utf8'));
    for (const answer of [got, collected(claude, format, blocks)]) {
      const body = requestOf(format, turnsOf(format, answer, ids));
      expect(blocksSent(sent(vendor, model, body, format))).toEqual(blocks);
      // Any other vendor gets one message, whose calls stand before all of their results.
      const messages = objectsOf(sent('deepseek', 'deepseek-chat', body, format)['messages']);
      expect(messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        ...ids.map(() => 'tool'),
      ]);
      expect(objectsOf(messages[1]?.['tool_calls']).map(({ id }) => id)).toEqual(ids);
    }
  });

  test.each([anthropic, bedrock])(
    'comes back from the memory of Tollgate: $vendor',
    ({ vendor, model, whole, stream, streamType }) => {
      const chat = adapterOf(vendor, 'chat');
      for (const [reply, type] of [
        [whole(blocks), 'application/json'],
        [stream(blocks), streamType],
      ] as const) {
        const read = chat.read(reply, type, callOf({ tools: [weather] }, model));
        if (isFault(read)) throw new Error(read.message);
        const answer: Body = JSON.parse(bufferOf(read.body).toString('utf8'));
        const [message, ...results] = turnsOf('chat', answer, ids) as Body[];
        const { reasoning_details: __, reasoning_content: ___, ...plain } = message ?? {};
        const body = requestOf('chat', [plain, ...results]);
        const asked = { ...callOf(body, model), signatures: read.signatures ?? new Map() };
        expect(blocksSent(JSON.parse(bufferOf(chat.ask(asked).body).toString('utf8')))).toEqual(
          blocks,
        );
      }
    },
  );
});

test('details of older answers, without their places among calls, stand before the calls', () => {
  const details = ['A', 'B'].map((name, index) => ({
    type: 'reasoning.text',
    text: `${name}?`,
    signature: `sig${name}`,
    format: 'anthropic-claude-v1',
    index,
  }));
  const calls = ['a', 'b'].map((id) => ({
    id,
    type: 'function',
    function: { name: 'weather', arguments: JSON.stringify({ city: id }) },
  }));
  const message = { role: 'assistant', content: null, tool_calls: calls };
  const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'sun' }));
  const body = requestOf('chat', [{ ...message, reasoning_details: details }, ...results]);
  for (const { vendor, model } of [anthropic, bedrock])
    expect(blocksSent(sent(vendor, model, body, 'chat'))).toEqual([
      thinking('A'),
      thinking('B'),
      call('a'),
      call('b'),
    ]);
});

test('places that a client sends in another order repeat no letter', () => {
  const details = [7, 3].map((at, index) => ({
    type: 'reasoning.text',
    text: 'A?',
    signature: 'sigA',
    format: 'anthropic-claude-v1',
    index,
    at,
  }));
  const message = { role: 'assistant', content: 'ten letters', reasoning_details: details };
  const body = requestOf('chat', [message, { role: 'user', content: 'Go on' }]);
  for (const { vendor, model } of [anthropic, bedrock]) {
    const texts = JSON.stringify(blocksSent(sent(vendor, model, body, 'chat')));
    const said = [...texts.matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text).join('');
    expect(said).toBe('ten letters');
  }
});

test('reasoning that no vendor sealed does not divide a turn', () => {
  const reasoning = (text: string): Body => ({
    type: 'reasoning',
    summary: [{ type: 'summary_text', text }],
  });
  const called = (call_id: string): Body => ({
    type: 'function_call',
    call_id,
    name: 'weather',
    arguments: '{}',
  });
  const body = requestOf('responses', [
    reasoning('One. '),
    called('a'),
    reasoning('Two.'),
    called('b'),
    ...['a', 'b'].map((id) => ({ type: 'function_call_output', call_id: id, output: 'sun' })),
  ]);
  expect(sent('deepseek', 'deepseek-chat', body, 'responses')['messages']).toMatchObject([
    question,
    { role: 'assistant', reasoning_content: 'One. Two.', tool_calls: [{ id: 'a' }, { id: 'b' }] },
    { role: 'tool', tool_call_id: 'a' },
    { role: 'tool', tool_call_id: 'b' },
  ]);
});
