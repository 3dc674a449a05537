import { type Dict, dict, list, string } from './support/loose-json.ts';

/**
 * What a text completion says, read without any code of the gateway: a second opinion for the
 * tests.
 */
export interface CompletionMeaning {
  /** The text of each choice, by its index, and why it ended. */
  readonly choices: readonly { readonly text: string; readonly finish: string | undefined }[];
  /** Prompt and completion tokens, as told. */
  readonly usage: { readonly prompt: number; readonly completion: number } | undefined;
  readonly failed: boolean;
}

function parsed(text: string): Dict | undefined {
  try {
    return dict(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const finishes: Readonly<Record<string, string>> = { eos: 'stop', tool_calls: 'stop' };

/**
 * A whole answer or a stream, in the convention of completions or, as some vendors answer, in that
 * of chat.
 */
export function completionMeaning(reply: string): CompletionMeaning {
  const bodies = reply.trimStart().startsWith('{')
    ? [parsed(reply)]
    : [...reply.matchAll(/^data: ?(\{.*)$/gm)].map(([, data]) => parsed(data ?? ''));
  const choices = new Map<number, { text: string; finish: string | undefined }>();
  let usage: CompletionMeaning['usage'];
  for (const body of bodies.map(dict)) {
    const told = dict(body['usage']);
    if (body['usage'])
      usage = {
        prompt: Number(told['prompt_tokens']),
        completion: Number(told['completion_tokens']),
      };
    for (const choice of list(body['choices']).map(dict)) {
      const into = choices.get(Number(choice['index'])) ?? { text: '', finish: undefined };
      choices.set(Number(choice['index']), into);
      into.text += string(
        choice['text'] ?? dict(choice['message'])['content'] ?? dict(choice['delta'])['content'],
      );
      const finish = string(choice['finish_reason']);
      if (finish) into.finish = finishes[finish] ?? finish;
    }
  }
  const sorted = [...choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
  return { choices: sorted, usage, failed: sorted.length === 0 };
}
