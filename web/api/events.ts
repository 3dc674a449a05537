import { useEffect, useSyncExternalStore } from 'react';
import type { ConsoleEventName, ConsoleEvents } from '../../src/console/contract.ts';
import { queryClient } from './data.ts';
import { probe } from './reach.ts';

/** `live`: events arrive. `paused`: none for 10 s, so the page polls each 15 s. */
export type Liveness = 'live' | 'paused';
type Handler = (data: never) => void;

const names: readonly ConsoleEventName[] = [
  'balance',
  'order',
  'task',
  'charge',
  'announcement',
  'channel',
];
const pauseAfterMs = 10_000;
const pollMs = 15_000;
const reopenMs = 5_000;

const handlers = new Map<string, Set<Handler>>();
const listeners = new Set<() => void>();
let liveness: Liveness = 'live';
let polling: ReturnType<typeof setInterval> | undefined;
let pausing: ReturnType<typeof setTimeout> | undefined;

/**
 * Calls `handler` for each event while the component is mounted. One tab holds the stream and
 * passes events to the others.
 */
export function useEvent<Name extends ConsoleEventName>(
  name: Name,
  handler: (data: ConsoleEvents[Name]) => void,
): void {
  useEffect(() => {
    const of = handlers.get(name) ?? new Set();
    handlers.set(name, of);
    of.add(handler);
    return () => {
      of.delete(handler);
    };
  }, [name, handler]);
}

export function useLiveness(): Liveness {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => liveness,
  );
}

/**
 * One stream per user of a browser: the tab that gets the lock reads it, the others listen to that
 * tab. Without locks (plain http) every tab polls. Returns a function that stops it.
 */
export function startEvents(address: string, userId: string): () => void {
  if (!('locks' in navigator) || !('BroadcastChannel' in globalThis)) return startPolling();
  const name = `tollgate-events ${userId}`;
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }) =>
    data.name === 'alive' ? alive(data.live) : deliver(data.name, data.text),
  );
  const ended = new AbortController();
  navigator.locks
    .request(name, { signal: ended.signal }, () => lead(address, channel, ended.signal))
    .catch((error: unknown) => {
      if (!ended.signal.aborted) throw error;
    });
  return () => {
    ended.abort();
    channel.close();
    stopPausing();
    stopPolling();
  };
}

/**
 * Holds the stream until this tab closes. EventSource reconnects by itself after a broken
 * connection, with the id of the last event. After a response that is no stream (a node that stops,
 * a proxy without one) it does not, so this opens a new one.
 */
function lead(address: string, channel: BroadcastChannel, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource;
    let again: ReturnType<typeof setTimeout> | undefined;
    const listener = (live: boolean) => {
      alive(live);
      channel.postMessage({ name: 'alive', live });
    };
    const begin = () => {
      source = new EventSource(address);
      source.addEventListener('open', () => listener(true));
      source.addEventListener('error', () => {
        listener(false);
        void probe();
        if (source.readyState === EventSource.CLOSED) again = setTimeout(begin, reopenMs);
      });
      for (const name of names) {
        source.addEventListener(name, ({ data }) => {
          deliver(name, data);
          channel.postMessage({ name, text: data });
        });
      }
    };
    begin();
    ended.addEventListener('abort', () => {
      clearTimeout(again);
      source.close();
      resolve();
    });
  });
}

function deliver(name: string, text: string): void {
  const data: never = JSON.parse(text) as never; // parsing: `ConsoleEvents` gives the type
  for (const handler of handlers.get(name) ?? []) handler(data);
}

function alive(live: boolean): void {
  if (live) {
    const missed = pausing !== undefined || polling !== undefined;
    stopPausing();
    stopPolling();
    show('live');
    if (missed) refreshShown();
  } else if (polling === undefined) {
    // Every failed attempt comes here: the pause counts from the first one.
    pausing ??= setTimeout(() => {
      pausing = undefined;
      startPolling();
      show('paused');
    }, pauseAfterMs);
  }
}

function stopPausing(): void {
  clearTimeout(pausing);
  pausing = undefined;
}

function startPolling(): () => void {
  polling ??= setInterval(refreshShown, pollMs);
  return stopPolling;
}

/** Fetches what pages show now; the rest is fetched when a page shows it. */
export function refreshShown(): void {
  void queryClient.invalidateQueries({ refetchType: 'active' });
}

function stopPolling(): void {
  clearInterval(polling);
  polling = undefined;
}

function show(next: Liveness): void {
  if (next === liveness) return;
  liveness = next;
  for (const listener of listeners) listener();
}
