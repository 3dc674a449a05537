import { useSyncExternalStore } from 'react';

/** The requests that wait for a new session, while the dialog is open. */
let waiting: PromiseWithResolvers | undefined;
const listeners = new Set<() => void>();

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Opens the dialog over the page; resolves once the user has signed in again, in the pop-up or
 * another tab.
 */
export function signedInAgain(): Promise<void> {
  waiting ??= begin();
  notify();
  return waiting.promise;
}

export function sessionIsBack(): void {
  waiting?.resolve();
  waiting = undefined;
  notify();
}

export function sessionStaysGone(): void {
  waiting?.reject(new Error('signed out'));
  waiting = undefined;
  notify();
}

export function useSessionGone(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => waiting !== undefined,
  );
}

/** Reaches every tab: the pop-up posts here from the page on which sign-in ends. */
export function signInChannel(): BroadcastChannel {
  return new BroadcastChannel('tollgate-signed-in');
}

function begin(): PromiseWithResolvers {
  let resolve = () => {};
  let reject: (reason: Error) => void = () => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

function notify(): void {
  for (const listener of listeners) listener();
}
