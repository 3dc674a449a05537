import * as z from 'zod';
import {
  type UserFilter,
  type UserOverview,
  userPage,
  usersNamed,
  usersToOrder,
} from '../../accounts/users.ts';
import { dayMs } from '../../base/calendar.ts';
import { balancesOfUsers, fundsOf } from '../../ledger/transfers.ts';
import type { Transaction } from '../../storage/database.ts';
import { charged } from '../../usage/spending.ts';
import { revenueByAccount } from '../../usage/totals.ts';
import type { Page, UserView } from '../contract.ts';
import { type CursorPosition, pageOfAll } from '../cursor.ts';
import { instant, instantOrNull, yuan } from '../format.ts';
import { pageLimit } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute, type SignedInRequest } from '../route.ts';
import type { OperatorContext } from './context.ts';

const monthMs = 30 * dayMs;
const listed = z.object({
  q: z.string().optional(),
  role: z.enum(['user', 'operator']).optional(),
  state: z.enum(['active', 'suspended']).optional(),
  sort: z.enum(['created', 'name', 'balance', 'spent', 'seen']).default('created'),
  limit: pageLimit,
  after: z.string().optional(),
});
type Listed = z.output<typeof listed>;

/** The users, newest first or in another order. */
export function userListRoutes(rooms: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/users',
      role: 'operator',
      input: listed,
      handle: (visit) => list(rooms, visit),
    }),
  ];
}

function list(
  { database, cursors }: OperatorContext,
  { input, at }: SignedInRequest<Listed>,
): Promise<Page<UserView>> {
  const { limit, after, sort, ...filter } = input;
  const of = sort === 'created' ? ['users', filter] : ['users', filter, sort];
  const place = after === undefined ? undefined : cursors.read(of, after);
  return database.snapshot(function* () {
    if (sort === 'created') return yield* newestFirst(filter, place);
    const all = yield* inOrder(filter, sort, at);
    const { items, next, prev } = pageOfAll(cursors, of, all, { place, limit });
    const overviews = yield* usersNamed(items.map(({ id }) => id));
    return { items: yield* viewsOf(overviews, at), next, prev, as_of: instant(at) };
  });

  function* newestFirst(
    filter: UserFilter,
    place: CursorPosition | undefined,
  ): Transaction<Page<UserView>> {
    const found = yield* userPage({ ...filter, before: place?.id, limit: limit + 1 });
    const items = yield* viewsOf(found.slice(0, limit), at);
    const last = items.at(-1);
    const next =
      found.length > limit && last !== undefined
        ? cursors.write(of, { towards: 'next', at: 0, id: last.id })
        : null;
    return { items, next, prev: null, as_of: instant(at) };
  }
}

/** Names from A to Z, everything else with the greatest first; those that are equal stay so. */
function* inOrder(
  filter: UserFilter,
  sort: Exclude<Listed['sort'], 'created'>,
  at: number,
): Transaction<readonly { readonly id: string }[]> {
  const users = yield* usersToOrder(filter);
  if (sort === 'name') {
    const { compare } = new Intl.Collator('zh', { numeric: true, sensitivity: 'base' });
    return users.toSorted((a, b) => compare(a.name, b.name));
  }
  if (sort === 'seen') return users.toSorted((a, b) => b.seen - a.seen);
  const amounts = sort === 'balance' ? yield* balancesOfUsers() : yield* spentInMonth(at);
  const of = ({ id }: { readonly id: string }): bigint => amounts.get(id) ?? 0n;
  return users.toSorted((a, b) => (of(a) < of(b) ? 1 : of(a) > of(b) ? -1 : 0));
}

/** By whole days and hours: close enough for an order. */
function* spentInMonth(at: number): Transaction<ReadonlyMap<string, bigint>> {
  const rows = yield* revenueByAccount({ from: at - (at % dayMs) - monthMs, to: at });
  return new Map(rows.map(({ id, cost }) => [id, cost]));
}

function* viewsOf(users: readonly UserOverview[], at: number): Transaction<readonly UserView[]> {
  const views: UserView[] = [];
  for (const user of users) views.push(yield* viewOf(user, at));
  return views;
}

export async function userView(
  { database }: Pick<OperatorContext, 'database'>,
  id: string,
  at: number,
): Promise<UserView> {
  const view = await database.snapshot(function* () {
    const [overview] = yield* userPage({ id, limit: 1 });
    return overview && (yield* viewOf(overview, at));
  });
  return view ?? throwProblem('not_found');
}

function* viewOf(
  { user, signIns, keys, lastSeenAt }: UserOverview,
  at: number,
): Transaction<UserView> {
  const { id, name, role, state, createdAt, version } = user;
  const funds = yield* fundsOf(id);
  const spent = yield* charged(id, { from: at - monthMs, to: at + 60_000 });
  return {
    id,
    name,
    sign_ins: signIns,
    role,
    state,
    balance: yuan(funds?.balance ?? 0n),
    held: yuan(funds?.held ?? 0n),
    spent_30_days: yuan(spent.cost),
    keys,
    created_at: instant(createdAt),
    last_seen_at: instantOrNull(lastSeenAt),
    version,
  };
}
