import { type Dict, dict, list, number, parsed, string } from './support/loose-json.ts';

/**
 * What an answer in the chat convention means, read without any code of the gateway: a second
 * opinion for the tests.
 */
export interface Meaning {
  text: string;
  reasoning: string;
  calls: { name: string; args: string }[];
  finish: string | undefined;
  /** Prompt and completion tokens, as told. */
  usage:
    | { prompt: number; completion: number; total: number; cached: number; reasoning: number }
    | undefined;
  error: unknown;
  choices: number;
}

const blank = (): Meaning => ({
  text: '',
  reasoning: '',
  calls: [],
  finish: undefined,
  usage: undefined,
  error: undefined,
  choices: 0,
});

function textOf(content: unknown): string {
  return typeof content === 'string'
    ? content
    : list(content)
        .map((part) => string(dict(part)['text']))
        .join('');
}

function reasoningOf(message: Dict): string {
  const parts = list(message['content']).flatMap((part) =>
    list(dict(part)['thinking']).map((piece) => string(dict(piece)['text'])),
  );
  const told =
    string(message['reasoning_content']) || string(message['reasoning']) || parts.join('');
  if (told) return told;
  return list(message['reasoning_details'])
    .map((detail) => string(dict(detail)['text']) || string(dict(detail)['summary']))
    .join('');
}

function usageOf(value: unknown): Meaning['usage'] {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = dict(value);
  const cached =
    dict(usage['prompt_tokens_details'])['cached_tokens'] ??
    usage['prompt_cache_hit_tokens'] ??
    usage['cached_tokens'];
  return {
    prompt: number(usage['prompt_tokens']),
    completion: number(usage['completion_tokens']),
    total: number(usage['total_tokens']),
    cached: number(cached),
    reasoning: number(dict(usage['completion_tokens_details'])['reasoning_tokens']),
  };
}

interface OpenCall {
  name: string;
  args: string;
  readonly index: number | undefined;
  readonly id: string;
}

function addCalls(open: OpenCall[], deltas: unknown): void {
  for (const entry of list(deltas)) {
    const call = dict(entry);
    const fn = dict(call['function']);
    const index = typeof call['index'] === 'number' ? call['index'] : undefined;
    const id = string(call['id']);
    const name = string(fn['name']);
    const args =
      typeof fn['arguments'] === 'string'
        ? fn['arguments']
        : fn['arguments']
          ? JSON.stringify(fn['arguments'])
          : '';
    const known = open.findLast((other) =>
      index === undefined ? other.id === id || !name : other.index === index,
    );
    if (known && !(name && id && known.id !== id)) known.args += args;
    else open.push({ name, args, index, id });
  }
}

/** A stream of server-sent events. Of several choices only the first is read. */
export function streamMeaning(text: string): Meaning {
  const meaning = blank();
  const open: OpenCall[] = [];
  for (const block of text.replace(/\r\n/g, '\n').split('\n\n')) {
    const lines = block.split('\n').filter((line) => line.startsWith('data:'));
    const chunk = dict(parsed(lines.map((line) => line.slice(5)).join('\n')));
    if (chunk['error']) meaning.error ??= chunk['error'];
    const choices = list(chunk['choices']).map(dict);
    const usage = chunk['usage'] ?? dict(chunk['x_groq'])['usage'] ?? choices[0]?.['usage'];
    meaning.usage = usageOf(usage) ?? meaning.usage;
    for (const choice of choices)
      meaning.choices = Math.max(meaning.choices, number(choice['index']) + 1);
    const choice = choices.find((candidate) => number(candidate['index']) === 0);
    if (!choice || meaning.error) continue;
    const delta = dict(choice['delta']);
    meaning.text += textOf(delta['content']);
    meaning.reasoning += reasoningOf(delta);
    addCalls(open, delta['tool_calls']);
    meaning.finish ??= string(choice['finish_reason']) || undefined;
  }
  meaning.calls = open.map(({ name, args }) => ({ name, args }));
  return meaning;
}

/** A whole answer. */
export function answerMeaning(text: string): Meaning {
  const body = dict(parsed(text));
  const choices = list(body['choices']).map(dict);
  const message = dict(choices[0]?.['message']);
  const open: OpenCall[] = [];
  for (const call of list(message['tool_calls']))
    addCalls(open, [{ ...dict(call), index: open.length }]);
  return {
    ...blank(),
    error: choices.length ? undefined : (body['error'] ?? 'no choices'),
    text: textOf(message['content']),
    reasoning: reasoningOf(message),
    calls: open.map(({ name, args }) => ({ name, args })),
    finish: string(choices[0]?.['finish_reason']) || undefined,
    usage: usageOf(body['usage']),
    choices: choices.length,
  };
}
