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

const changeInput = z.strictObject({
  name: nameInput.optional(),
  group: z.string().optional(),
  limit: moneyInput.nullable().optional(),
  daily_limit: moneyInput.nullable().optional(),
  monthly_limit: moneyInput.nullable().optional(),
  expires_at: timeInput.nullable().optional(),
  ...termsInput,
});

const graceNames = Object.keys(graces) as readonly KeyRotation['grace'][];
const rotationInput = z.strictObject({ grace: z.enum(graceNames, 'unknown') });

/** Every change of a key after it was made. */
export function keyChangeRoutes(context: KeyChangesContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'PATCH',
      path: 'keys/:id',
      role: 'user',
      input: changeInput,
      handle: (request) => change(context, request),
    }),
    defineRoute({
      method: 'DELETE',
      path: 'keys/:id',
      role: 'user',
      async handle(request): Promise<void> {
        await changeUnder(context, request, versionIn(request.headers), remove);
      },
    }),
    defineRoute({
      method: 'POST',
      path: 'keys/:id/rotate',
      role: 'user',
      input: rotationInput,
      perMinute: 60,
      handle: (request) => rotate(context, request),
    }),
    ...Object.entries({
      disable: (key: Key, request: KeyRequest) => patch(key, { status: 'disabled' }, request),
      enable: (key: Key, request: KeyRequest) => patch(key, { status: 'active' }, request),
      'end-old-secret': endGrace,
    }).map(([word, act]) =>
      defineRoute({
        method: 'POST',
        path: `keys/:id/${word}`,
        role: 'user',
        handle: async (request) =>
          viewOf(context, request, await changeUnder(context, request, undefined, act)),
      }),
    ),
  ];
}

type KeyRequest = SignedInRequest<unknown>;

/** The person who acts, for the audit trail: the owner, or an operator on another's key. */
export const byCaller = ({ user, owner }: Pick<SignedInRequest, 'user' | 'owner'>) =>
  ({
    actorKind: user.id === owner.id ? 'user' : 'operator',
    actor: user.id,
    account: owner.id,
  }) as const;

export const shownTo = (
  { utcOffsetMinutes }: Pick<KeyChangesContext, 'utcOffsetMinutes'>,
  { owner, at }: Pick<KeyRequest, 'owner' | 'at'>,
): KeysShown => ({ ownerId: owner.id, zone: owner.zone, utcOffsetMinutes, at });

async function change(
  context: KeyChangesContext,
  request: SignedInRequest<z.output<typeof changeInput>>,
): Promise<KeyView> {
  const { input, owner, params, headers, at } = request;
  const { group, expires_at: expiresAt } = input;
  const version = versionIn(headers);
  if (typeof expiresAt === 'number' && expiresAt <= at)
    throwProblem('invalid', { fields: { expires_at: 'in_the_past' } });
  if (group !== undefined && !context.catalog().groups.has(group))
    throwProblem('invalid', { fields: { group: 'unknown' } });
  const wanted: KeyPatch = {
    name: input.name,
    group,
    limit: input.limit,
    dailyLimit: input.daily_limit,
    monthlyLimit: input.monthly_limit,
    expiresAt,
  };
  const calendar = { utcOffsetMinutes: context.utcOffsetMinutes, at };
  const paid = await context.database.snapshot(function* (): Transaction<PaidSoFar> {
    const key = yield* userKey(owner.id, params['id'] ?? '');
    return key === undefined ? new Map() : yield* paidSoFar(key, wanted, calendar);
  });
  const after = await changeUnder(context, request, version, function* (before) {
    const terms = termsIn(input, before, group ?? before.group, context.catalog());
    const key = yield* patch(before, { ...wanted, terms }, request);
    yield* changeKeyLimits(before, key, paid, calendar);
    return key;
  });
  return viewOf(context, request, after);
}

/**
 * Runs a change of a key of the owner's in one transaction, in which changes of keys take turns.
 * `version`: the one that the key must have; undefined: any.
 */
function changeUnder<T>(
  context: KeyChangesContext,
  request: KeyRequest,
  version: number | undefined,
  act: (before: Key, request: KeyRequest) => Transaction<T>,
): Promise<T> {
  return context.database.transact(function* () {
    yield bump(keysTopic);
    const before = yield* userKey(request.owner.id, request.params['id'] ?? '');
    if (before === undefined) return throwProblem('not_found');
    if (version !== undefined) yield* expectVersion(context, request, before, version);
    return yield* act(before, request);
  });
}

function* expectVersion(
  context: KeyChangesContext,
  request: KeyRequest,
  before: Key,
  version: number,
): Transaction<void> {
  if (version === before.version) return;
  const [current] = yield* keyViews([before], shownTo(context, request));
  throwProblem('version_conflict', { current });
}

async function viewOf(context: KeyChangesContext, request: KeyRequest, key: Key): Promise<KeyView> {
  const [view] = await context.database.snapshot(() => keyViews([key], shownTo(context, request)));
  return view ?? throwProblem('not_found');
}

function* patch(before: Key, wanted: KeyPatch, request: KeyRequest): Transaction<Key> {
  const after = yield* changeKey(before, wanted);
  if (after === undefined) return throwProblem('not_found');
  yield* writeAudit(request.at, {
    ...byCaller(request),
    action: 'key.update',
    target: before.id,
    before: keyFacts(before),
    after: keyFacts(after),
    ip: request.ip,
  });
  return after;
}

function* remove(before: Key, request: KeyRequest): Transaction<void> {
  yield* changeKey(before, { status: 'deleted' });
  const { at, ip } = request;
  const { name, group } = before;
  const act = { action: 'key.delete', target: before.id, before: { name, group }, ip };
  yield* writeAudit(at, { ...byCaller(request), ...act });
}

async function rotate(
  context: KeyChangesContext,
  request: SignedInRequest<z.output<typeof rotationInput>>,
): Promise<RotatedKey> {
  const { input, headers, at, ip } = request;
  const rotatedWith =
    headers['idempotency-key'] === undefined ? undefined : idempotencyKeyIn(headers);
  const version = versionIn(headers);
  const made = await changeUnder(context, request, undefined, function* (before) {
    // The version that a repetition knows is the one before the rotation.
    const again = rotatedWith && (yield* rotateAgain(before, input.grace, at, rotatedWith));
    if (!again) yield* expectVersion(context, request, before, version);
    const done = again || (yield* rotateKey(before, input.grace, at, rotatedWith));
    if (done === undefined) return throwProblem('not_found');
    const facts = { last4: done.key.last4, old_works_until: instant(at + graces[input.grace]) };
    yield* writeAudit(at, {
      ...byCaller(request),
      action: 'key.rotate',
      target: before.id,
      before: { last4: before.last4 },
      after: facts,
      ip,
    });
    return done;
  });
  return { key: await viewOf(context, request, made.key), secret: made.secret };
}

function* endGrace(before: Key, request: KeyRequest): Transaction<Key> {
  const { at, ip } = request;
  const version = yield* endOldSecret(before.id, at);
  const act = { action: 'key.end_old_secret', target: before.id, ip };
  yield* writeAudit(at, { ...byCaller(request), ...act });
  return { ...before, version: Number(version) };
}
