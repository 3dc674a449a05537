import { useSyncExternalStore } from 'react';

/** A step of the breadcrumb; the last one is the page itself. `to` is a path of the console. */
export interface Crumb {
  readonly label: string;
  readonly to?: string;
}

let crumbs: readonly Crumb[] = [];
const listeners = new Set<() => void>();

/** `Page` gives its title here; the bar at the top shows it. */
export function showTitle(next: readonly Crumb[]): void {
  crumbs = next;
  for (const listener of listeners) listener();
}

export function useCrumbs(): readonly Crumb[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => crumbs,
  );
}
