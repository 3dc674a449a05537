import { createHash } from 'node:crypto';
import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import {
  otherOperators,
  stillOperator,
  userPage,
  findUser,
  setUserRole,
  type User,
} from '../../accounts/users.ts';
import { formatYuan, type Nano, nanoPerYuan } from '../../base/money.ts';
import { debit } from '../../ledger/ledger.ts';
import { creditTx } from '../../ledger/transactions/account.ts';
import { suspendUser } from '../../signin/enrol.ts';
import type { Transaction } from '../../storage/database.ts';
import type { UserAnswer } from '../contract.ts';
import { idempotencyKeyIn, moneyInput, reasonInput } from '../input.ts';
import { type OperatorContext, byOperator, onlyOperator } from './context.ts';
import { invitationRoutes } from './invitations.ts';
import { userListRoutes, userView } from './user-list.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';

/** 10 million yuan: a larger amount is a typing error. */
const amountMax = 10_000_000n * nanoPerYuan;
const amount = moneyInput
  .refine((some) => some > 0n, 'below_minimum')
  .refine((some) => some <= amountMax, 'above_maximum');
const amounted = z.strictObject({ amount, reason: reasonInput });
const reasoned = z.strictObject({ reason: reasonInput });
const newRole = z.strictObject({ role: z.enum(['user', 'operator']), reason: reasonInput });

/**
 * Users and an operator's actions on them: each has its reason in the audit trail, where the user
 * can read it too.
 */
export function operatorUserRoutes(rooms: OperatorContext): readonly ConsoleRoute[] {
  const role = 'operator';
  return [
    ...userListRoutes(rooms),
    ...invitationRoutes(rooms),
    defineRoute({
      method: 'GET',
      path: 'operator/users/:user',
      role,
      handle: ({ params, at }) => userView(rooms, params['user'] ?? '', at),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/credit',
      role,
      input: amounted,
      handle: (visit) => give(rooms, visit),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/debit',
      role,
      input: amounted,
      handle: (visit) => takeBack(rooms, visit),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/suspend',
      role,
      input: reasoned,
      handle: (visit) =>
        turn(rooms, visit, 'user.suspend', ({ id }) => suspended(id, visit.user.id, true)),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/restore',
      role,
      input: reasoned,
      handle: (visit) =>
        turn(rooms, visit, 'user.restore', ({ id }) => suspended(id, visit.user.id, false)),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/role',
      role,
      input: newRole,
      handle: (visit) =>
        turn(rooms, visit, 'user.role', (user) => promoted(user, visit.input.role)),
    }),
  ];
}

/** A change of a user, with its reason in the audit trail. */
async function turn(
  rooms: OperatorContext,
  visit: SignedInRequest<z.output<typeof reasoned>>,
  action: string,
  change: (user: User) => Transaction<User>,
): Promise<UserAnswer> {
  const { params, at, input } = visit;
  const id = params['user'] ?? '';
  await rooms.database.transact(function* () {
    if (!(yield* stillOperator(visit.user.id))) throwProblem('operator_only');
    // Operators' changes take turns here, so the user is read again.
    const [found] = yield* userPage({ id, limit: 1 });
    const before = found?.user ?? throwProblem('not_found');
    const after = yield* change(before);
    const told = {
      ...byOperator(visit),
      action,
      target: `user:${id}`,
      account: id,
      reason: input.reason,
    };
    yield* writeAudit(at, { ...told, before: factsOf(before), after: factsOf(after) });
  });
  return { user: await userView(rooms, id, at), transfer: null };
}

const factsOf = ({ role, state }: User) => ({ role, state });

function* suspended(id: string, by: string, yes: boolean): Transaction<User> {
  if (id === by) throwProblem('yourself');
  return (yield* suspendUser(id, yes)) ?? throwProblem('not_found');
}

function* promoted({ id, role: before }: User, role: User['role']): Transaction<User> {
  if (before === 'operator' && role === 'user' && (yield* otherOperators(id)) === 0)
    throwProblem('last_operator');
  return (yield* setUserRole(id, role)) ?? throwProblem('not_found');
}

/** A form sent twice makes the same transfer. */
function transferId(kind: 'grant' | 'debit', visit: SignedInRequest<unknown>): string {
  const said = [visit.user.id, idempotencyKeyIn(visit.headers)];
  return `${kind}_${createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 32)}`;
}

async function give(
  rooms: OperatorContext,
  visit: SignedInRequest<z.output<typeof amounted>>,
): Promise<UserAnswer> {
  const { input, params, at } = visit;
  const id = transferId('grant', visit);
  const user = (await findUser(rooms.database, params['user'] ?? '')) ?? throwProblem('not_found');
  await rooms.database.transact(function* () {
    const grant = {
      id,
      account: user.id,
      from: 'grants',
      amount: input.amount,
      code: 'grant',
      ref: input.reason,
      at,
    };
    const done = yield* creditTx(grant);
    if (done === 'exists_different')
      throwProblem('conflict', { message: 'This idempotency-key was used for another request.' });
    if (done === 'created') yield* tell(visit, 'user.credit', user.id, id, input.amount);
  });
  return { user: await userView(rooms, user.id, at), transfer: id };
}

async function takeBack(
  rooms: OperatorContext,
  visit: SignedInRequest<z.output<typeof amounted>>,
): Promise<UserAnswer> {
  const { database, clock } = rooms;
  const { params, at, input } = visit;
  const id = transferId('debit', visit);
  const { id: account } =
    (await findUser(database, params['user'] ?? '')) ?? throwProblem('not_found');
  const wish = { id, account, amount: input.amount, ref: input.reason, at };
  const done = await debit(database, clock, wish, () =>
    tell(visit, 'user.debit', account, id, -input.amount),
  );
  if (done === 'exists_different')
    throwProblem('conflict', { message: 'This idempotency-key was used for another request.' });
  if (done === 'insufficient') throwProblem('insufficient', { fields: { amount: 'insufficient' } });
  return { user: await userView(rooms, account, at), transfer: id };
}

/** The audit entry of a transfer that this request makes. */
function* tell(
  visit: SignedInRequest<z.output<typeof amounted>>,
  action: string,
  account: string,
  transfer: string,
  amount: Nano,
): Transaction<void> {
  yield* onlyOperator(visit);
  const after = { amount: formatYuan(amount), transfer };
  yield* writeAudit(visit.at, {
    ...byOperator(visit),
    action,
    target: `user:${account}`,
    account,
    after,
    reason: visit.input.reason,
  });
}
