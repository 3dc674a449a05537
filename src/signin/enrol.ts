import { byCommand, writeAudit } from '../accounts/audit.ts';
import { operatorCanSignIn, firstOperator, makeLink } from '../accounts/identities.ts';
import { keysTopic } from '../accounts/keys.ts';
import { createUser, type Role, setUserState, type User } from '../accounts/users.ts';
import { createAccountTx, freezeTx } from '../ledger/transactions/account.ts';
import { bump } from '../storage/changes.ts';
import type { Transaction, Database } from '../storage/database.ts';

/** A user and the ledger account of the same id, in one transaction. `at`: wall clock, ms. */
export function* enrol(name: string, role: Role, at: number): Transaction<User> {
  const user = yield* createUser({ name, role, at });
  yield* createAccountTx({ id: user.id, kind: 'user' });
  return user;
}

/**
 * Suspends a user and freezes the user's money, or ends that. Undefined when there is no such user.
 */
export function* suspendUser(id: string, suspended: boolean): Transaction<User | undefined> {
  yield* freezeTx({ account: id, frozen: suspended });
  return yield* setUserState(id, suspended ? 'suspended' : 'active');
}

/** The address of a one-time link, at the console of `baseUrl`. */
export const linkAddress = (baseUrl: string, secret: string): string =>
  `${baseUrl}/auth/link?token=${secret}`;

/**
 * Makes a link for a command of the operator, and records it in the audit. Undefined when there is
 * no such user. `at`: wall clock, ms.
 */
export function* issueLink(
  userId: string,
  at: number,
): Transaction<{ readonly secret: string; readonly expiresAt: number } | undefined> {
  const made = yield* makeLink(userId, at);
  if (made !== undefined)
    yield* writeAudit(at, {
      ...byCommand,
      action: 'sign_in_link.create',
      target: userId,
      account: userId,
    });
  return made;
}

/**
 * Makes a link for the operator, who is created if there is none: as long as no operator can sign
 * in with one of `providers`, the link is the only way in. Undefined when one can.
 */
export async function operatorLink(
  database: Database,
  providers: readonly string[],
  at: number,
): Promise<string | undefined> {
  if (await operatorCanSignIn(database, providers)) return undefined;
  const made = await database.transact(function* () {
    // Two nodes that start for the first time at once wait for each other here: one operator is
    // made.
    yield bump(keysTopic);
    const operator = yield* firstOperator();
    const { id } = operator ?? (yield* enrol('operator', 'operator', at));
    return yield* issueLink(id, at);
  });
  return made?.secret;
}
