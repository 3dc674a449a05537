import { useSyncExternalStore } from 'react';

const tickMs = 20_000;
let now = Date.now();
let ticking: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** The time, ms, to within 20 s: one clock for every "3 minutes ago" of the page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    tick();
    ticking = setInterval(tick, tickMs);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(ticking);
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
