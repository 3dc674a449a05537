import type { ChatRequest, Message } from './request.ts';
import type { PlannedCall } from './tools.ts';

/** The part of a prompt's script for the current turn. */
export interface Script {
  readonly calls: readonly PlannedCall[];
  /** The answer, once every call has been made. */
  readonly text: string | undefined;
}

const dictatedCall = /\bcall the tool ["“]?([\w.-]+)["”]? with <<<(.*?)>>>/gis;
const dictatedText = /\bsay <<<(.*?)>>>/is;

/**
 * A prompt may dictate the model's turns, so that tests can script programs with their own tools.
 * Each `call the tool NAME with <<<ARGUMENTS>>>` is one turn with that call; `say <<<TEXT>>>` is
 * the answer after the last call. Undefined when no user message holds a script.
 */
export function scriptOf({ messages, tools }: ChatRequest): Script | undefined {
  const at = messages.findLastIndex(dictates);
  const prompt = messages[at];
  if (prompt === undefined) return undefined;
  const calls = [...prompt.text.matchAll(dictatedCall)];
  const answered = messages.slice(at).filter(({ role }) => role === 'tool').length;
  const [, wanted = '', json = ''] = calls[answered] ?? [];
  const tool = tools.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (tool !== undefined) return { calls: [{ name: tool.name, arguments: json }], text: undefined };
  const isLast = messages.findLastIndex(({ role }) => role === 'user') === at;
  return { calls: [], text: isLast ? dictatedText.exec(prompt.text)?.[1] : undefined };
}

function dictates({ role, text }: Message): boolean {
  return role === 'user' && (text.search(dictatedCall) >= 0 || dictatedText.test(text));
}
