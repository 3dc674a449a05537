import { findUser } from '../../accounts/users.ts';
import type { Database } from '../../storage/database.ts';
import { announcementRoutes } from './announcements.ts';
import { auditRoutes } from './audit.ts';
import { channelTestRoutes } from './channel-test.ts';
import { channelRoutes } from './channels.ts';
import { groupRoutes } from './groups.ts';
import { ledgerRoutes } from './ledger.ts';
import { operatorModelRoutes } from './models.ts';
import { operatorOverviewRoutes } from './overview.ts';
import { priceRoutes } from './prices.ts';
import { operatorRequestRoutes } from './requests.ts';
import { trendRoutes } from './trend.ts';
import { operatorUserRoutes } from './users.ts';
import type { OperatorContext } from './context.ts';
import { vendorModelsRoute } from './vendor-models.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, ownerOf } from '../route.ts';

/** All routes of operators except those of orders. */
export function operatorRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [
    ...operatorOverviewRoutes(context),
    ...trendRoutes(context),
    ...channelRoutes(context),
    ...channelTestRoutes(context),
    vendorModelsRoute(context),
    ...operatorModelRoutes(context),
    ...priceRoutes(context),
    ...groupRoutes(context),
    ...operatorUserRoutes(context),
    ...ledgerRoutes(context),
    ...operatorRequestRoutes(context),
    ...auditRoutes(context),
    ...announcementRoutes(context),
  ];
}

/** The routes that a user reads about the user's own account, and an operator about a user. */
const families = [
  'statement',
  'statement.csv',
  'usage',
  'usage.csv',
  'requests',
  'keys',
  'orders',
  'tasks',
];

/** What an operator changes for a user: a key that has leaked is stopped. */
const changes = ['keys/:id/disable', 'keys/:id/enable'];

/**
 * The same routes as users have, about one user: `operator/users/:user/statement`, … They change
 * nothing but the state of keys.
 */
export function userTabRoutes(
  database: Database,
  routes: readonly ConsoleRoute[],
): readonly ConsoleRoute[] {
  const offered = routes.filter(
    ({ method, role, path }) =>
      role === 'user' &&
      (method === 'GET' ? families.includes(path.split('/', 1)[0] ?? '') : changes.includes(path)),
  );
  return offered.map((route) => ({
    ...route,
    path: `operator/users/:user/${route.path}`,
    role: 'operator',
    async serve(request) {
      const user =
        (await findUser(database, request.params['user'] ?? '')) ?? throwProblem('not_found');
      const { caller } = request;
      return route.serve({ ...request, caller: caller && { ...caller, owner: ownerOf(user) } });
    },
  }));
}
