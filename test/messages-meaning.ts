/**
 * What Anthropic's own format says, read without any code of the gateway: a second opinion for the
 * tests.
 */
import type { Meaning } from './chat-meaning.ts';
import { type Dict, dict, list, number, parsed, string } from './support/loose-json.ts';

const finishes: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/**
 * A stream of events put together into the message that it tells; undefined while it has no end.
 */
function streamed(text: string): Dict {
  let message: Dict = {};
  const blocks: Dict[] = [];
  for (const event of text.replace(/\r\n/g, '\n').split('\n\n')) {
    const lines = event.split('\n').filter((line) => line.startsWith('data:'));
    const told = dict(parsed(lines.map((line) => line.slice(5)).join('\n')));
    const index = number(told['index']);
    const delta = dict(told['delta']);
    if (told['type'] === 'error') return told;
    if (told['type'] === 'message_start') message = { ...dict(told['message']) };
    else if (told['type'] === 'content_block_start')
      blocks[index] = { ...dict(told['content_block']), json: '' };
    else if (told['type'] === 'content_block_delta') {
      const block = (blocks[index] ??= {});
      for (const name of ['text', 'thinking'])
        if (typeof delta[name] === 'string') block[name] = string(block[name]) + delta[name];
      block['json'] = string(block['json']) + string(delta['partial_json']);
    } else if (told['type'] === 'message_delta') {
      const usage = Object.fromEntries(
        Object.entries(dict(told['usage'])).filter(([, value]) => value !== null),
      );
      message = {
        ...message,
        ...delta,
        usage: { ...dict(message['usage']), ...usage },
        ended: true,
      };
    }
  }
  return {
    ...message,
    content: blocks.map((block) =>
      block['json'] ? { ...block, input: parsed(string(block['json'])) } : block,
    ),
  };
}

/** A whole answer or a stream. Calls carry their arguments as compact JSON. */
export function messagesMeaning(text: string): Meaning {
  const isStream = /^\s*(event|data|:)/.test(text);
  const message = isStream ? streamed(text) : { ...dict(parsed(text)), ended: true };
  const blocks = list(message['content']).map(dict);
  const words = (type: string): string =>
    blocks.map((block) => (block['type'] === type ? string(block[type]) : '')).join('');
  const calls = blocks
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => ({ name: string(block['name']), args: JSON.stringify(block['input'] ?? {}) }));
  const reason = finishes[string(message['stop_reason'])] ?? 'stop';
  return {
    text: words('text'),
    reasoning: words('thinking'),
    calls,
    finish: message['ended']
      ? reason === 'stop' && calls.length > 0
        ? 'tool_calls'
        : reason
      : undefined,
    usage: usageOf(dict(message['usage'])),
    error: message['error'],
    choices: 1,
  };
}

function usageOf(usage: Dict): Meaning['usage'] {
  const cached = number(usage['cache_read_input_tokens']);
  const prompt =
    number(usage['input_tokens']) + number(usage['cache_creation_input_tokens']) + cached;
  const completion = number(usage['output_tokens']);
  const reasoning = number(dict(usage['output_tokens_details'])['thinking_tokens']);
  return { prompt, completion, total: prompt + completion, cached, reasoning };
}

/**
 * The meaning in chat's words: what advisors said is outside of a message's own count, and is
 * counted there, too.
 */
export function advisedMeaning(recorded: string): Meaning {
  const meaning = messagesMeaning(recorded);
  const advice = [
    ...recorded.matchAll(/\{[^{}]*(?:\{[^{}]*\}[^{}]*)?"type":\s*"advisor_message"[^{}]*\}/g),
  ];
  if (meaning.usage === undefined || advice.length === 0) return meaning;
  const sum = (member: string): number =>
    advice.reduce(
      (all, [one]) => all + Number(new RegExp(`"${member}":\\s*(\\d+)`).exec(one)?.[1] ?? 0),
      0,
    );
  const prompt = meaning.usage.prompt + sum('input_tokens');
  const completion = meaning.usage.completion + sum('output_tokens');
  return {
    ...meaning,
    usage: { ...meaning.usage, prompt, completion, total: prompt + completion },
  };
}

/** Blocks without the members that are null, which say nothing. */
const blocksOf = (content: unknown): Dict[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : list(content).map((block) => withoutNulls(dict(block)));
const withoutNulls = (of: Dict): Dict =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== null));

/**
 * A native request as the chat request that means the same, or undefined where chat has no words
 * for it.
 */
export function chatRequest(native: Dict): Dict | undefined {
  const messages: Dict[] = [];
  const system = blocksOf(native['system'] || []).map(({ text, cache_control }) => ({
    type: 'text',
    text,
    cache_control,
  }));
  if (system.length > 0) messages.push({ role: 'system', content: system });
  for (const turn of list(native['messages']).map(dict))
    if (!pushTurn(turn, messages)) return undefined;
  const tools = list(native['tools']).map(dict);
  if (tools.some((tool) => tool['input_schema'] === undefined)) return undefined;
  const format = dict(dict(native['output_config'])['format'] ?? native['output_format']);
  return {
    messages,
    ...(tools.length > 0
      ? { tools: tools.map(toolOf), ...choiceOf(dict(native['tool_choice'])) }
      : {}),
    ...(format['schema'] === undefined
      ? {}
      : {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'answer', schema: format['schema'] },
          },
        }),
    temperature: native['temperature'],
    top_p: native['top_p'],
    max_tokens: native['max_tokens'],
    stop: native['stop_sequences'],
    thinking: native['thinking'],
    cache_control: native['cache_control'],
    stream: native['stream'],
  };
}

const toolOf = ({
  name,
  description,
  input_schema: parameters,
  strict,
  cache_control,
}: Dict): Dict => ({
  type: 'function',
  function: { name, description, parameters, strict },
  cache_control,
});

function choiceOf(choice: Dict): Dict {
  const words: Readonly<Record<string, unknown>> = {
    any: 'required',
    auto: 'auto',
    none: 'none',
    tool: { type: 'function', function: { name: choice['name'] } },
  };
  const single = choice['disable_parallel_tool_use'] === true ? { parallel_tool_calls: false } : {};
  return {
    ...(choice['type'] === undefined ? {} : { tool_choice: words[string(choice['type'])] }),
    ...single,
  };
}

function pushTurn(turn: Dict, messages: Dict[]): boolean {
  const content: Dict[] = [];
  const calls: Dict[] = [];
  const thoughts: Dict[] = [];
  for (const block of blocksOf(turn['content'])) {
    const { type, cache_control } = block;
    const source = dict(block['source']);
    const url =
      source['type'] === 'base64'
        ? `data:${string(source['media_type'])};base64,${string(source['data'])}`
        : source['url'];
    if (type === 'text' && block['citations'] === undefined)
      content.push({ type, text: block['text'], cache_control });
    else if (type === 'image' && url)
      content.push({ type: 'image_url', image_url: { url }, cache_control });
    else if (type === 'document' && url && block['citations'] === undefined)
      content.push({
        type: 'file',
        file: { file_data: url, filename: block['title'] },
        cache_control,
      });
    else if (type === 'thinking' || type === 'redacted_thinking') thoughts.push(block);
    else if (type === 'tool_use') {
      const args = JSON.stringify(block['input']);
      calls.push({
        id: block['id'],
        type: 'function',
        function: { name: block['name'], arguments: args },
        cache_control,
      });
    } else if (type === 'tool_result') {
      const parts: Dict[] = [];
      if (!pushTurn({ role: 'user', content: block['content'] ?? '' }, parts)) return false;
      const result = parts[0]?.['content'] ?? '';
      messages.push({
        role: 'tool',
        tool_call_id: block['tool_use_id'],
        content: result,
        is_error: block['is_error'],
        cache_control,
      });
    } else return false;
  }
  if (turn['role'] === 'system') return false;
  const more = {
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(thoughts.length > 0 ? { thinking_blocks: thoughts } : {}),
  };
  if (content.length + calls.length > 0) messages.push({ role: turn['role'], content, ...more });
  return true;
}

/**
 * What a native request tells the model and how: everything but where one text ends and the next
 * begins.
 */
export function messagesSaid(native: Dict): unknown {
  const turns: { role: unknown; said: unknown[] }[] = [];
  for (const turn of list(native['messages']).map(dict)) {
    let last = turns.at(-1);
    if (!last || last.role !== turn['role']) turns.push((last = { role: turn['role'], said: [] }));
    const { said } = last;
    for (const block of blocksOf(turn['content'])) {
      if (block['type'] === 'text' && string(block['text']).trim() === '') continue;
      said.push(saidBlock(block));
    }
  }
  const end = turns.at(-1);
  if (end?.role === 'assistant')
    end.said = end.said.map((said) => (typeof said === 'string' ? said.trimEnd() : said));
  const choice = dict(native['tool_choice']);
  return {
    turns: turns.map(({ role, said }) => ({ role, said: joinedTexts(said) })),
    system: blocksOf(native['system'] || []).map(({ text, cache_control }) => [
      text,
      cache_control,
    ]),
    tools: list(native['tools'])
      .map(dict)
      .map(({ name, description, cache_control }) => [
        name,
        description || undefined,
        cache_control,
      ]),
    choice: {
      ...choice,
      disable_parallel_tool_use: choice['disable_parallel_tool_use'] || undefined,
    },
    limit: native['max_tokens'],
    stop: native['stop_sequences'],
    cache: native['cache_control'],
  };
}

function saidBlock(block: Dict): unknown {
  const { type, cache_control } = block;
  if (type === 'text')
    return cache_control === undefined ? block['text'] : { text: block['text'], cache_control };
  if (type === 'tool_use')
    return { call: block['name'], id: block['id'], input: block['input'], cache_control };
  if (type === 'thinking') return { thinking: block['thinking'], signature: block['signature'] };
  if (type !== 'tool_result')
    return { type, source: block['source'], data: block['data'], cache_control };
  const parts = blocksOf(block['content'] ?? '').map(saidBlock);
  return {
    result: block['tool_use_id'],
    parts: joinedTexts(parts),
    error: block['is_error'] || undefined,
    cache_control,
  };
}

function joinedTexts(said: readonly unknown[]): unknown[] {
  const all: unknown[] = [];
  for (const one of said) {
    const last = all.at(-1);
    if (typeof one === 'string' && typeof last === 'string') all[all.length - 1] = last + one;
    else if (one !== '') all.push(one);
  }
  return all;
}
