import type { Transaction } from '../src/storage/database.ts';
import { serveSqlite } from '../src/storage/sqlite-host.ts';

serveSqlite({
  *add({ id, n }: { readonly id: string; readonly n: bigint }): Transaction<bigint> {
    const rows = yield {
      sql: 'INSERT INTO counter VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET n = counter.n + excluded.n RETURNING n',
      params: [id, n],
    };
    return BigInt(rows[0]?.['n'] ?? 0n);
  },
  *fail(): Transaction<void> {
    yield { sql: "INSERT INTO counter VALUES ('a', 1)", params: [] };
    throw new Error('out of sorts');
  },
  *die(): Transaction<void> {
    yield { sql: "INSERT INTO counter VALUES ('z', 1)", params: [] };
    process.exit(1);
  },
});
