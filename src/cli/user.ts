import { byCommand, writeAudit } from '../accounts/audit.ts';
import { plainName } from '../accounts/text-fields.ts';
import { findUser, listUsers, type Role, type User } from '../accounts/users.ts';
import { systemClock } from '../base/clock.ts';
import { randomText } from '../base/random.ts';
import { formatYuan, type Nano, parseYuan } from '../base/money.ts';
import { balance, balances, credit as creditAccount } from '../ledger/ledger.ts';
import { enrol } from '../signin/enrol.ts';
import type { Transaction } from '../storage/database.ts';
import { everyPage, Failure, print, type SharedOptions } from './command-io.ts';
import { type Env, withDatabase } from './installation.ts';
import { paint, paintMoney, table } from './terminal.ts';

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
  const name = options.name.trim();
  if (name === '' || name !== plainName(name))
    throw new Failure('--name is one line of 1 to 100 characters');
  await withDatabase(
    options,
    env,
    async (database) => {
      const user = await database.transact(() => making(name, options.role, systemClock.now()));
      print(options, shown(user, 0n), [
        `made ${user.role} ${user.id} (${paint('bold', user.name)})`,
      ]);
    },
    { mayBegin: true },
  );
}

function* making(name: string, role: Role, at: number): Transaction<User> {
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

export async function creditUserCommand(
  options: SharedOptions & {
    readonly user: string;
    readonly amount: string;
    readonly reason: string;
    readonly id?: string;
  },
  env: Env,
): Promise<void> {
  const amount = parseYuan(options.amount);
  if (amount === undefined || amount === 0n)
    throw new Failure(`--amount is a sum in yuan such as 10.00, not '${options.amount}'`);
  const reason = options.reason.trim();
  if (reason === '' || reason.length > reasonMax)
    throw new Failure(`--reason is a text of 1 to ${reasonMax} characters`);
  if (options.id !== undefined && !/^\S{1,100}$/.test(options.id))
    throw new Failure('--id is 1 to 100 characters without spaces');
  await withDatabase(options, env, async (database) => {
    if ((await findUser(database, options.user)) === undefined)
      throw new Failure(`there is no user ${options.user}; 'user list' shows all`);
    const id = `grant_${options.id ?? randomText(24)}`;
    const at = systemClock.now();
    const entry = {
      action: 'user.credit',
      target: `user:${options.user}`,
      account: options.user,
      reason,
    };
    const done = await creditAccount(
      database,
      { id, account: options.user, from: 'grants', amount, code: 'grant', ref: reason, at },
      () =>
        writeAudit(at, {
          ...entry,
          ...byCommand,
          after: { amount: formatYuan(amount), transfer: id },
        }),
    );
    if (done === 'exists_different')
      throw new Failure(`a credit with the id ${options.id} exists, for another user or amount`);
    const user = await findUser(database, options.user);
    const now = await balance(database, options.user);
    if (user === undefined || now === undefined)
      throw new Failure(`there is no user ${options.user}; 'user list' shows all`);
    print(options, shown(user, now.balance), [
      `${user.id} (${paint('bold', user.name)}) now has ${paintMoney(formatYuan(now.balance))} yuan${done === 'exists' ? '; this credit had been made before' : ''}`,
    ]);
  });
}

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
