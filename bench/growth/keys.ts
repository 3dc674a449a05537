import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/base/clock.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import type { Database } from '../../src/storage/database.ts';
import { newCustomer } from '../../test/support/customer.ts';

const keysEach = 100;
const atOnce = 1_000;

/**
 * Makes keys of a hundredth as many users, or of `users`, each with money; no two keys in a row
 * belong to the same user.
 */
export async function manyKeys(
  database: Database,
  count: number,
  userCount = Math.ceil(count / keysEach),
): Promise<readonly string[]> {
  const users: string[] = [];
  while (users.length < userCount)
    users.push((await newCustomer(database, 10_000n * nanoPerYuan)).userId);
  return keysOf(database, users, count);
}

/** New keys, one for each of these users in turn. */
export async function keysOf(
  database: Database,
  users: readonly string[],
  count: number,
): Promise<readonly string[]> {
  const secrets: string[] = [];
  while (secrets.length < count)
    await database.transact(() =>
      someKeys(users, secrets, Math.min(count, secrets.length + atOnce)),
    );
  return secrets;
}

function* someKeys(users: readonly string[], secrets: string[], until: number) {
  while (secrets.length < until) {
    const userId = users[secrets.length % users.length] ?? '';
    const at = systemClock.now();
    const made = yield* createKey({
      userId,
      name: 'growth',
      group: 'default',
      limit: undefined,
      expiresAt: undefined,
      at,
    });
    if (made !== undefined) secrets.push(made.secret);
  }
}
