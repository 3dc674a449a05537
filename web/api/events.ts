import { useEffect } from 'react';
import type { ConsoleEventName, ConsoleEvents } from '../../src/console/contract.ts';
import { store } from '../browser/store.ts';
import { queryClient } from './data.ts';
import { probe } from './reach.ts';

/**
 * `live`: events arrive. `lost`: none for a moment. `paused`: none for 10 s, so the page polls each
 * 15 s, and says so. `polled`: this browser has no events, and the page polls.
 */
type Liveness = 'live' | 'lost' | 'paused' | 'polled';
type Handler = (data: never) => unknown;

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
const liveness = store<Liveness>('live');
/** Of the pause to come, or of the polls. */
let timer: number | undefined;

/**
 * Calls `handler` for each event while the component is mounted. One tab holds the stream and
 * passes events to the others.
 */
export function useEvent<Name extends ConsoleEventName>(
  name: Name,
  handler: (data: ConsoleEvents[Name]) => unknown,
): void {
  useEffect(() => {
    const of = handlers.get(name) ?? new Set();
    handlers.set(name, of);
    // Several components may have the same handler: each is called, and ends its own.
    const own: Handler = (data) => handler(data);
    of.add(own);
    return () => {
      of.delete(own);
    };
  }, [name, handler]);
}

export const useArePaused = (): boolean => liveness.use() === 'paused';

/**
 * One stream per user of a browser: the tab that gets the lock reads it, the others listen to that
 * tab. Without locks (plain http) every tab polls. Returns a function that stops it.
 */
export function startEvents(address: string, userId: string): () => void {
  const stop = () => become('live');
  if (!('locks' in navigator) || !('BroadcastChannel' in globalThis)) {
    become('polled');
    return stop;
  }
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
    stop();
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
  const missed = liveness.get() !== 'live';
  if (live) {
    become('live');
    if (missed) refreshShown();
  } else if (!missed) {
    // Every failed attempt comes here: the pause counts from the first one.
    become('lost');
  }
}

function become(next: Liveness): void {
  clearTimeout(timer); // an interval ends with it, too
  if (next === 'lost') timer = window.setTimeout(() => become('paused'), pauseAfterMs);
  else if (next !== 'live') timer = window.setInterval(refreshShown, pollMs);
  liveness.set(next);
}

/** Fetches what pages show now; the rest is fetched when a page shows it. */
export function refreshShown(): void {
  void queryClient.invalidateQueries({ refetchType: 'active' });
}
