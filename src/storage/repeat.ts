import { isAway } from './database.ts';

/** Gets the error of background work, and the name of the work, for the log. */
export type OnError = (work: string, error: unknown) => void;

/**
 * The outcomes of work that is tried again: an error is reported once, until a try succeeds. That
 * the database is away is reported by others.
 */
export class WorkOutcomes {
  readonly #work: string;
  readonly #onError: OnError;
  #reported = false;

  constructor(work: string, onError: OnError) {
    this.#work = work;
    this.#onError = onError;
  }

  readonly failed = (error: unknown): void => {
    if (this.#reported || isAway(error)) return;
    this.#reported = true;
    this.#onError(this.#work, error);
  };

  succeeded(): void {
    this.#reported = false;
  }

  /** The outcome of one try. */
  async of(work: Promise<unknown>): Promise<void> {
    try {
      await work;
      this.succeeded();
    } catch (error) {
      this.failed(error);
    }
  }
}

export interface Repeated {
  /** Resolves when the work does not run any more. Its errors are no longer reported. */
  stop(): Promise<void>;
}

/**
 * Runs `work` now, or after `firstMs`, and again `everyMs` after each run has ended. What fails is
 * tried again the next time. `stopped`: work of many steps asks it before the next one.
 */
export function repeat(
  name: string,
  work: (stopped: () => boolean) => Promise<unknown>,
  { everyMs, firstMs = 0 }: { readonly everyMs: number; readonly firstMs?: number },
  onError: OnError,
): Repeated {
  const outcomes = new WorkOutcomes(name, onError);
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const run = async (): Promise<void> => {
    try {
      await work(() => stopped);
      outcomes.succeeded();
    } catch (error) {
      if (!stopped) outcomes.failed(error);
    }
    if (!stopped) start(everyMs);
  };
  const start = (afterMs: number): void => {
    timer = setTimeout(() => {
      running = run();
    }, afterMs).unref();
  };
  if (firstMs === 0) running = run();
  else start(firstMs);
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
