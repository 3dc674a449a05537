import type { IconName } from '../components/icon.tsx';
import type sharedEnglish from '../words/en/shared.ts';

type NavWords = (typeof sharedEnglish)['nav'];

export interface Destination {
  readonly path: string;
  readonly word: keyof NavWords;
  readonly icon: IconName;
  /** The key that opens it, after `g`. */
  readonly letter?: string;
}

export const userDestinations: readonly Destination[] = [
  { path: '/', word: 'overview', icon: 'overview', letter: 'o' },
  { path: '/keys', word: 'keys', icon: 'keys', letter: 'k' },
  { path: '/usage', word: 'usage', icon: 'usage', letter: 'u' },
  { path: '/statement', word: 'statement', icon: 'statement', letter: 's' },
  { path: '/top-up', word: 'topUp', icon: 'topUp', letter: 't' },
  { path: '/models', word: 'models', icon: 'models', letter: 'm' },
  { path: '/playground', word: 'playground', icon: 'playground', letter: 'p' },
  { path: '/tasks', word: 'tasks', icon: 'tasks' },
  { path: '/settings', word: 'settings', icon: 'settings' },
];

export const operatorDestinations: readonly Destination[] = [
  { path: '/operator', word: 'operatorOverview', icon: 'pulse' },
  { path: '/operator/channels', word: 'channels', icon: 'channels' },
  { path: '/operator/models', word: 'modelsAndPrices', icon: 'models' },
  { path: '/operator/groups', word: 'groups', icon: 'groups' },
  { path: '/operator/users', word: 'users', icon: 'users' },
  { path: '/operator/orders', word: 'orders', icon: 'orders' },
  { path: '/operator/reconciliation', word: 'reconciliation', icon: 'check' },
  { path: '/operator/ledger', word: 'ledger', icon: 'ledger' },
  { path: '/operator/audit', word: 'audit', icon: 'audit' },
  { path: '/operator/announcements', word: 'announcements', icon: 'announcements' },
];

/** Whether `path` is the destination or below it; for the two overviews only the path itself. */
export function isAt(destination: string, path: string): boolean {
  if (destination === '/' || destination === '/operator')
    return path === destination || path === `${destination}/`;
  return path === destination || path.startsWith(`${destination}/`);
}
