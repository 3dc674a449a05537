import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import { endOldSecret, graces, rotateAgain, rotateKey } from '../../accounts/key-secrets.ts';
import { keysTopic, type Key } from '../../accounts/keys.ts';
import { changeKey, type KeyPatch, userKey } from '../../accounts/user-keys.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { changeKeyLimits, type PaidSoFar, paidSoFar } from '../../gateway/key-limits.ts';
import { bump } from '../../storage/changes.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { KeyRotation, KeyView, RotatedKey } from '../contract.ts';
import { instant } from '../format.ts';
import { idempotencyKeyIn, moneyInput, nameInput, timeInput, versionIn } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute, type SignedInRequest } from '../route.ts';
import { keyFacts, type KeysShown, keyViews, termsIn, termsInput } from './key-view.ts';

export interface KeyChangesContext {
  readonly database: Database;
  readonly catalog: () => Snapshot;
  /** Where the days and months of key limits begin: minutes east of Greenwich. */
  readonly utcOffsetMinutes: number;
}

const changed = z.strictObject({
  name: nameInput.optional(),
  group: z.string().optional(),
  limit: moneyInput.nullable().optional(),
  daily_limit: moneyInput.nullable().optional(),
  monthly_limit: moneyInput.nullable().optional(),
  expires_at: timeInput.nullable().optional(),
  ...termsInput,
});

const graceNames = Object.keys(graces) as readonly KeyRotation['grace'][];
const rotation = z.strictObject({ grace: z.enum(graceNames, 'unknown') });

/** Every change of a key after it was made. */
export function keyChangeRoutes(rooms: KeyChangesContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'PATCH',
      path: 'keys/:id',
      role: 'user',
      input: changed,
      handle: (visit) => change(rooms, visit),
    }),
    defineRoute({
      method: 'DELETE',
      path: 'keys/:id',
      role: 'user',
      async handle(visit): Promise<void> {
        await changeUnder(rooms, visit, versionIn(visit.headers), remove);
      },
    }),
    defineRoute({
      method: 'POST',
      path: 'keys/:id/rotate',
      role: 'user',
      input: rotation,
      perMinute: 60,
      handle: (visit) => rotate(rooms, visit),
    }),
    ...Object.entries({
      disable: (key: Key, visit: KeyVisit) => patch(key, { status: 'disabled' }, visit),
      enable: (key: Key, visit: KeyVisit) => patch(key, { status: 'active' }, visit),
      'end-old-secret': endGrace,
    }).map(([word, act]) =>
      defineRoute({
        method: 'POST',
        path: `keys/:id/${word}`,
        role: 'user',
        handle: async (visit) =>
          viewOf(rooms, visit, await changeUnder(rooms, visit, undefined, act)),
      }),
    ),
  ];
}

type KeyVisit = SignedInRequest<unknown>;

/** The person who acts, for the audit trail: the owner, or an operator on another's key. */
export const byCaller = ({ user, owner }: Pick<SignedInRequest, 'user' | 'owner'>) =>
  ({
    actorKind: user.id === owner.id ? 'user' : 'operator',
    actor: user.id,
    account: owner.id,
  }) as const;

export const shownTo = (
  { utcOffsetMinutes }: Pick<KeyChangesContext, 'utcOffsetMinutes'>,
  { owner, at }: Pick<KeyVisit, 'owner' | 'at'>,
): KeysShown => ({ ownerId: owner.id, zone: owner.zone, utcOffsetMinutes, at });

async function change(
  rooms: KeyChangesContext,
  visit: SignedInRequest<z.output<typeof changed>>,
): Promise<KeyView> {
  const { input, owner, params, headers, at } = visit;
  const { group, expires_at: expiresAt } = input;
  const version = versionIn(headers);
  if (typeof expiresAt === 'number' && expiresAt <= at)
    throwProblem('invalid', { fields: { expires_at: 'in_the_past' } });
  if (group !== undefined && !rooms.catalog().groups.has(group))
    throwProblem('invalid', { fields: { group: 'unknown' } });
  const wanted: KeyPatch = {
    name: input.name,
    group,
    limit: input.limit,
    dailyLimit: input.daily_limit,
    monthlyLimit: input.monthly_limit,
    expiresAt,
  };
  const calendar = { utcOffsetMinutes: rooms.utcOffsetMinutes, at };
  const paid = await rooms.database.snapshot(function* (): Transaction<PaidSoFar> {
    const key = yield* userKey(owner.id, params['id'] ?? '');
    return key === undefined ? new Map() : yield* paidSoFar(key, wanted, calendar);
  });
  const after = await changeUnder(rooms, visit, version, function* (before) {
    const terms = termsIn(input, before, group ?? before.group, rooms.catalog());
    const key = yield* patch(before, { ...wanted, terms }, visit);
    yield* changeKeyLimits(before, key, paid, calendar);
    return key;
  });
  return viewOf(rooms, visit, after);
}

/**
 * Runs a change of a key of the owner's in one transaction, in which changes of keys take turns.
 * `version`: the one that the key must have; undefined: any.
 */
function changeUnder<T>(
  rooms: KeyChangesContext,
  visit: KeyVisit,
  version: number | undefined,
  act: (before: Key, visit: KeyVisit) => Transaction<T>,
): Promise<T> {
  return rooms.database.transact(function* () {
    yield bump(keysTopic);
    const before = yield* userKey(visit.owner.id, visit.params['id'] ?? '');
    if (before === undefined) return throwProblem('not_found');
    if (version !== undefined) yield* expectVersion(rooms, visit, before, version);
    return yield* act(before, visit);
  });
}

function* expectVersion(
  rooms: KeyChangesContext,
  visit: KeyVisit,
  before: Key,
  version: number,
): Transaction<void> {
  if (version === before.version) return;
  const [current] = yield* keyViews([before], shownTo(rooms, visit));
  throwProblem('version_conflict', { current });
}

async function viewOf(rooms: KeyChangesContext, visit: KeyVisit, key: Key): Promise<KeyView> {
  const [view] = await rooms.database.snapshot(() => keyViews([key], shownTo(rooms, visit)));
  return view ?? throwProblem('not_found');
}

function* patch(before: Key, wanted: KeyPatch, visit: KeyVisit): Transaction<Key> {
  const after = yield* changeKey(before, wanted);
  if (after === undefined) return throwProblem('not_found');
  yield* writeAudit(visit.at, {
    ...byCaller(visit),
    action: 'key.update',
    target: before.id,
    before: keyFacts(before),
    after: keyFacts(after),
    ip: visit.ip,
  });
  return after;
}

function* remove(before: Key, visit: KeyVisit): Transaction<void> {
  yield* changeKey(before, { status: 'deleted' });
  const { at, ip } = visit;
  const { name, group } = before;
  const act = { action: 'key.delete', target: before.id, before: { name, group }, ip };
  yield* writeAudit(at, { ...byCaller(visit), ...act });
}

async function rotate(
  rooms: KeyChangesContext,
  visit: SignedInRequest<z.output<typeof rotation>>,
): Promise<RotatedKey> {
  const { input, headers, at, ip } = visit;
  const rotatedWith =
    headers['idempotency-key'] === undefined ? undefined : idempotencyKeyIn(headers);
  const version = versionIn(headers);
  const made = await changeUnder(rooms, visit, undefined, function* (before) {
    // The version that a repetition knows is the one before the rotation.
    const again = rotatedWith && (yield* rotateAgain(before, input.grace, at, rotatedWith));
    if (!again) yield* expectVersion(rooms, visit, before, version);
    const done = again || (yield* rotateKey(before, input.grace, at, rotatedWith));
    if (done === undefined) return throwProblem('not_found');
    const facts = { last4: done.key.last4, old_works_until: instant(at + graces[input.grace]) };
    yield* writeAudit(at, {
      ...byCaller(visit),
      action: 'key.rotate',
      target: before.id,
      before: { last4: before.last4 },
      after: facts,
      ip,
    });
    return done;
  });
  return { key: await viewOf(rooms, visit, made.key), secret: made.secret };
}

function* endGrace(before: Key, visit: KeyVisit): Transaction<Key> {
  const { at, ip } = visit;
  const version = yield* endOldSecret(before.id, at);
  const act = { action: 'key.end_old_secret', target: before.id, ip };
  yield* writeAudit(at, { ...byCaller(visit), ...act });
  return { ...before, version: Number(version) };
}
