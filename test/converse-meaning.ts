/**
 * What Bedrock's Converse says, read without any code of the gateway: a second opinion for the
 * tests.
 */
import type { Meaning } from './chat-meaning.ts';
import { type Dict, dict, list, number, string } from './support/loose-json.ts';

/** The messages of a binary stream: the name in the headers, and the payload. */
function* messagesIn(bytes: Buffer): Generator<{ name: string; event: Dict }> {
  for (let at = 0; at + 16 <= bytes.length; at += bytes.readUInt32BE(at)) {
    const payload = at + 12 + bytes.readUInt32BE(at + 4);
    const name =
      /:(?:event|exception)-type\u0007[\s\S]{2}(\w+)/.exec(
        bytes.toString('latin1', at + 12, payload),
      )?.[1] ?? '';
    yield {
      name,
      event: dict(JSON.parse(bytes.toString('utf8', payload, at + bytes.readUInt32BE(at) - 4))),
    };
  }
}

function streamed(bytes: Buffer): Dict {
  const blocks: Dict[] = [];
  let whole: Dict = {};
  for (const { name, event } of messagesIn(bytes)) {
    const block = (blocks[number(event['contentBlockIndex'])] ??= {});
    const delta = dict(event['delta']);
    if (name.endsWith('Exception')) return { message: event['message'] };
    if (name === 'contentBlockStart') Object.assign(block, dict(event['start']), { json: '' });
    else if (name === 'contentBlockDelta') {
      if (typeof delta['text'] === 'string') block['text'] = string(block['text']) + delta['text'];
      block['json'] = string(block['json']) + string(dict(delta['toolUse'])['input']);
      const thought = string(dict(delta['reasoningContent'])['text']);
      if (thought)
        block['reasoningContent'] = { reasoningText: { text: reasoningOf(block) + thought } };
    } else if (name === 'messageStop') whole = { ...whole, stopReason: event['stopReason'] };
    else if (name === 'metadata') whole = { ...whole, usage: event['usage'] };
  }
  const content = blocks.map((block) => {
    const input = string(block['json']) === '' ? {} : JSON.parse(string(block['json']));
    return block['toolUse'] ? { toolUse: { ...dict(block['toolUse']), input } } : block;
  });
  return { ...whole, output: { message: { content } } };
}

const reasoningOf = (block: unknown): string =>
  string(dict(dict(dict(block)['reasoningContent'])['reasoningText'])['text']);

const finishes: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/**
 * A whole answer or a binary stream. Calls carry their arguments as compact JSON; tools that the
 * vendor runs itself are nobody's.
 */
export function converseMeaning(reply: Buffer): Meaning {
  const body = reply[0] === 0x7b ? dict(JSON.parse(reply.toString('utf8'))) : streamed(reply);
  const blocks = list(dict(dict(body['output'])['message'])['content']).map(dict);
  const calls = blocks
    .map((block) => dict(block['toolUse']))
    .filter((call) => typeof call['name'] === 'string' && call['type'] !== 'server_tool_use')
    .map((call) => ({ name: string(call['name']), args: JSON.stringify(call['input'] ?? {}) }));
  const cited = (block: Dict): string =>
    list(dict(block['citationsContent'])['content'])
      .map((part) => string(dict(part)['text']))
      .join('');
  const usage = dict(body['usage']);
  const cached = number(usage['cacheReadInputTokens']);
  const prompt = number(usage['inputTokens']) + number(usage['cacheWriteInputTokens']) + cached;
  const completion = number(usage['outputTokens']);
  const told = string(body['stopReason']);
  return {
    text: blocks.map((block) => string(block['text']) + cited(block)).join(''),
    reasoning: blocks.map(reasoningOf).join(''),
    calls,
    finish:
      told === '' ? undefined : (finishes[told] ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    usage:
      body['usage'] === undefined
        ? undefined
        : { prompt, completion, total: prompt + completion, cached, reasoning: 0 },
    error: body['output'] === undefined ? body['message'] : undefined,
    choices: 1,
  };
}

const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const fileTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  csv: 'text/csv',
  md: 'text/markdown',
  html: 'text/html',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

/**
 * A native request as the chat request that means the same, or undefined where chat has no words
 * for it.
 */
export function chatRequest(native: Dict): Dict | undefined {
  const messages: Dict[] = [];
  const system = withCache(list(native['system']).map(dict), (block) =>
    typeof block['text'] === 'string' ? { type: 'text', text: block['text'] } : undefined,
  );
  if (system === undefined || native['guardrailConfig'] !== undefined) return undefined;
  if (system.length > 0) messages.push({ role: 'system', content: system });
  for (const turn of list(native['messages']).map(dict))
    if (!pushTurn(turn, messages)) return undefined;
  const config = dict(native['toolConfig']);
  const tools = withCache(list(config['tools']).map(dict), (tool) =>
    tool['toolSpec'] ? toolOf(dict(tool['toolSpec'])) : undefined,
  );
  if (tools === undefined) return undefined;
  const { maxTokens, temperature, topP, stopSequences } = dict(native['inferenceConfig']);
  const fields = dict(native['additionalModelRequestFields']);
  const schema = dict(
    dict(dict(dict(native['outputConfig'])['textFormat'])['structure'])['jsonSchema'],
  );
  const format = {
    type: 'json_schema',
    json_schema: { name: schema['name'], schema: JSON.parse(string(schema['schema']) || '{}') },
  };
  return {
    messages,
    ...(tools.length > 0 ? { tools, ...choiceOf(dict(config['toolChoice'])) } : {}),
    ...(schema['schema'] === undefined ? {} : { response_format: format }),
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    stop: stopSequences,
    thinking:
      fields['thinking'] ??
      (typeof fields['reasoning_config'] === 'object' ? fields['reasoning_config'] : undefined),
  };
}

const toolOf = ({ name, description, inputSchema, strict }: Dict): Dict => ({
  type: 'function',
  function: { name, description, parameters: dict(inputSchema)['json'], strict },
});

function choiceOf(choice: Dict): Dict {
  if (choice['any']) return { tool_choice: 'required' };
  if (choice['auto']) return { tool_choice: 'auto' };
  return choice['tool']
    ? { tool_choice: { type: 'function', function: { name: dict(choice['tool'])['name'] } } }
    : {};
}

/** Blocks in chat's words; a cache point is a mark on what stands before it. */
function withCache(
  blocks: readonly Dict[],
  say: (block: Dict) => Dict | undefined,
): Dict[] | undefined {
  const said: Dict[] = [];
  for (const block of blocks) {
    const last = said.at(-1);
    if (block['cachePoint']) {
      if (!last) return undefined;
      last['cache_control'] = { type: 'ephemeral', ttl: dict(block['cachePoint'])['ttl'] };
      continue;
    }
    const one = say(block);
    if (!one) return undefined;
    said.push(one);
  }
  return said;
}

function pushTurn(turn: Dict, messages: Dict[]): boolean {
  const blocks = list(turn['content']).map(dict);
  const said = withCache(blocks, sayBlock);
  if (!said || turn['role'] === 'system') return false;
  const of = (type: string): Dict[] =>
    said.filter((one) => one['type'] === type).map(({ type: _, ...rest }) => rest);
  for (const result of of('result')) messages.push({ role: 'tool', ...result });
  const content = said.filter(({ type }) => ['text', 'image_url', 'file'].includes(string(type)));
  const calls = of('call').map((call) => ({ ...call, type: 'function' }));
  const thoughts = of('thought').map(({ block }) => block);
  const more = {
    ...(calls.length ? { tool_calls: calls } : {}),
    ...(thoughts.length ? { thinking_blocks: thoughts } : {}),
  };
  if (content.length + calls.length > 0) messages.push({ role: turn['role'], content, ...more });
  return true;
}

function sayBlock(block: Dict): Dict | undefined {
  if (typeof block['text'] === 'string') return { type: 'text', text: block['text'] };
  const image = dict(block['image']);
  const document = dict(block['document']);
  const bytes = string(dict(dict(image['format'] ? image : document)['source'])['bytes']);
  if (image['format'] && bytes)
    return {
      type: 'image_url',
      image_url: { url: `data:${imageTypes[string(image['format'])]};base64,${bytes}` },
    };
  const type = fileTypes[string(document['format'])];
  if (type && bytes && document['citations'] === undefined)
    return {
      type: 'file',
      file: { filename: document['name'], file_data: `data:${type};base64,${bytes}` },
    };
  const { toolUseId, name, input } = dict(block['toolUse']);
  if (toolUseId && dict(block['toolUse'])['type'] === undefined)
    return { type: 'call', id: toolUseId, function: { name, arguments: JSON.stringify(input) } };
  const thought = dict(dict(block['reasoningContent'])['reasoningText']);
  if (thought['signature'])
    return {
      type: 'thought',
      block: { type: 'thinking', thinking: thought['text'], signature: thought['signature'] },
    };
  return block['toolResult'] ? sayResult(dict(block['toolResult'])) : undefined;
}

function sayResult(result: Dict): Dict | undefined {
  if (result['type'] !== undefined) return undefined;
  const content = withCache(list(result['content']).map(dict), (part) =>
    part['json'] === undefined
      ? sayBlock(part)
      : { type: 'text', text: JSON.stringify(part['json']) },
  );
  return (
    content && {
      type: 'result',
      tool_call_id: result['toolUseId'],
      content,
      is_error: result['status'] === 'error',
    }
  );
}

/**
 * What a native request tells the model and how: everything but where one text ends and the next
 * begins, and what documents are called.
 */
export function converseSaid(native: Dict): unknown {
  const turns: { role: unknown; said: unknown[] }[] = [];
  for (const turn of list(native['messages']).map(dict)) {
    let last = turns.at(-1);
    if (!last || last.role !== turn['role']) turns.push((last = { role: turn['role'], said: [] }));
    last.said.push(
      ...list(turn['content'])
        .map(dict)
        .filter((block) => !(typeof block['text'] === 'string' && block['text'].trim() === ''))
        .map(saidBlock),
    );
  }
  const end = turns.at(-1);
  if (end?.role === 'assistant')
    end.said = end.said.map((said) => (typeof said === 'string' ? said.trimEnd() : said));
  const config = dict(native['toolConfig']);
  const { maxTokens, stopSequences } = dict(native['inferenceConfig']);
  return {
    turns: turns.map(({ role, said }) => ({ role, said: joinedTexts(said) })),
    system: list(native['system']),
    tools: list(config['tools'])
      .map(dict)
      .map(
        ({ toolSpec, cachePoint }) =>
          cachePoint ?? { ...dict(toolSpec), strict: undefined, inputSchema: undefined },
      ),
    choice: config['toolChoice'],
    limit: maxTokens,
    stop: list(stopSequences),
    schema: Object.keys(dict(dict(native['outputConfig'])['textFormat'])),
  };
}

function saidBlock(block: Dict): unknown {
  if (typeof block['text'] === 'string') return block['text'];
  if (block['json'] !== undefined) return JSON.stringify(block['json']);
  if (block['document']) return { ...dict(block['document']), name: undefined };
  if (!block['toolResult']) return block;
  const { toolUseId, content, status } = dict(block['toolResult']);
  return {
    toolUseId,
    parts: joinedTexts(list(content).map(dict).map(saidBlock)),
    error: status === 'error' || undefined,
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
