import { store } from './store.ts';

/** A step of the breadcrumb; the last one is the page itself. `to` is a path of the console. */
export interface Crumb {
  readonly label: string;
  readonly to?: string;
}

const crumbs = store<readonly Crumb[]>([]);

/** `Page` gives its title here; the bar at the top shows it. */
export const showTitle = crumbs.set;
export const useCrumbs = crumbs.use;
