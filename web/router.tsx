import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { queryClient, sessionData, type Visit } from './api/data.ts';
import { loadFile } from './api/later.ts';
import { MissingPage } from './components/page.tsx';
import { BrokenPage, OperatorFrame, Root } from './shell/root.tsx';
import { Frame } from './shell/visitor.tsx';
import {
  bookWords,
  channelWords,
  keysWords,
  modelsWords,
  operatorRequestWords,
  operatorWords,
  overviewWords,
  peopleWords,
  playgroundWords,
  priceWords,
  reasonWords,
  requestWords,
  settingsWords,
  sharedWords,
  signInWords,
  statementWords,
  tasksWords,
  topUpWords,
  usageWords,
} from './words/families.ts';
import { type Family, preload } from './words/family.ts';

const root = createRootRoute({
  component: Root,
  notFoundComponent: MissingPage,
  errorComponent: BrokenPage,
  loader: () => Promise.all([queryClient.ensureQueryData(sessionData), preload(sharedWords)]),
});

/**
 * Pages behind it need a signed-in user, apart from the models where they are public. The sign-in
 * keeps the wanted address.
 */
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  notFoundComponent: MissingPage,
  errorComponent: BrokenPage,
  beforeLoad: async ({ location }) => {
    const { me, features } = await queryClient.ensureQueryData(sessionData);
    if (me === null && !(features.public_models && /^\/models(?:\/|$)/.test(location.pathname)))
      redirect({
        to: '/sign-in',
        search: location.href === '/' ? {} : { next: location.href },
        throw: true,
      });
  },
});

const operator = createRoute({
  getParentRoute: () => frame,
  path: '/operator',
  component: OperatorFrame,
});

type PageFile = Readonly<Record<string, unknown>>;

/**
 * A page of the console: its path, the file with its component (loaded on a visit, or when the
 * pointer is over a link to it), the component's name, and the text families that it uses, which
 * load beside it. If the file exports `ahead({ params, search })`, that fetches the page's data at
 * the same time.
 */
function page<const Path extends string>(
  path: Path,
  file: () => Promise<PageFile>,
  name: string,
  ...families: readonly Family<unknown>[]
) {
  return createRoute({ getParentRoute: () => frame, path, ...pageOf(file, name, families) });
}

function operatorPage<const Path extends string>(
  path: Path,
  file: () => Promise<PageFile>,
  name: string,
  ...families: readonly Family<unknown>[]
) {
  const words = [operatorWords, ...families, reasonWords];
  return createRoute({ getParentRoute: () => operator, path, ...pageOf(file, name, words) });
}

function pageOf(file: () => Promise<PageFile>, name: string, families: readonly Family<unknown>[]) {
  const load = () => loadFile(file as () => Promise<Record<string, () => React.ReactNode>>);
  return {
    component: lazyRouteComponent(load, name),
    loader: async ({ params, location: { search } }: Visited) => {
      const asked = file().then(
        ({ ahead }) => typeof ahead === 'function' && ahead({ params, search }),
      );
      asked.catch(() => undefined); // the component's own loading waits, or says what is wrong
      await Promise.all(families.map(preload));
    },
  };
}

interface Visited extends Pick<Visit, 'params'> {
  readonly location: Pick<Visit, 'search'>;
}

const outside = [
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    ...pageOf(() => import('./pages/sign-in.tsx'), 'SignInPage', [signInWords]),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in/done',
    ...pageOf(() => import('./pages/sign-in.tsx'), 'SignedInPage', [signInWords]),
  }),
];

/** A request opens beside the list: the list keeps its state. */
const usage = page(
  '/usage',
  () => import('./pages/usage.tsx'),
  'UsagePage',
  usageWords,
  requestWords,
);
const usageRecord = createRoute({ getParentRoute: () => usage, path: '/$requestId' });

const playgroundFamilies = [playgroundWords, tasksWords, modelsWords, requestWords, usageWords];

const user = [
  page('/', () => import('./pages/overview.tsx'), 'OverviewPage', overviewWords, usageWords),
  page('/keys', () => import('./pages/keys.tsx'), 'KeysPage', keysWords, reasonWords),
  page('/keys/new', () => import('./pages/keys.tsx'), 'KeysPage', keysWords, reasonWords),
  page('/keys/$id', () => import('./pages/key.tsx'), 'KeyPage', keysWords, reasonWords),
  usage.addChildren([usageRecord]),
  page(
    '/requests/$id',
    () => import('./pages/request.tsx'),
    'RequestPage',
    requestWords,
    usageWords,
  ),
  page(
    '/statement',
    () => import('./pages/statement.tsx'),
    'StatementPage',
    statementWords,
    usageWords,
  ),
  page('/top-up', () => import('./pages/top-up.tsx'), 'TopUpPage', topUpWords),
  page('/top-up/$orderId', () => import('./pages/order.tsx'), 'OrderPage', topUpWords),
  page('/models/', () => import('./pages/models.tsx'), 'ModelsPage', modelsWords),
  page('/models/$', () => import('./pages/model.tsx'), 'ModelPage', modelsWords),
  page(
    '/playground',
    () => import('./pages/playground.tsx'),
    'PlaygroundPage',
    ...playgroundFamilies,
  ),
  page(
    '/playground/$kind',
    () => import('./pages/playground.tsx'),
    'PlaygroundPage',
    ...playgroundFamilies,
  ),
  page('/tasks', () => import('./pages/tasks.tsx'), 'TasksPage', tasksWords, usageWords),
  page('/tasks/$id', () => import('./pages/tasks.tsx'), 'TasksPage', tasksWords, usageWords),
  page(
    '/settings',
    () => import('./pages/settings.tsx'),
    'SettingsPage',
    settingsWords,
    signInWords,
  ),
  createRoute({ getParentRoute: () => frame, path: '/$', component: MissingPage }),
];

const operators = [
  operatorPage('/', () => import('./pages/operator/overview.tsx'), 'OperatorOverviewPage'),
  operatorPage(
    '/channels',
    () => import('./pages/operator/channels.tsx'),
    'ChannelsPage',
    channelWords,
    modelsWords,
    priceWords,
    bookWords,
  ),
  operatorPage(
    '/channels/$id',
    () => import('./pages/operator/channel.tsx'),
    'ChannelPage',
    channelWords,
    modelsWords,
    priceWords,
    bookWords,
    usageWords,
  ),
  operatorPage(
    '/models/',
    () => import('./pages/operator/models.tsx'),
    'OperatorModelsPage',
    priceWords,
    modelsWords,
    channelWords,
  ),
  operatorPage(
    '/models/import',
    () => import('./pages/operator/import.tsx'),
    'ImportPage',
    priceWords,
    modelsWords,
  ),
  operatorPage(
    '/models/$',
    () => import('./pages/operator/model.tsx'),
    'OperatorModelPage',
    priceWords,
    modelsWords,
    channelWords,
    usageWords,
  ),
  operatorPage(
    '/groups',
    () => import('./pages/operator/groups.tsx'),
    'GroupsPage',
    priceWords,
    modelsWords,
  ),
  operatorPage(
    '/groups/$name',
    () => import('./pages/operator/group.tsx'),
    'GroupPage',
    priceWords,
    modelsWords,
    channelWords,
  ),
  operatorPage('/users', () => import('./pages/operator/users.tsx'), 'UsersPage', peopleWords),
  operatorPage(
    '/requests',
    () => import('./pages/operator/requests.tsx'),
    'RequestsPage',
    operatorRequestWords,
    requestWords,
    usageWords,
  ),
  operatorPage(
    '/requests/$id',
    () => import('./pages/operator/request.tsx'),
    'OperatorRequestPage',
    operatorRequestWords,
    requestWords,
  ),
  operatorPage(
    '/users/$id',
    () => import('./pages/operator/user.tsx'),
    'UserPage',
    peopleWords,
    bookWords,
    keysWords,
    channelWords,
    usageWords,
    requestWords,
    modelsWords,
  ),
  operatorPage('/orders', () => import('./pages/operator/orders.tsx'), 'OrdersPage', peopleWords),
  operatorPage(
    '/reconciliation',
    () => import('./pages/operator/reconciliation.tsx'),
    'ReconciliationPage',
    peopleWords,
  ),
  operatorPage('/ledger', () => import('./pages/operator/ledger.tsx'), 'LedgerPage', bookWords),
  operatorPage(
    '/audit',
    () => import('./pages/operator/audit.tsx'),
    'AuditPage',
    bookWords,
    channelWords,
  ),
  operatorPage(
    '/announcements',
    () => import('./pages/operator/announcements.tsx'),
    'AnnouncementsPage',
    bookWords,
  ),
];

export const router = createRouter({
  routeTree: root.addChildren([
    ...outside,
    frame.addChildren([...user, operator.addChildren(operators)]),
  ]),
  defaultPreload: 'intent',
  defaultPreloadDelay: 40,
  defaultPendingMs: 60_000, // the old page stays until the new one can be shown
  scrollRestoration: true,
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const written = new URLSearchParams(
      Object.entries(search).flatMap(([name, value]) =>
        value == null || value === '' ? [] : [[name, String(value)]],
      ),
    );
    return written.size > 0 ? `?${written}` : '';
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
