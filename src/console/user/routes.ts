import { type AccountContext, accountRoutes, type ShellContext, shellRoutes } from './account.ts';
import { type EventsContext, eventRoutes } from './events.ts';
import { type SearchContext, searchRoutes } from './search.ts';
import { type KeysContext, keyRoutes } from './keys.ts';
import { type MarketContext, marketRoutes } from './market.ts';
import { ModelFigures, type FiguresContext } from './model-figures.ts';
import { type ModelsContext, modelRoutes } from './models.ts';
import { type OverviewContext, overviewRoutes } from './overview.ts';
import { type PlaygroundContext, playgroundRoutes } from './playground.ts';
import { type RequestsContext, requestRoutes } from './requests.ts';
import type { ConsoleRoute } from '../route.ts';
import { type StatementContext, statementRoutes } from './statement-routes.ts';
import { type TasksContext, taskRoutes } from './tasks.ts';
import { type UsageContext, usageRoutes } from './usage.ts';

/** What the routes of the users' pages need. */
export type UserContext = ShellContext &
  AccountContext &
  OverviewContext &
  KeysContext &
  UsageContext &
  RequestsContext &
  StatementContext &
  Omit<ModelsContext & MarketContext, 'figures' | 'publicGroup'> &
  FiguresContext &
  TasksContext &
  SearchContext &
  EventsContext &
  PlaygroundContext;

/** All routes of users except sign-in and payment. */
export function userRoutes(context: UserContext): readonly ConsoleRoute[] {
  const figures = new ModelFigures(context);
  return [
    ...shellRoutes(context),
    ...accountRoutes(context),
    ...overviewRoutes(context),
    ...keyRoutes(context),
    ...usageRoutes(context),
    ...requestRoutes(context),
    ...statementRoutes(context),
    ...modelRoutes({ ...context, figures }),
    ...marketRoutes({ ...context, figures, publicGroup: context.shell.publicGroup }),
    ...taskRoutes(context),
    ...searchRoutes(context),
    ...eventRoutes(context),
    ...playgroundRoutes(context),
  ];
}
