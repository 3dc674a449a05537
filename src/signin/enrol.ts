import { createUser, type Role, type User } from '../accounts/users.ts';
import { createAccount } from '../ledger/scripts/account.ts';
import type { Script } from '../storage/database.ts';

/** A user and the ledger account of the same id, in one transaction. `at`: wall clock, ms. */
export function* enrol(name: string, role: Role, at: number): Script<User> {
  const user = yield* createUser({ name, role, at });
  yield* createAccount({ id: user.id, kind: 'user' });
  return user;
}
