import type { Gateway } from '../main.ts';

/** What is still open after a drain gets so long to close by itself. */
const lingerMs = 2_000;

/**
 * A terminal and the package runner may both pass on one Ctrl-C: signals so close together are one.
 */
const sameWishMs = 500;

/**
 * The first signal drains, a second one ends at once, and is the system's own: `process.exit` would
 * end the database's threads in the middle of a call, which is a crash of the engine.
 */
export function stopOnSignal(
  gateway: Gateway,
  alsoClose: () => Promise<void> = async () => {},
): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.off('SIGTERM', stop).off('SIGINT', stop), sameWishMs).unref();
    void gateway
      .close()
      .then(alsoClose)
      // The process ends when nothing is open any more: ending it under a closing database is a
      // crash of the engine.
      .then(() => {
        // A supervisor's line is no reason to stay.
        process.channel?.unref();
        setTimeout(() => process.exit(0), lingerMs).unref();
      });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
