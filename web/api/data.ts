import { QueryClient, keepPreviousData, queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import type { BalanceView, Me, SessionView } from '../../src/console/contract.ts';
import { ApiError, type Query, get, rememberCsrf } from './client.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => failures < 1 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      retryDelay: 800,
    },
  },
});

/**
 * What GET `path` answers, for `useQuery`: `useQuery(data<Page<KeyView>>('keys', { after }))`. Its key is `[path, query]`, so that
 * `queryClient.invalidateQueries({ queryKey: ['keys'] })` asks for every page of it again. While another query of the same path loads, the old answer stays.
 */
export function data<T>(path: string, query: Query = {}) {
  const asked = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
  return queryOptions({
    queryKey: [path, asked],
    queryFn: ({ signal }) => get<T>(path, asked, signal),
    placeholderData: keepPreviousData,
  });
}

export const sessionData = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const session = await get<SessionView>('session', {}, signal);
    rememberCsrf(session.csrf);
    return session;
  },
  staleTime: 60_000,
});

/** Below the root route, which loads it. */
export function useSession(): SessionView {
  return useSuspenseQuery(sessionData).data;
}

/** On pages that need somebody signed in, which the router sees to. */
export function useMe(): Me {
  const { me } = useSession();
  if (me === null) throw new ApiError(401, { error: { code: 'session_expired', message: '', type: '', param: null, request_id: '' } });
  return me;
}

/** Every answer that moved money carries the balance: the chip is never behind what the reader just did. */
export function showBalance(balance: BalanceView): void {
  queryClient.setQueryData(sessionData.queryKey, (old) => old && { ...old, balance });
}

/** Asks only for what is looked at, and remembers nothing of what is not. */
export function useData<T>(path: string, query?: Query) {
  return useQuery(data<T>(path, query));
}
