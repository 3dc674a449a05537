import * as z from 'zod';
import type { Key } from '../../accounts/keys.ts';
import { createKeyOnce, userKey, userKeys } from '../../accounts/user-keys.ts';
import { writeAudit } from '../../accounts/audit.ts';
import type { Clock } from '../../base/clock.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { DatabaseError, type Transaction } from '../../storage/database.ts';
import { spentByKey } from '../../usage/spending.ts';
import type { CreatedKey, GroupView, KeyDetail, KeyView, List, Page } from '../contract.ts';
import { type Cursors, pageOfAll } from '../cursor.ts';
import { moneyInput, nameInput, pageInput, timeInput, idempotencyKeyIn } from '../input.ts';
import { byCaller, type KeyChangesContext, keyChangeRoutes, shownTo } from './key-changes.ts';
import { keyDetail, keyHistory, keyViews, termsIn, termsInput } from './key-view.ts';
import { multiplierText } from '../prices.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { instant } from '../format.ts';

export interface KeysContext extends KeyChangesContext {
  readonly clock: Clock;
  readonly cursors: Cursors;
}

const listInput = z.object({
  ...pageInput,
  q: z.string().trim().max(100, 'too_long').default(''),
  sort: z.enum(['created', 'name', 'used', 'spent']).default('created'),
});

const newKeyInput = z.strictObject({
  name: nameInput,
  group: z.string(),
  limit: moneyInput.nullish(),
  daily_limit: moneyInput.nullish(),
  monthly_limit: moneyInput.nullish(),
  expires_at: timeInput.nullish(),
  ...termsInput,
});

/** The user's keys: what each may spend and has spent. */
export function keyRoutes(context: KeysContext): readonly ConsoleRoute[] {
  const { database, catalog } = context;
  return [
    defineRoute({
      method: 'GET',
      path: 'keys',
      role: 'user',
      input: listInput,
      handle: (request) => list(context, request),
    }),
    defineRoute({
      method: 'POST',
      path: 'keys',
      role: 'user',
      input: newKeyInput,
      perMinute: 60,
      handle: (request) => create(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'keys/:id',
      role: 'user',
      async handle(request): Promise<KeyDetail> {
        const { owner, params } = request;
        const detail = await database.snapshot(function* () {
          const key = yield* userKey(owner.id, params['id'] ?? '');
          return key && (yield* keyDetail(database, catalog(), key, shownTo(context, request)));
        });
        if (detail === undefined) return throwProblem('not_found');
        return {
          ...detail,
          history: await keyHistory(database, { id: detail.id, userId: owner.id }),
        };
      },
    }),
    ...keyChangeRoutes(context),
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

function list(
  context: KeysContext,
  request: SignedInRequest<z.output<typeof listInput>>,
): Promise<Page<KeyView>> {
  const { database, cursors } = context;
  const { owner, input, at } = request;
  const of = ['keys', owner.id, input.q, input.sort];
  const place = cursors.read(of, input.after);
  return database.snapshot(function* (): Transaction<Page<KeyView>> {
    const all = yield* inOrder(yield* userKeys(owner.id, { text: input.q }), input.sort, owner.id);
    const { items, next, prev } = pageOfAll(cursors, of, all, { place, limit: input.limit });
    return {
      items: yield* keyViews(items, shownTo(context, request)),
      next,
      prev,
      as_of: instant(at),
    };
  });
}

/** Keys come newest first; those that are equal stay so. */
function* inOrder(
  keys: readonly Key[],
  sort: z.output<typeof listInput>['sort'],
  ownerId: string,
): Transaction<readonly Key[]> {
  if (sort === 'created') return keys;
  if (sort === 'name') {
    const { compare } = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
    return keys.toSorted((a, b) => compare(a.name, b.name));
  }
  if (sort === 'used') return keys.toSorted((a, b) => (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0));
  const spent = yield* spentByKey(ownerId);
  const costOf = ({ id }: Key): bigint => spent.get(id)?.cost ?? 0n;
  return keys.toSorted((a, b) => (costOf(a) < costOf(b) ? 1 : costOf(a) > costOf(b) ? -1 : 0));
}

async function create(
  context: KeysContext,
  request: SignedInRequest<z.output<typeof newKeyInput>>,
): Promise<CreatedKey> {
  const { database, catalog } = context;
  const { owner, input, headers, at, ip, reply } = request;
  const madeWith = idempotencyKeyIn(headers);
  if (!catalog().groups.has(input.group)) throwProblem('invalid', { fields: { group: 'unknown' } });
  if (input.expires_at !== undefined && input.expires_at !== null && input.expires_at <= at)
    throwProblem('invalid', { fields: { expires_at: 'in_the_past' } });
  const newKey = {
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
    const done = yield* createKeyOnce(newKey, madeWith);
    if (done === 'other')
      return throwProblem('conflict', {
        message: 'This idempotency-key was used for another key.',
      });
    if (typeof done !== 'object')
      return throwProblem('conflict', {
        message: 'You have too many keys.',
        fields: { name: 'too_many_keys' },
      });
    if (done.secret !== undefined)
      yield* writeAudit(at, {
        ...byCaller(request),
        action: 'key.create',
        target: done.key.id,
        after: { name: done.key.name, group: done.key.group },
        ip,
      });
    const [view] = yield* keyViews([done.key], shownTo(context, request));
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
