import * as z from 'zod';
import { keysTopic, type Key } from '../../accounts/keys.ts';
import {
  changeKey,
  createKeyOnce,
  type KeyPatch,
  userKey,
  userKeys,
} from '../../accounts/user-keys.ts';
import { writeAudit } from '../../accounts/audit.ts';
import type { Clock } from '../../base/clock.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { changeKeyLimits } from '../../gateway/reserve.ts';
import { lockVersion } from '../../storage/changes.ts';
import { type Database, DatabaseError, type Transaction } from '../../storage/database.ts';
import type { CreatedKey, GroupView, KeyDetail, KeyView, List, Page } from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import {
  moneyInput,
  nameInput,
  pageLimit,
  timeInput,
  idempotencyKeyIn,
  versionIn,
} from '../input.ts';
import { keyDetail, keyFacts, keyHistory, keyViews, termsIn, termsInput } from './key-view.ts';
import { multiplierText } from '../prices.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { instant } from '../format.ts';

export interface KeysContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly cursors: Cursors;
}

const listed = z.object({ limit: pageLimit, after: z.string().optional() });

const made = z.strictObject({
  name: nameInput,
  group: z.string(),
  limit: moneyInput.nullish(),
  daily_limit: moneyInput.nullish(),
  monthly_limit: moneyInput.nullish(),
  expires_at: timeInput.nullish(),
  ...termsInput,
});

const changed = z.strictObject({
  name: nameInput.optional(),
  limit: moneyInput.optional(),
  daily_limit: moneyInput.optional(),
  monthly_limit: moneyInput.optional(),
  expires_at: timeInput.nullable().optional(),
  ...termsInput,
});

/** The user's keys: what each may spend and has spent. */
export function keyRoutes(rooms: KeysContext): readonly ConsoleRoute[] {
  const { database, catalog } = rooms;
  return [
    defineRoute({
      method: 'GET',
      path: 'keys',
      role: 'user',
      input: listed,
      handle: (visit) => list(rooms, visit),
    }),
    defineRoute({
      method: 'POST',
      path: 'keys',
      role: 'user',
      input: made,
      perMinute: 60,
      handle: (visit) => create(rooms, visit),
    }),
    defineRoute({
      method: 'GET',
      path: 'keys/:id',
      role: 'user',
      async handle({ owner, params, at }): Promise<KeyDetail> {
        const detail = await database.snapshot(function* () {
          const key = yield* userKey(owner.id, params['id'] ?? '');
          return key && (yield* keyDetail(database, catalog(), key, owner.zone, at));
        });
        if (detail === undefined) return throwProblem('not_found');
        return {
          ...detail,
          history: await keyHistory(database, { id: detail.id, userId: owner.id }),
        };
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: 'keys/:id',
      role: 'user',
      input: changed,
      handle: (visit) => change(rooms, visit),
    }),
    defineRoute({
      method: 'POST',
      path: 'keys/:id/disable',
      role: 'user',
      handle: (visit) => changeTo(rooms, visit, () => ({ status: 'disabled' })),
    }),
    defineRoute({
      method: 'POST',
      path: 'keys/:id/enable',
      role: 'user',
      handle: (visit) => changeTo(rooms, visit, () => ({ status: 'active' })),
    }),
    defineRoute({
      method: 'GET',
      path: 'groups',
      role: 'user',
      handle: (): List<GroupView> => ({ items: groupViews(catalog()) }),
    }),
  ];
}

function groupViews(snapshot: Snapshot): readonly GroupView[] {
  return [...snapshot.groups.values()].map(
    ({ name: group, multiplierPpm, limits: { rpm, tpm, concurrency } }) => ({
      name: group,
      multiplier: multiplierText(multiplierPpm),
      models: snapshot.listing(group).length,
      rpm: rpm ?? null,
      tpm: tpm ?? null,
      concurrency: concurrency ?? null,
    }),
  );
}

async function list(
  { database, cursors }: KeysContext,
  { owner, input, at }: SignedInRequest<z.output<typeof listed>>,
): Promise<Page<KeyView>> {
  const of = ['keys', owner.id];
  const place = input.after === undefined ? undefined : cursors.read(of, input.after);
  const back = place?.towards === 'prev';
  return database.snapshot(function* (): Transaction<Page<KeyView>> {
    const order = back ? 'oldest' : 'newest';
    const found = yield* userKeys({
      ownerId: owner.id,
      from: place?.id,
      order,
      limit: input.limit + 1,
    });
    const more = found.length > input.limit;
    const keys = found.slice(0, input.limit);
    const items = yield* keyViews(back ? [...keys].reverse() : keys, owner.id, owner.zone, at);
    const [first, last] = [items[0], items.at(-1)];
    const cursor = (towards: 'next' | 'prev', key: KeyView | undefined): string | null =>
      key === undefined ? null : cursors.write(of, { towards, at: 0, id: key.id });
    return {
      items,
      next: back || more ? cursor('next', last) : null,
      prev: (back ? more : place !== undefined) ? cursor('prev', first) : null,
      as_of: instant(at),
    };
  });
}

async function create(
  { database, catalog }: KeysContext,
  visit: SignedInRequest<z.output<typeof made>>,
): Promise<CreatedKey> {
  const { owner, input, headers, at, ip, reply } = visit;
  const madeWith = idempotencyKeyIn(headers);
  if (!catalog().groups.has(input.group)) throwProblem('invalid', { fields: { group: 'unknown' } });
  if (input.expires_at !== undefined && input.expires_at !== null && input.expires_at <= at)
    throwProblem('invalid', { fields: { expires_at: 'in_the_past' } });
  const wish = {
    userId: owner.id,
    name: input.name,
    group: input.group,
    limit: input.limit ?? undefined,
    dailyLimit: input.daily_limit ?? undefined,
    monthlyLimit: input.monthly_limit ?? undefined,
    expiresAt: input.expires_at ?? undefined,
    at,
    ...termsIn(input, {}, input.group, catalog()),
  };
  const making = function* () {
    const done = yield* createKeyOnce(wish, madeWith);
    if (done === 'other')
      return throwProblem('conflict', { message: 'This idempotency-key made another key.' });
    if (typeof done !== 'object')
      return throwProblem('conflict', {
        message: 'There are too many keys.',
        fields: { name: 'too_many_keys' },
      });
    if (done.secret !== undefined)
      yield* writeAudit(at, {
        ...byUser(visit),
        action: 'key.create',
        target: done.key.id,
        after: { name: done.key.name, group: done.key.group },
        ip,
      });
    const [view] = yield* keyViews([done.key], owner.id, owner.zone, at);
    return { view, secret: done.secret ?? null };
  };
  const { view, secret } = await database.transact(making).catch((error: unknown) => {
    // Another request with the same idempotency key was faster: its key exists now.
    if (error instanceof DatabaseError && error.kind === 'constraint')
      return database.transact(making);
    throw error;
  });
  reply.status(201);
  return { key: view ?? throwProblem('not_found'), secret };
}

const byUser = ({ user, owner }: Pick<SignedInRequest, 'user' | 'owner'>) =>
  ({ actorKind: 'user', actor: user.id, account: owner.id }) as const;

function change(
  rooms: KeysContext,
  visit: SignedInRequest<z.output<typeof changed>>,
): Promise<KeyView> {
  const { input, headers, at } = visit;
  const { expires_at: expiresAt } = input;
  if (typeof expiresAt === 'number' && expiresAt <= at)
    throwProblem('invalid', { fields: { expires_at: 'in_the_past' } });
  const wanted = {
    name: input.name,
    limit: input.limit,
    dailyLimit: input.daily_limit,
    monthlyLimit: input.monthly_limit,
    expiresAt,
  };
  const wantedOf = (key: Key): KeyPatch => ({
    ...wanted,
    terms: termsIn(input, key, key.group, rooms.catalog()),
  });
  return changeTo(rooms, visit, wantedOf, versionIn(headers));
}

/** `version` undefined: any. */
async function changeTo(
  { database }: KeysContext,
  visit: SignedInRequest<unknown>,
  wantedOf: (before: Key) => KeyPatch,
  version?: number,
): Promise<KeyView> {
  const { owner, params, at, ip } = visit;
  const outcome = await database.transact(function* () {
    // Changes of keys take turns.
    yield lockVersion(keysTopic);
    const before = yield* userKey(owner.id, params['id'] ?? '');
    if (before === undefined) return throwProblem('not_found');
    const [current] = yield* keyViews([before], owner.id, owner.zone, at);
    if (version !== undefined && version !== before.version)
      return throwProblem('version_conflict', { current });
    const wanted = wantedOf(before);
    const fixed = lacking(before, wanted);
    if (fixed !== undefined) return throwProblem('invalid', { fields: { [fixed]: 'limit_fixed' } });
    const after = yield* changeKey(before, wanted);
    if (after === undefined) return throwProblem('not_found');
    yield* changeKeyLimits(before.id, wanted);
    yield* writeAudit(at, {
      ...byUser(visit),
      action: 'key.update',
      target: before.id,
      before: keyFacts(before),
      after: keyFacts(after),
      ip,
    });
    const [view] = yield* keyViews([after], owner.id, owner.zone, at);
    return view;
  });
  return outcome ?? throwProblem('not_found');
}

/** The first wanted limit that the key was not made with. */
function lacking(key: Key, wanted: KeyPatch): string | undefined {
  if (wanted.limit !== undefined && key.limit === undefined) return 'limit';
  if (wanted.dailyLimit !== undefined && key.dailyLimit === undefined) return 'daily_limit';
  if (wanted.monthlyLimit !== undefined && key.monthlyLimit === undefined) return 'monthly_limit';
  return undefined;
}
