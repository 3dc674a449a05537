import { store } from '../browser/store.ts';

/** The requests that wait for a new session, while the dialog is open. */
const waiting = store<PromiseWithResolvers | undefined>(undefined);

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
  const wait = waiting.get() ?? begin();
  waiting.set(wait);
  return wait.promise;
}

export function sessionIsBack(): void {
  waiting.get()?.resolve();
  waiting.set(undefined);
}

export function sessionStaysGone(): void {
  waiting.get()?.reject(new Error('signed out'));
  waiting.set(undefined);
}

export const useSessionGone = (): boolean => waiting.use() !== undefined;

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
