import { store } from '../browser/store.ts';

const probeAfterMs = 2_000;
const probePath = '/console/api/session';

/** When the server was lost, in milliseconds; undefined: it can be reached. */
const lostAt = store<number | undefined>(undefined);
/** Resolves when the server answers again; undefined while it does. */
let back: Promise<void> | undefined;
/** Ends the wait for the next attempt. */
let wake: (() => void) | undefined;

export const useLostAt = lostAt.use;

/** Whether the server can be reached, as far as the last request knows. */
export const useReachable = (): boolean => useLostAt() === undefined;

/** Calls `listener` whenever the server is lost, and when it is back. Returns what ends that. */
export function subscribe(listener: (reachable: boolean) => void): () => void {
  return lostAt.subscribe(() => listener(lostAt.get() === undefined));
}

/**
 * To be called when a request got no answer: asks the server again and again. Resolves when it
 * answers.
 */
export function serverIsBack(): Promise<void> {
  if (back !== undefined) return back;
  back = probeUntilAnswered().then(() => {
    back = undefined;
    lostAt.set(undefined);
  });
  lostAt.set(Date.now());
  return back;
}

/** Whether the answer is the gateway's, and no page of a proxy that cannot reach it either. */
export function isGateway({ status, headers }: Response): boolean {
  const fromProxy = status === 502 || status === 503 || status === 504;
  return !fromProxy || headers.get('content-type')?.startsWith('application/json') === true;
}

/** Looks once, and goes on looking when there is no answer. */
export async function probe(): Promise<boolean> {
  const answered = back === undefined && (await probeOnce());
  if (!answered) void serverIsBack();
  return answered;
}

/** Asks the server now, and not only after the wait. */
export function tryNow(): void {
  wake?.();
}

async function probeUntilAnswered(): Promise<void> {
  do
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, probeAfterMs);
    });
  while (!(await probeOnce()));
}

async function probeOnce(): Promise<boolean> {
  try {
    return isGateway(await fetch(probePath, { cache: 'no-store' }));
  } catch {
    return false;
  }
}
