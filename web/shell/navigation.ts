import { useRouterState } from '@tanstack/react-router';
import { useReachable } from '../api/reach.ts';
import type { IconName } from '../components/icon.tsx';
import type sharedEnglish from '../words/en/shared.ts';

type NavWords = (typeof sharedEnglish)['nav'];

export interface Destination {
  readonly path: string;
  readonly name: keyof NavWords;
  readonly icon: IconName;
  /** The key that opens it, after `g`. */
  readonly letter?: string;
  /** In the bar of a phone, within the thumb's reach. */
  readonly inBar?: true;
}

export const userDestinations: readonly Destination[] = [
  { path: '/', name: 'overview', icon: 'overview', letter: 'o', inBar: true },
  { path: '/keys', name: 'keys', icon: 'keys', letter: 'k', inBar: true },
  { path: '/usage', name: 'usage', icon: 'usage', letter: 'u', inBar: true },
  { path: '/statement', name: 'statement', icon: 'statement', letter: 's' },
  { path: '/top-up', name: 'topUp', icon: 'topUp', letter: 't', inBar: true },
  { path: '/models', name: 'models', icon: 'models', letter: 'm' },
  { path: '/playground', name: 'playground', icon: 'playground', letter: 'p' },
  { path: '/tasks', name: 'tasks', icon: 'tasks' },
  { path: '/settings', name: 'settings', icon: 'settings' },
];

export const operatorDestinations: readonly Destination[] = [
  { path: '/operator', name: 'operatorOverview', icon: 'pulse' },
  { path: '/operator/channels', name: 'channels', icon: 'channels' },
  { path: '/operator/models', name: 'modelsAndPrices', icon: 'models' },
  { path: '/operator/groups', name: 'groups', icon: 'groups' },
  { path: '/operator/requests', name: 'requests', icon: 'requests' },
  { path: '/operator/users', name: 'users', icon: 'users' },
  { path: '/operator/orders', name: 'orders', icon: 'orders' },
  { path: '/operator/reconciliation', name: 'reconciliation', icon: 'check' },
  { path: '/operator/ledger', name: 'ledger', icon: 'ledger' },
  { path: '/operator/audit', name: 'audit', icon: 'audit' },
  { path: '/operator/announcements', name: 'announcements', icon: 'announcements' },
];

/**
 * Whether `path` is the destination or below it; for the two overviews only the path itself. The
 * page of a failed request is below the usage, whose list leads to it.
 */
export function isAt(destination: string, path: string): boolean {
  if (path.startsWith('/requests/')) return destination === '/usage';
  if (destination === '/' || destination === '/operator')
    return path === destination || path === `${destination}/`;
  return path === destination || path.startsWith(`${destination}/`);
}

/** The path that was pressed last, and the one whose page is shown. */
export function usePaths(): { readonly asked: string; readonly shown: string } {
  const asked = useRouterState({ select: ({ location }) => location.pathname });
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  return { asked, shown: shown ?? asked };
}

/** The path that the menu marks: no page can be fetched while the server is away. */
export function useMarkedPath(): string {
  const { asked, shown } = usePaths();
  return useReachable() ? asked : shown;
}
