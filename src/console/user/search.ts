import * as z from 'zod';
import { userKeys } from '../../accounts/user-keys.ts';
import { type UserOverview, userPage } from '../../accounts/users.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { taskOf } from '../../gateway/tasks/queries.ts';
import { listOrders } from '../../payments/orders.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { loggedRequest } from '../../request-log/queries.ts';
import { usageRecord } from '../../usage/page.ts';
import type { Found, List } from '../contract.ts';
import { channelPath } from '../format.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';
import { anyRequest } from './requests.ts';

export interface SearchContext {
  readonly database: Database;
  readonly catalog: () => Snapshot;
}

const ofEachKind = 5;
const searchInput = z.object({ q: z.string().trim().max(100, 'too_long') });

/**
 * The command palette's search: names of keys and models, and complete ids of the user's own
 * objects, orders also by their wallet's number; operators also find users, channels and
 * everybody's orders.
 */
export function searchRoutes({ database, catalog }: SearchContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'find',
      role: 'user',
      input: searchInput,
      async handle({ user, owner, input: { q } }): Promise<List<Found>> {
        if (q === '') return { items: [] };
        const operator = user.role === 'operator';
        const own = await database.snapshot(() => owned(owner.id, q, operator));
        const orders = await listOrders(database, {
          account: operator ? undefined : owner.id,
          search: q,
          limit: ofEachKind,
        });
        const users = operator
          ? await database.snapshot(() => userPage({ q, limit: ofEachKind }))
          : [];
        return {
          items: [
            ...own,
            ...orders.map(({ id }) => orderFound(id, operator)),
            ...models(catalog(), q),
            ...(operator ? channels(catalog(), q) : []),
            ...users.map(userFound),
          ],
        };
      },
    }),
  ];
}

function* owned(ownerId: string, q: string, operator: boolean): Transaction<readonly Found[]> {
  const keys = yield* userKeys(ownerId, { text: q, limit: ofEachKind });
  const request = yield* usageRecord(ownerId, q);
  const logged = request ? undefined : yield* requestFound(ownerId, q, operator);
  const task = yield* taskOf(ownerId, q);
  return [
    ...keys.map(
      ({ id, name, prefix, last4 }): Found => ({
        kind: 'key',
        id,
        title: name,
        detail: `${prefix}…${last4}`,
        path: `/keys/${id}`,
      }),
    ),
    ...(request ? [workFound('request', 'usage', q, String(request['model']))] : []),
    ...(logged ? [logged] : []),
    ...(task ? [workFound('task', 'tasks', q, task.model)] : []),
  ];
}

/** A request without a charge of the user's own; for an operator, any request of any user. */
function* requestFound(
  ownerId: string,
  id: string,
  operator: boolean,
): Transaction<Found | undefined> {
  const own = yield* loggedRequest(id, ownerId);
  if (own !== undefined) return workFound('request', 'requests', id, own.model ?? '');
  const found = operator ? yield* anyRequest(id) : undefined;
  return found && workFound('request', 'operator/requests', id, found.logged.model ?? '');
}

const workFound = (kind: 'request' | 'task', folder: string, id: string, model: string): Found => ({
  kind,
  id,
  title: id,
  detail: model,
  path: `/${folder}/${encodeURIComponent(id)}`,
});

function models(snapshot: Snapshot, q: string): readonly Found[] {
  const wanted = q.toLowerCase();
  const all = [...snapshot.models.values()].filter(({ id }) => id.toLowerCase().includes(wanted));
  const sold = all.filter(({ id }) =>
    [...snapshot.groups.keys()].some((group) => snapshot.offer(group, id) !== undefined),
  );
  return sold.slice(0, ofEachKind).map(({ id, ownedBy }) => ({
    kind: 'model',
    id,
    title: id,
    detail: ownedBy,
    path: `/models/${id}`,
  }));
}

function channels(snapshot: Snapshot, q: string): readonly Found[] {
  const wanted = q.toLowerCase();
  const found = [...snapshot.channels.values()].filter(({ name }) =>
    name.toLowerCase().includes(wanted),
  );
  return found.slice(0, ofEachKind).map(({ name, vendor }) => ({
    kind: 'channel',
    id: name,
    title: name,
    detail: vendor,
    path: channelPath(name),
  }));
}

const orderFound = (id: string, operator: boolean): Found => ({
  kind: 'order',
  id,
  title: id,
  detail: null,
  path: operator ? `/operator/orders?order=${id}` : `/top-up/${id}`,
});

const userFound = ({ user: { id, name, email } }: UserOverview): Found => ({
  kind: 'user',
  id,
  title: name,
  // Two users may have one name; the list of users shows the same.
  detail: [`…${id.slice(-6)}`, ...(email === undefined ? [] : [email])].join(' · '),
  path: `/operator/users/${id}`,
});
