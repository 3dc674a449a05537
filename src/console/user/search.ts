import * as z from 'zod';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { listOrders } from '../../payments/orders.ts';
import type { Database, Row, Transaction } from '../../storage/database.ts';
import type { Found, List } from '../contract.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';

export interface SearchContext {
  readonly database: Database;
  readonly catalog: () => Snapshot;
}

const ofEachKind = 5;
const searchInput = z.object({ q: z.string().trim().max(100, 'too_long') });

/**
 * The command palette's search: names of keys and models, and complete ids of the user's own
 * objects, orders also by their wallet's number; operators also find users and everybody's orders.
 */
export function searchRoutes({ database, catalog }: SearchContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'find',
      role: 'user',
      input: searchInput,
      async handle({ user, input: { q } }): Promise<List<Found>> {
        if (q === '') return { items: [] };
        const own = await database.snapshot(() => owned(user.id, q));
        const operator = user.role === 'operator';
        const orders = await listOrders(database, {
          account: operator ? undefined : user.id,
          search: q,
          limit: ofEachKind,
        });
        const users = operator ? await database.query(...people(q)) : [];
        return {
          items: [
            ...own,
            ...orders.map(({ id }) => orderFound(id, operator)),
            ...models(catalog(), q),
            ...users.map(userFound),
          ],
        };
      },
    }),
  ];
}

function* owned(userId: string, q: string): Transaction<readonly Found[]> {
  const keys = yield {
    sql: `SELECT id, name, prefix, last4 FROM api_keys WHERE user_id=$1 AND status<>'deleted' AND (LOWER(name) LIKE $2 ESCAPE '!' OR id=$3 OR last4=$3)
      ORDER BY id DESC LIMIT ${ofEachKind}`,
    params: [userId, containing(q), q],
  };
  const requests = yield {
    sql: 'SELECT id, model FROM usage WHERE id=$1 AND account=$2',
    params: [q, userId],
  };
  const tasks = yield {
    sql: 'SELECT id, model FROM task WHERE id=$1 AND account=$2',
    params: [q, userId],
  };
  const found =
    (kind: Found['kind'], folder: string) =>
    (one: Row): Found => {
      const id = String(one['id']);
      return {
        kind,
        id,
        title: id,
        detail: String(one['model']),
        path: `/${folder}/${encodeURIComponent(id)}`,
      };
    };
  return [
    ...keys.map(({ id, name, prefix, last4 }): Found => {
      return {
        kind: 'key',
        id: String(id),
        title: String(name),
        detail: `${prefix}…${last4}`,
        path: `/keys/${String(id)}`,
      };
    }),
    ...requests.map(found('request', 'usage')),
    ...tasks.map(found('task', 'tasks')),
  ];
}

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

const orderFound = (id: string, operator: boolean): Found => {
  return {
    kind: 'order',
    id,
    title: id,
    detail: null,
    path: operator ? `/operator/orders?order=${id}` : `/top-up/${id}`,
  };
};

const people = (q: string): [string, string[]] => [
  `SELECT id, name FROM users WHERE LOWER(name) LIKE $1 ESCAPE '!' OR id=$2 ORDER BY id DESC LIMIT ${ofEachKind}`,
  [containing(q), q],
];

const userFound = ({ id, name }: Row): Found => {
  return {
    kind: 'user',
    id: String(id),
    title: String(name),
    detail: String(id),
    path: `/operator/users/${String(id)}`,
  };
};

/** A LIKE pattern for values that contain the text; its own wildcards are escaped. */
const containing = (text: string): string => `%${text.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
