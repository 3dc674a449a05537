import * as z from 'zod';
import { type UserOverview, userPage, usersNamed, usersToOrder } from '../../accounts/users.ts';
import { dayMs } from '../../base/calendar.ts';
import { balancesOfUsers, chargeRefunds, fundsOfUsers } from '../../ledger/transfers.ts';
import type { Transaction } from '../../storage/database.ts';
import { startOfUtcDay, type TimeRange } from '../../usage/ranges.ts';
import { chargedByAccount } from '../../usage/spending.ts';
import { revenueByAccount } from '../../usage/totals.ts';
import type { UserPage, UserView } from '../contract.ts';
import { pageOfAll } from '../cursor.ts';
import { instant, instantOrNull, yuan } from '../format.ts';
import { pageInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute, type SignedInRequest } from '../route.ts';
import type { OperatorContext } from './context.ts';

const monthMs = 30 * dayMs;
/** Orders other than by age read the newest users up to this many, for each page anew. */
const orderedUsersMax = 10_000;
const listInput = z.object({
  q: z.string().optional(),
  role: z.enum(['user', 'operator']).optional(),
  state: z.enum(['active', 'suspended']).optional(),
  sort: z.enum(['created', 'name', 'balance', 'spent', 'seen']).default('created'),
  ...pageInput,
});
type Listed = z.output<typeof listInput>;

/** The users, newest first or in another order. */
export function userListRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/users',
      role: 'operator',
      input: listInput,
      handle: (request) => list(context, request),
    }),
  ];
}

function list(
  { database, cursors }: OperatorContext,
  { input, at }: SignedInRequest<Listed>,
): Promise<UserPage> {
  const { limit, after, sort, ...filter } = input;
  const of = sort === 'created' ? ['users', filter] : ['users', filter, sort];
  const place = cursors.read(of, after);
  return database.snapshot(function* () {
    if (sort === 'created') {
      const found = yield* userPage({ ...filter, before: place?.id, limit: limit + 1 });
      const items = yield* viewsOf(found.slice(0, limit), at);
      const last = found.length > limit ? items.at(-1) : undefined;
      const next = last ? cursors.write(of, { towards: 'next', at: 0, id: last.id }) : null;
      return { items, next, prev: null, ordered_newest: null, as_of: instant(at) };
    }
    const found = yield* usersToOrder(filter, orderedUsersMax + 1);
    const newest = found.slice(0, orderedUsersMax);
    const all = yield* inOrder(newest, sort, at);
    const { items, next, prev } = pageOfAll(cursors, of, all, { place, limit });
    const overviews = yield* usersNamed(items.map(({ id }) => id));
    const views = yield* viewsOf(overviews, at);
    const among = found.length > orderedUsersMax ? orderedUsersMax : null;
    return { items: views, next, prev, ordered_newest: among, as_of: instant(at) };
  });
}

/** Names from A to Z, everything else with the greatest first; those that are equal stay so. */
function* inOrder(
  users: readonly { readonly id: string; readonly name: string; readonly seen: number }[],
  sort: Exclude<Listed['sort'], 'created'>,
  at: number,
): Transaction<readonly { readonly id: string }[]> {
  if (sort === 'name') {
    const { compare } = new Intl.Collator('zh', { numeric: true, sensitivity: 'base' });
    return users.toSorted((a, b) => compare(a.name, b.name));
  }
  if (sort === 'seen') return users.toSorted((a, b) => b.seen - a.seen);
  const oldest = users.at(-1)?.id ?? '';
  const amounts = sort === 'balance' ? yield* balancesOfUsers(oldest) : yield* spentInMonth(at);
  const of = ({ id }: { readonly id: string }): bigint => amounts.get(id) ?? 0n;
  return users.toSorted((a, b) => (of(a) < of(b) ? 1 : of(a) > of(b) ? -1 : 0));
}

/** By whole days and hours: close enough for an order. */
function* spentInMonth(at: number): Transaction<ReadonlyMap<string, bigint>> {
  const span = { from: startOfUtcDay(at) - monthMs, to: at };
  const rows = yield* revenueByAccount(span);
  return yield* lessRefunds(new Map(rows.map(({ id, cost }) => [id, cost])), span);
}

/** What accounts paid, less their refunds of the period, as an operator's revenue. */
function* lessRefunds(
  charged: ReadonlyMap<string, bigint>,
  span: TimeRange,
  accounts?: readonly string[],
): Transaction<ReadonlyMap<string, bigint>> {
  const net = new Map(charged);
  for (const { account, amount } of yield* chargeRefunds(span, accounts))
    net.set(account, (net.get(account) ?? 0n) - amount);
  return net;
}

function* viewsOf(users: readonly UserOverview[], at: number): Transaction<readonly UserView[]> {
  const ids = users.map(({ user }) => user.id);
  const funds = yield* fundsOfUsers(ids);
  const month = { from: at - monthMs, to: at + 60_000 };
  const spent = yield* lessRefunds(yield* chargedByAccount(ids, month), month, ids);
  return users.map(({ user, signIns, keys, allKeys, signedInAt, lastSeenAt }) => ({
    id: user.id,
    name: user.name,
    email: user.email ?? null,
    sign_ins: signIns,
    role: user.role,
    state: user.state,
    balance: yuan(funds.get(user.id)?.balance ?? 0n),
    held: yuan(funds.get(user.id)?.held ?? 0n),
    spent_30_days: yuan(spent.get(user.id) ?? 0n),
    keys,
    keys_all: allKeys,
    created_at: instant(user.createdAt),
    signed_in_at: instantOrNull(signedInAt),
    last_seen_at: instantOrNull(lastSeenAt),
    version: user.version,
  }));
}

export async function userView(
  { database }: Pick<OperatorContext, 'database'>,
  id: string,
  at: number,
): Promise<UserView> {
  const [view] = await database.snapshot(function* () {
    return yield* viewsOf(yield* userPage({ id, limit: 1 }), at);
  });
  return view ?? throwProblem('not_found');
}
