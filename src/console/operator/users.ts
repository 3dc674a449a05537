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
const transferInput = z.strictObject({ amount, reason: reasonInput });
const actionInput = z.strictObject({ reason: reasonInput });
const roleInput = z.strictObject({ role: z.enum(['user', 'operator']), reason: reasonInput });

/**
 * Users and an operator's actions on them: each has its reason in the audit trail, where the user
 * can read it too.
 */
export function operatorUserRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  const role = 'operator';
  return [
    ...userListRoutes(context),
    ...invitationRoutes(context),
    defineRoute({
      method: 'GET',
      path: 'operator/users/:user',
      role,
      handle: ({ params, at }) => userView(context, params['user'] ?? '', at),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/credit',
      role,
      input: transferInput,
      handle: (request) => creditUser(context, request),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/debit',
      role,
      input: transferInput,
      handle: (request) => debitUser(context, request),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/suspend',
      role,
      input: actionInput,
      handle: (request) =>
        changeUser(context, request, 'user.suspend', ({ id }) =>
          setSuspended(id, request.user.id, true),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/restore',
      role,
      input: actionInput,
      handle: (request) =>
        changeUser(context, request, 'user.restore', ({ id }) =>
          setSuspended(id, request.user.id, false),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/users/:user/role',
      role,
      input: roleInput,
      handle: (request) =>
        changeUser(context, request, 'user.role', (user) => changeRole(user, request.input.role)),
    }),
  ];
}

/** A change of a user, with its reason in the audit trail. */
async function changeUser(
  context: OperatorContext,
  request: SignedInRequest<z.output<typeof actionInput>>,
  action: string,
  change: (user: User) => Transaction<User>,
): Promise<UserAnswer> {
  const { params, at, input } = request;
  const id = params['user'] ?? '';
  await context.database.transact(function* () {
    if (!(yield* stillOperator(request.user.id))) throwProblem('operator_only');
    // Operators' changes take turns here, so the user is read again.
    const [found] = yield* userPage({ id, limit: 1 });
    const before = found?.user ?? throwProblem('not_found');
    const after = yield* change(before);
    yield* writeAudit(at, {
      ...byOperator(request),
      action,
      target: `user:${id}`,
      account: id,
      reason: input.reason,
      before: factsOf(before),
      after: factsOf(after),
    });
  });
  return { user: await userView(context, id, at), transfer: null };
}

const factsOf = ({ role, state }: User) => ({ role, state });

function* setSuspended(id: string, by: string, suspended: boolean): Transaction<User> {
  if (id === by) throwProblem('yourself');
  return (yield* suspendUser(id, suspended)) ?? throwProblem('not_found');
}

function* changeRole({ id, role: before }: User, role: User['role']): Transaction<User> {
  if (before === 'operator' && role === 'user' && (yield* otherOperators(id)) === 0)
    throwProblem('last_operator');
  return (yield* setUserRole(id, role)) ?? throwProblem('not_found');
}

/** A form sent twice makes the same transfer. */
function transferId(kind: 'grant' | 'debit', request: SignedInRequest<unknown>): string {
  const form = [request.user.id, idempotencyKeyIn(request.headers)];
  return `${kind}_${createHash('sha256').update(JSON.stringify(form)).digest('hex').slice(0, 32)}`;
}

async function creditUser(
  context: OperatorContext,
  request: SignedInRequest<z.output<typeof transferInput>>,
): Promise<UserAnswer> {
  const { input, params, at } = request;
  const id = transferId('grant', request);
  const user =
    (await findUser(context.database, params['user'] ?? '')) ?? throwProblem('not_found');
  await context.database.transact(function* () {
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
    if (done === 'created') yield* auditTransfer(request, 'user.credit', user.id, id, input.amount);
  });
  return { user: await userView(context, user.id, at), transfer: id };
}

async function debitUser(
  context: OperatorContext,
  request: SignedInRequest<z.output<typeof transferInput>>,
): Promise<UserAnswer> {
  const { database, clock } = context;
  const { params, at, input } = request;
  const id = transferId('debit', request);
  const { id: account } =
    (await findUser(database, params['user'] ?? '')) ?? throwProblem('not_found');
  const transfer = { id, account, amount: input.amount, ref: input.reason, at };
  const done = await debit(database, clock, transfer, () =>
    auditTransfer(request, 'user.debit', account, id, -input.amount),
  );
  if (done === 'exists_different')
    throwProblem('conflict', { message: 'This idempotency-key was used for another request.' });
  if (done === 'insufficient') throwProblem('insufficient', { fields: { amount: 'insufficient' } });
  return { user: await userView(context, account, at), transfer: id };
}

/** The audit entry of a transfer that this request makes. */
function* auditTransfer(
  request: SignedInRequest<z.output<typeof transferInput>>,
  action: string,
  account: string,
  transfer: string,
  amount: Nano,
): Transaction<void> {
  yield* onlyOperator(request);
  const after = { amount: formatYuan(amount), transfer };
  yield* writeAudit(request.at, {
    ...byOperator(request),
    action,
    target: `user:${account}`,
    account,
    after,
    reason: request.input.reason,
  });
}
