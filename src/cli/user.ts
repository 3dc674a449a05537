import type { Env } from '../base/env.ts';
import { byCommand, writeAudit } from '../accounts/audit.ts';
import { plainName } from '../accounts/text-fields.ts';
import {
  findUser,
  listUsers,
  otherOperators,
  type Role,
  stillOperator,
  type User,
  userPage,
  usersCalled,
} from '../accounts/users.ts';
import { systemClock } from '../base/clock.ts';
import { randomText } from '../base/random.ts';
import { formatYuan, type Nano } from '../base/money.ts';
import { balance, balances, credit as creditAccount, debit } from '../ledger/ledger.ts';
import { fundsOf } from '../ledger/transfers.ts';
import { enrol, suspendUser } from '../signin/enrol.ts';
import type { Database, Transaction } from '../storage/database.ts';
import { everyPage, Failure, print, type SharedOptions, yuanOption } from './command-io.ts';
import { withDatabase } from './installation.ts';
import { paint, paintMoney, paintState, table } from './terminal.ts';

/** The same as in the console, where the user reads it. */
const reasonMax = 500;

function shown(
  user: User,
  balanceNow: Nano,
): { id: string; name: string; role: Role; balance: string } {
  return { id: user.id, name: user.name, role: user.role, balance: formatYuan(balanceNow) };
}

export async function createUserCommand(
  options: SharedOptions & { readonly name: string; readonly role: Role },
  env: Env,
): Promise<void> {
  const name = userName(options.name);
  await withDatabase(
    options,
    env,
    async (database) => {
      const user = await database.transact(() => makeUser(name, options.role, systemClock.now()));
      print(options, shown(user, 0n), [`created ${user.role} ${userText(user)}`]);
    },
    { mayBegin: true },
  );
}

/** A user's name from an option. */
export function userName(text: string): string {
  const name = text.trim();
  if (name !== '' && name === plainName(name)) return name;
  throw new Failure('--name is one line of 1 to 100 characters');
}

/** A user and its line in the audit trail. */
export function* makeUser(name: string, role: Role, at: number): Transaction<User> {
  const user = yield* enrol(name, role, at);
  yield* writeAudit(at, {
    ...byCommand,
    action: 'user.create',
    target: `user:${user.id}`,
    account: user.id,
    after: { name, role },
  });
  return user;
}

interface TransferOptions extends SharedOptions {
  readonly user: string;
  readonly amount: string;
  readonly reason: string;
  readonly id?: string;
}

function transferOf(options: TransferOptions): { readonly amount: Nano; readonly reason: string } {
  const amount = yuanOption('--amount', options.amount);
  if (amount === 0n) throw new Failure(`--amount is more than 0, not '${options.amount}'`);
  const reason = reasonOf(options.reason);
  if (options.id !== undefined && !/^\S{1,100}$/.test(options.id))
    throw new Failure('--id is 1 to 100 characters without spaces');
  return { amount, reason };
}

function reasonOf(text: string): string {
  const reason = text.trim();
  if (reason === '' || reason.length > reasonMax)
    throw new Failure(`--reason is a text of 1 to ${reasonMax} characters`);
  return reason;
}

export const noUser = (id: string): Failure =>
  new Failure(`there is no user ${id}; 'user list' shows all`);

export async function creditUserCommand(options: TransferOptions, env: Env): Promise<void> {
  const { amount, reason } = transferOf(options);
  await withDatabase(options, env, async (database) => {
    const user = await userNamed(database, options.user);
    const account = user.id;
    const id = `grant_${options.id ?? randomText(24)}`;
    const at = systemClock.now();
    const done = await creditAccount(
      database,
      { id, account, from: 'grants', amount, code: 'grant', ref: reason, at },
      () => auditTransfer('user.credit', { id, account, amount, reason, at }),
    );
    if (done === 'exists_different')
      throw new Failure(`a credit with the id ${options.id} exists, for another user or amount`);
    const now = await balance(database, account);
    if (now === undefined) throw noUser(account);
    print(options, shown(user, now.balance), [
      `${nowHas(user, now.balance)}${done === 'exists' ? '; this credit was already made' : ''}`,
    ]);
  });
}

export async function debitUserCommand(options: TransferOptions, env: Env): Promise<void> {
  const { amount, reason } = transferOf(options);
  await withDatabase(options, env, async (database) => {
    const user = await userNamed(database, options.user);
    const account = user.id;
    const id = `debit_${options.id ?? randomText(24)}`;
    const at = systemClock.now();
    const done = await debit(database, systemClock, { id, account, amount, ref: reason, at }, () =>
      auditTransfer('user.debit', { id, account, amount: -amount, reason, at }),
    );
    if (done === 'exists_different')
      throw new Failure(`a debit with the id ${options.id} exists, for another user or amount`);
    const funds = await database.snapshot(() => fundsOf(account));
    if (funds === undefined) throw noUser(account);
    if (done === 'insufficient')
      throw new Failure(
        `${account} has less than ${formatYuan(amount)} yuan available: balance ${formatYuan(funds.balance)}, of which tasks hold ${formatYuan(funds.held)}`,
      );
    print(options, shown(user, funds.balance), [
      `${nowHas(user, funds.balance)}${done === 'exists' ? '; this debit was already made' : ''}`,
    ]);
  });
}

interface AuditedTransfer {
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly reason: string;
  readonly at: number;
}

const auditTransfer = (
  action: string,
  { id, account, amount, reason, at }: AuditedTransfer,
): Transaction<unknown> =>
  writeAudit(at, {
    ...byCommand,
    action,
    target: `user:${account}`,
    account,
    reason,
    after: { amount: formatYuan(amount), transfer: id },
  });

const nowHas = (user: User, balanceNow: Nano): string =>
  `${userText(user)} now has ${paintMoney(formatYuan(balanceNow))} yuan`;

/** A user's id and name, for people. */
export const userText = ({ id, name }: User): string => `${id} (${paint('bold', name)})`;

/** Suspends a user, or ends that. The last operator stays one. */
export async function suspendUserCommand(
  named: string,
  suspended: boolean,
  options: SharedOptions & { readonly reason: string },
  env: Env,
): Promise<void> {
  const reason = reasonOf(options.reason);
  await withDatabase(options, env, async (database) => {
    const { id } = await userNamed(database, named);
    const user = await database.transact(() => suspending(id, suspended, reason));
    if (user === undefined) throw noUser(id);
    const now = await balance(database, id);
    const value = { ...shown(user, now?.balance ?? 0n), state: user.state };
    print(options, value, [`${userText(user)} is ${paintState(user.state)}`]);
  });
}

function* suspending(
  id: string,
  suspended: boolean,
  reason: string,
): Transaction<User | undefined> {
  // Changes of operators take turns here, and the user is read afterwards.
  yield* stillOperator(id);
  const [found] = yield* userPage({ id, limit: 1 });
  if (found === undefined) return undefined;
  const before = found.user;
  if (suspended && before.role === 'operator' && (yield* otherOperators(id)) === 0)
    throw new Failure(`${id} is the last operator: create another one first`);
  const after = yield* suspendUser(id, suspended);
  const entry = {
    action: suspended ? 'user.suspend' : 'user.restore',
    target: `user:${id}`,
    account: id,
    reason,
    before: { role: before.role, state: before.state },
    after: { role: before.role, state: after?.state },
  };
  yield* writeAudit(systemClock.now(), { ...byCommand, ...entry });
  return after;
}

/** How many users of one name are listed. */
const namesakesMax = 50;

/** The user who is named by id, or by a name that only one user has. */
export async function userNamed(database: Database, text: string): Promise<User> {
  const byId = await findUser(database, text);
  if (byId !== undefined) return byId;
  const named = await usersCalled(database, text, namesakesMax + 1);
  const [only] = named;
  if (only === undefined) throw noUser(text);
  if (named.length === 1) return only;
  const many = named.length > namesakesMax ? `more than ${namesakesMax}` : named.length;
  const ids = named.slice(0, namesakesMax).map(({ id }) => id);
  throw new Failure(`${many} users are called ${text}: ${ids.join(', ')}`);
}

/** The id of the only user whose rows are listed; undefined: those of all users. */
export const filteredUser = async (
  database: Database,
  text: string | undefined,
): Promise<string | undefined> =>
  text === undefined ? undefined : (await userNamed(database, text)).id;

export async function listUsersCommand(options: SharedOptions, env: Env): Promise<void> {
  await withDatabase(options, env, async (database) => {
    const money = new Map((await balances(database)).map((one) => [one.account, one.balance]));
    const users = (await everyPage((page) => listUsers(database, page))).map((user) =>
      shown(user, money.get(user.id) ?? 0n),
    );
    print(
      options,
      users,
      table(
        ['id', 'name', 'role', 'balance'],
        users.map((user) => [user.id, user.name, user.role, user.balance]),
      ),
    );
  });
}
