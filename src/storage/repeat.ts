import { isAway } from './database.ts';

/** Gets the error of background work, for the log. */
export type OnError = (error: unknown) => void;

/** For work that is tried again later: that the database is away is reported by others. */
export const unlessAway =
  (onError: OnError): OnError =>
  (error) => {
    if (!isAway(error)) onError(error);
  };

export interface Repeated {
  /** Resolves when the work does not run any more. */
  stop(): Promise<void>;
}

/**
 * Runs `work` now, or after `firstMs`, and again `everyMs` after each run has ended. What fails is
 * tried again the next time; an error is reported once, until a run succeeds. `stopped`: work of many
 * steps asks it before the next one.
 */
export function repeat(
  work: (stopped: () => boolean) => Promise<unknown>,
  { everyMs, firstMs = 0 }: { readonly everyMs: number; readonly firstMs?: number },
  onError: OnError,
): Repeated {
  let stopped = false;
  let reported = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const report = unlessAway((error) => {
    if (!stopped && !reported) onError(error);
    reported = true;
  });
  const run = async (): Promise<void> => {
    try {
      await work(() => stopped);
      reported = false;
    } catch (error) {
      report(error);
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
