import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, open } from '../../api/client.ts';
import { chargeOf } from './charge.tsx';
import { type Draft, linesOf, take } from './chat-stream.ts';
import { type ChatSettings, type Turn, chatBody } from './turns.ts';

interface ChatOptions {
  readonly keyId: string;
  readonly model: string;
  readonly settings: ChatSettings;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly running: boolean;
  /** Sends these turns, which become the conversation, and adds the model's answer. */
  readonly run: (turns: readonly Turn[], options: ChatOptions) => void;
  readonly stop: () => void;
  readonly set: (turns: readonly Turn[]) => void;
}

let count = 0;
export const newTurnId = (): number => ++count;

/**
 * A conversation in memory. It ends with the page: a running stream is closed, and charged for what
 * was delivered.
 */
export function useConversation(): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const leaving = useRef<AbortController>(undefined);
  const [running, setRunning] = useState(false);
  useEffect(() => () => leaving.current?.abort(), []);

  const run = useCallback((before: readonly Turn[], options: ChatOptions) => {
    leaving.current?.abort();
    const mine = new AbortController();
    leaving.current = mine;
    const draft = newDraft(options.model);
    setTurns([...before, { ...draft }]);
    setRunning(true);
    const show = () =>
      setTurns((all) => all.map((turn) => (turn.id === draft.id ? { ...draft } : turn)));
    void answer(before, options, draft, mine.signal, show).finally(() => {
      if (leaving.current === mine) setRunning(false);
    });
  }, []);
  const stop = useCallback(() => leaving.current?.abort(), []);
  return { turns, running, run, stop, set: setTurns };
}

function newDraft(model: string): Draft {
  return {
    role: 'assistant',
    id: newTurnId(),
    model,
    text: '',
    reasoning: '',
    calls: [],
    state: 'running',
    finish: undefined,
    error: undefined,
    requestId: undefined,
    firstByteMs: undefined,
    charge: undefined,
    raw: [],
  };
}

async function answer(
  before: readonly Turn[],
  options: ChatOptions,
  draft: Draft,
  signal: AbortSignal,
  show: () => void,
): Promise<void> {
  const frames = new Frames(show);
  try {
    await read(before, options, draft, signal, frames);
    if (draft.state === 'running') draft.state = 'done';
  } catch (error) {
    draft.state = signal.aborted ? 'stopped' : 'failed';
    if (!signal.aborted) draft.error = error;
  }
  if (draft.requestId !== undefined) draft.charge = 'pending';
  frames.last();
  if (draft.requestId !== undefined)
    void chargeOf(draft.requestId).then((charge) => {
      draft.charge = charge;
      show();
    });
}

async function read(
  before: readonly Turn[],
  { keyId, model, settings }: ChatOptions,
  draft: Draft,
  signal: AbortSignal,
  frames: Frames,
): Promise<void> {
  const startedMs = performance.now();
  const response = await open('POST', 'play/chat', {
    body: { ...chatBody(model, settings, before), stream_options: { include_usage: true } },
    headers: { 'x-paying-key': keyId },
    signal,
  });
  draft.requestId = response.headers.get('x-request-id') ?? undefined;
  if (response.body === null) return;
  for await (const lines of linesOf(response.body)) {
    draft.firstByteMs ??= performance.now() - startedMs;
    for (const line of lines) {
      const fault = take(draft, line);
      if (fault !== undefined)
        throw new ApiError(response.status, {
          error: {
            message: fault.message ?? '',
            code: fault.code ?? null,
            type: '',
            param: null,
            request_id: draft.requestId ?? '',
          },
        });
    }
    frames.next();
  }
}

/** However many chunks arrive, the page renders once a frame. */
class Frames {
  readonly #show: () => void;
  #waiting: number | undefined;

  constructor(show: () => void) {
    this.#show = show;
  }

  next(): void {
    this.#waiting ??= requestAnimationFrame(() => {
      this.#waiting = undefined;
      this.#show();
    });
  }

  last(): void {
    if (this.#waiting !== undefined) cancelAnimationFrame(this.#waiting);
    this.#show();
  }
}
