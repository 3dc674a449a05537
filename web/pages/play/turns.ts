import type { Charged } from './charge.tsx';

/** An image of the user: a data URL, or an address, which the console never loads. */
export interface ImageFile {
  readonly name: string;
  readonly type: string;
  readonly url: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface UserTurn {
  readonly role: 'user';
  readonly id: number;
  readonly text: string;
  readonly images: readonly ImageFile[];
}

export interface ToolTurn {
  readonly role: 'tool';
  readonly id: number;
  readonly callId: string;
  readonly text: string;
}

export interface AnswerTurn {
  readonly role: 'assistant';
  readonly id: number;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly finish: string | undefined;
  readonly error: unknown;
  readonly requestId: string | undefined;
  readonly firstByteMs: number | undefined;
  readonly charge: Charged;
  /** The lines of the stream, unchanged. */
  readonly raw: readonly string[];
}

export type Turn = UserTurn | ToolTurn | AnswerTurn;

/** The parameters besides the turns; undefined leaves one to the model's default. */
export interface ChatSettings {
  readonly system: string;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly maxTokens: number | undefined;
  readonly tools: readonly object[] | undefined;
}

/** The turns as API messages, without failed and empty answers. */
export function messagesOf(system: string, turns: readonly Turn[]): object[] {
  const messages = turns.flatMap((turn): object[] => {
    if (turn.role === 'tool')
      return [{ role: 'tool', tool_call_id: turn.callId, content: turn.text }];
    if (turn.role === 'user') return [{ role: 'user', content: contentOf(turn) }];
    if (turn.text === '' && turn.calls.length === 0) return [];
    const calls = turn.calls.map(({ id, name, arguments: given }) => ({
      id,
      type: 'function',
      function: { name, arguments: given },
    }));
    return [
      { role: 'assistant', content: turn.text, ...(calls.length > 0 && { tool_calls: calls }) },
    ];
  });
  return system.trim() === '' ? messages : [{ role: 'system', content: system }, ...messages];
}

function contentOf({ text, images }: UserTurn): string | object[] {
  if (images.length === 0) return text;
  const seen = images.map(({ url }) => ({ type: 'image_url', image_url: { url } }));
  return text === '' ? seen : [{ type: 'text', text }, ...seen];
}

/** The body of the request: only parameters that differ from the default. */
export function chatBody(
  model: string,
  { system, temperature, topP, maxTokens, tools }: ChatSettings,
  turns: readonly Turn[],
): object {
  return {
    model,
    messages: messagesOf(system, turns),
    stream: true,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(tools !== undefined && tools.length > 0 && { tools }),
  };
}

/** Calls of the last answer that have no result yet. */
export function unanswered(turns: readonly Turn[]): readonly ToolCall[] {
  const at = turns.findLastIndex((turn) => turn.role === 'assistant');
  const answer = turns[at];
  if (answer?.role !== 'assistant') return [];
  const given = new Set(
    turns.slice(at).flatMap((turn) => (turn.role === 'tool' ? [turn.callId] : [])),
  );
  return answer.calls.filter(({ id }) => !given.has(id));
}
