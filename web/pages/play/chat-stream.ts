import type { AnswerTurn, ToolCall } from './turns.ts';

/** The response while it arrives: every chunk changes it in place; it is shown once a frame. */
export type Draft = { -readonly [Name in keyof AnswerTurn]: AnswerTurn[Name] } & {
  raw: string[];
  calls: ToolCall[];
};

const rawLinesMax = 5000;

/** The whole lines of an event stream, however its chunks are cut. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string[]> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + (value ?? '')).split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    yield lines.filter((line) => line !== '');
    if (done) return;
  }
}

interface Chunk {
  readonly error?: { readonly message?: string; readonly code?: string | null };
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly CallPiece[];
    };
    readonly finish_reason?: string | null;
  }[];
}

interface CallPiece {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** Adds a line to the draft; returns the error that the stream reports. */
export function take(draft: Draft, line: string): Chunk['error'] {
  if (draft.raw.length < rawLinesMax) draft.raw.push(line);
  const text = line.startsWith('data:') ? line.slice('data:'.length).trim() : '';
  if (text === '' || text === '[DONE]') return undefined;
  const chunk: Chunk = JSON.parse(text); // parsing: the gateway's own stream
  if (chunk.error !== undefined) return chunk.error;
  const [choice] = chunk.choices ?? [];
  const { delta } = choice ?? {};
  draft.text += delta?.content ?? '';
  draft.reasoning += delta?.reasoning_content ?? '';
  for (const piece of delta?.tool_calls ?? []) takeCall(draft, piece);
  draft.finish = choice?.finish_reason ?? draft.finish;
  return undefined;
}

function takeCall({ calls }: Draft, { index = 0, id, function: called }: CallPiece): void {
  const had = calls[index] ?? { id: '', name: '', arguments: '' };
  calls[index] = {
    id: id ?? had.id,
    name: had.name + (called?.name ?? ''),
    arguments: had.arguments + (called?.arguments ?? ''),
  };
}
