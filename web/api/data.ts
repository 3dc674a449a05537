import { QueryClient, queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import type { BalanceView, Me, SessionView } from '../../src/console/contract.ts';
import { ApiError, type Query, get, rememberCsrf, withoutEmpty } from './client.ts';
import { subscribe } from './reach.ts';
import { signedInAgain } from './session-gone.ts';

/** A request that was one too many at a time may come again after so long. */
const shortWaitMs = 1_000;
const isSoonOver = ({ status, retryAfterMs = Number.POSITIVE_INFINITY }: ApiError): boolean =>
  status === 429 && retryAfterMs <= shortWaitMs;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) =>
        failures < 1 &&
        error instanceof ApiError &&
        (error.status === 0 || error.status >= 500 || isSoonOver(error)),
      retryDelay: (_failures, error) =>
        error instanceof ApiError && isSoonOver(error) ? shortWaitMs : 800,
    },
  },
});

subscribe((reachable) => {
  if (reachable) void queryClient.invalidateQueries({ refetchType: 'active' });
});

/**
 * The options of `useQuery` for GET `path`: `useQuery(data<Page<KeyView>>('keys', { after }))`. The
 * key is `[path, query]`, so that `queryClient.invalidateQueries({ queryKey: ['keys'] })` fetches
 * every page of it again. While another query of the same path loads, the old response stays; for
 * another path there is no placeholder.
 */
export function data<T>(path: string, query: Query = {}) {
  const sent = withoutEmpty(query);
  return queryOptions({
    queryKey: [path, sent],
    queryFn: ({ signal }) => get<T>(path, sent, signal),
    placeholderData: (before, sent) => (sent?.queryKey[0] === path ? before : undefined),
  });
}

/** What a page's `ahead` knows of the address that leads to it. */
export interface Visit {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly search: Readonly<Record<string, unknown>>;
}

/** Fetches `path` for a page that will show it. */
export function prefetch(path: string, query?: Query): void {
  void queryClient.prefetchQuery(data(path, query));
}

export const sessionData = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<SessionView> => {
    const session = await get<SessionView>('session', {}, signal);
    const before = queryClient.getQueryData<SessionView>(['session']);
    // A user who was signed in a moment ago signs in again, over the page.
    if (session.me === null && before?.me) {
      await signedInAgain();
      return get<SessionView>('session', {}, signal).then(ofThisUser);
    }
    return ofThisUser(session);
  },
  staleTime: 60_000,
});

/**
 * A page is drawn for one user, and what it sends is in the name of that user. The session of
 * another one, who signed in in another tab, loads the page anew: its token is not taken over, and
 * the promise stays open, so that no request that waits is sent.
 */
export async function ofThisUser(session: SessionView): Promise<SessionView> {
  const drawnFor = queryClient.getQueryData<SessionView>(['session'])?.me;
  if (drawnFor && session.me && session.me.id !== drawnFor.id) {
    location.reload();
    return new Promise(() => undefined);
  }
  rememberCsrf(session.csrf);
  return session;
}

/** Below the root route, which loads it. */
export function useSession(): SessionView {
  return useSuspenseQuery(sessionData).data;
}

/** For pages that need a signed-in user; the router makes sure of one. */
export function useMe(): Me {
  const { me } = useSession();
  if (me === null)
    throw new ApiError(401, {
      error: { code: 'session_expired', message: '', type: '', param: null, request_id: '' },
    });
  return me;
}

/**
 * Every response that moved money carries the balance: the chip shows at once what the user did.
 */
export function showBalance(balance: BalanceView): void {
  queryClient.setQueryData(sessionData.queryKey, (old) => old && { ...old, balance });
}

/**
 * Fetches again what pages show of these paths and of every path below them: for
 * `operator/channels` each channel and its health, too. What an operator changed is in the audit
 * trail, too.
 */
export function refresh(...changed: readonly string[]): Promise<void> {
  const audited = changed.some((path) => path.startsWith('operator/'));
  const paths = audited ? [...changed, 'operator/audit'] : changed;
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) =>
      typeof path === 'string' &&
      paths.some((each) => path === each || path.startsWith(`${each}/`)),
  });
}

/**
 * Fetches the balance again, and with it the amounts that a page shows below it. Lists of charges
 * have a rule of their own: they do not move what is being read.
 */
export const refreshMoney = (): Promise<void> =>
  refresh('session', 'overview', 'keys', 'statement');

/** Fetches `path` while a component shows its data. */
export function useData<T>(path: string, query?: Query) {
  return useQuery(data<T>(path, query));
}
