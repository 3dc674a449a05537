/**
 * What Cohere's own chat says, read without any code of the gateway: a second opinion for the
 * tests.
 */
import type { Meaning } from './chat-meaning.ts';
import { type Dict, dict, list, number, parsed, string } from './support/loose-json.ts';

interface Told {
  text: string;
  thinking: string;
  plan: string;
  readonly calls: { name: string; args: string }[];
  end: Dict;
}

function streamed(text: string): Told {
  const told: Told = { text: '', thinking: '', plan: '', calls: [], end: {} };
  for (const line of text.split(/\r?\n/)) {
    const event = dict(line.startsWith('data:') ? parsed(line.slice(5)) : undefined);
    const delta = dict(event['delta']);
    const message = dict(delta['message']);
    const content = dict(message['content']);
    const fn = dict(dict(message['tool_calls'])['function']);
    told.text += string(content['text']);
    told.thinking += string(content['thinking']);
    if (event['type'] === 'tool-plan-delta') told.plan += string(message['tool_plan']);
    if (event['type'] === 'tool-call-start')
      told.calls.push({ name: string(fn['name']), args: string(fn['arguments']) });
    const open = told.calls.at(-1);
    if (event['type'] === 'tool-call-delta' && open) open.args += string(fn['arguments']);
    if (event['type'] === 'message-end') told.end = delta;
  }
  return told;
}

function whole(body: Dict): Told {
  const message = dict(body['message']);
  const parts = list(message['content']).map(dict);
  const words = (type: string): string => parts.map((part) => string(part[type])).join('');
  const calls = list(message['tool_calls']).map((call) => {
    const fn = dict(dict(call)['function']);
    return { name: string(fn['name']), args: string(fn['arguments']) };
  });
  return {
    text: words('text'),
    thinking: words('thinking'),
    plan: string(message['tool_plan']),
    calls,
    end: body,
  };
}

/** A whole answer or a stream. A plan is reasoning. */
export function cohereMeaning(text: string): Meaning {
  const {
    text: said,
    thinking,
    plan,
    calls,
    end,
  } = /^\s*(event|data):/.test(text) ? streamed(text) : whole(dict(parsed(text)));
  const usage = dict(end['usage']);
  const tokens = dict(usage['tokens']);
  const prompt = number(tokens['input_tokens']);
  const completion = number(tokens['output_tokens']);
  const words: Readonly<Record<string, string>> = {
    COMPLETE: 'stop',
    STOP_SEQUENCE: 'stop',
    MAX_TOKENS: 'length',
    TOOL_CALL: 'tool_calls',
  };
  const reasoning = number(tokens['reasoning_tokens']);
  return {
    text: said,
    reasoning: thinking + plan,
    calls: calls.map(({ name, args }) => ({ name, args: args || '{}' })),
    finish: words[string(end['finish_reason'])],
    usage:
      end['usage'] === undefined
        ? undefined
        : {
            prompt,
            completion,
            total: prompt + completion,
            cached: number(usage['cached_tokens']),
            reasoning,
          },
    error: end['finish_reason'] === undefined ? (end['message'] ?? 'no end') : undefined,
    choices: 1,
  };
}

/**
 * A native request as the chat request that means the same, or undefined where chat has no words
 * for it.
 */
export function chatRequest(native: Dict): Dict | undefined {
  const messages: Dict[] = [];
  for (const message of list(native['messages']).map(dict)) {
    const { role, content, tool_calls, tool_call_id, tool_plan } = message;
    if (list(content).some((part) => dict(part)['type'] === 'document')) return undefined;
    const calls = list(tool_calls);
    messages.push({
      role,
      content,
      tool_call_id,
      ...(calls.length ? { tool_calls, reasoning_content: tool_plan } : {}),
    });
  }
  const {
    max_tokens,
    temperature,
    p,
    seed,
    stop_sequences: stop,
    tools,
    documents,
    strict_tools,
  } = native;
  const format = dict(native['response_format']);
  const schema = {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: format['json_schema'] },
  };
  return {
    messages,
    ...(format['type'] === 'json_object'
      ? { response_format: format['json_schema'] ? schema : { type: 'json_object' } }
      : {}),
    ...(native['tool_choice'] === undefined
      ? {}
      : { tool_choice: string(native['tool_choice']).toLowerCase() }),
    ...{ max_tokens, temperature, top_p: p, seed, stop, tools, documents, strict_tools },
  };
}

/**
 * What a native request tells the model and how: everything but where one text ends and the next
 * begins.
 */
export function cohereSaid(native: Dict): unknown {
  const { messages, stream, ...rest } = native;
  const said: Dict[] = [];
  for (const message of list(messages).map(dict)) {
    const text =
      typeof message['content'] === 'string'
        ? message['content']
        : list(message['content'])
            .map((part) => string(dict(part)['text']))
            .join('');
    const last = said.at(-1);
    const calls = list(message['tool_calls']);
    const one = {
      role: message['role'],
      text,
      id: message['tool_call_id'],
      plan: message['tool_plan'] ?? undefined,
      calls,
    };
    if (last && last['role'] === one.role && one.role !== 'tool')
      last['text'] = string(last['text']) + text;
    else said.push(one);
  }
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
    said: said.filter(({ text, calls }) => text !== '' || list(calls).length > 0),
    stream: stream === true,
  };
}
