import type { Charged } from './charge.tsx';

/** A file of the user: a data URL, or the address of an image, which the console never loads. */
export interface SentFile {
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
  readonly files: readonly SentFile[];
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

/** The parameters that are numbers, by their names in the API. */
export const numberNames = [
  'temperature',
  'top_p',
  'max_tokens',
  'frequency_penalty',
  'presence_penalty',
  'seed',
] as const;
export type NumberName = (typeof numberNames)[number];

/** The parameters besides the turns; one that is absent is left to the model. */
export interface ChatSettings {
  readonly system: string;
  readonly numbers: { readonly [Name in NumberName]?: number };
  readonly effort: string | undefined;
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

function contentOf({ text, files }: UserTurn): string | object[] {
  if (files.length === 0) return text;
  const parts = files.map(partOf);
  return text === '' ? parts : [{ type: 'text', text }, ...parts];
}

/** A file as the API takes it, by its kind. */
function partOf({ name, type, url }: SentFile): object {
  if (type.startsWith('audio/'))
    return { type: 'input_audio', input_audio: { data: base64Of(url), format: audioFormat(type) } };
  if (type === 'application/pdf') return { type: 'file', file: { filename: name, file_data: url } };
  return { type: 'image_url', image_url: { url } };
}

export const base64Of = (url: string): string => url.slice(url.indexOf(',') + 1);

const audioFormat = (type: string): string => (/wav|wave/.test(type) ? 'wav' : 'mp3');

/** The body of the request: only parameters that are set. */
export function chatBody(
  model: string,
  { system, numbers, effort, tools }: ChatSettings,
  turns: readonly Turn[],
): object {
  return {
    model,
    messages: messagesOf(system, turns),
    stream: true,
    ...numbers,
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(tools !== undefined && tools.length > 0 && { tools }),
  };
}

/** The turns of the request that was sent last: those before its answer. */
export const sentTurns = (turns: readonly Turn[]): readonly Turn[] =>
  turns.slice(
    0,
    Math.max(
      0,
      turns.findLastIndex((turn) => turn.role === 'assistant'),
    ),
  );

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
