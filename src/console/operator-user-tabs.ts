import { findUser } from '../accounts/users.ts';
import type { Database } from '../storage/database.ts';
import { fail } from './problem.ts';
import type { ConsoleRow } from './row.ts';

/** What a user reads of himself, and an operator of a user. */
const families = ['statement', 'statement.csv', 'usage', 'usage.csv', 'keys', 'orders', 'tasks'];

/**
 * The same questions as users ask, about one of them: `operator/users/:user/statement`, … Nothing
 * is done in his name.
 */
export function userTabRows(
  database: Database,
  rows: readonly ConsoleRow[],
): readonly ConsoleRow[] {
  const read = rows.filter(
    ({ method, role, path }) =>
      method === 'GET' && role === 'user' && families.includes(path.split('/', 1)[0] ?? ''),
  );
  return read.map((asked) => ({
    ...asked,
    path: `operator/users/:user/${asked.path}`,
    role: 'operator',
    async serve(arrival) {
      const user = (await findUser(database, arrival.params['user'] ?? '')) ?? fail('not_found');
      const { caller } = arrival;
      return asked.serve({ ...arrival, caller: caller && { ...caller, user } });
    },
  }));
}
