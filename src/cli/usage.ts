import type { Env } from '../base/env.ts';
import { keyNamesOf } from '../accounts/user-keys.ts';
import { userNames } from '../accounts/names.ts';
import { systemClock } from '../base/clock.ts';
import { formatYuan } from '../base/money.ts';
import type { Database } from '../storage/database.ts';
import { spendingOfAll, type TotalsGroup, type TotalsRow } from '../usage/totals.ts';
import {
  countPhrase,
  Failure,
  grouped,
  print,
  type SharedOptions,
  timeOption,
} from './command-io.ts';
import { withDatabase } from './installation.ts';
import { paintMoney, table } from './terminal.ts';
import { filteredUser } from './user.ts';

interface UsageOptions extends SharedOptions {
  readonly by: 'model' | 'key' | 'user';
  readonly since: string;
  readonly until?: string;
  readonly user?: string;
  readonly key?: string;
  readonly model?: string;
  readonly limit: number;
}

const columns: Readonly<Record<UsageOptions['by'], TotalsGroup>> = {
  model: 'model',
  key: 'key_id',
  user: 'account',
};

/** Adds up what was paid in a period, by model, key or user: the largest first. */
export async function usageCommand(options: UsageOptions, env: Env): Promise<void> {
  const now = systemClock.now();
  const from = timeOption('--since', options.since, now);
  const to = options.until === undefined ? now + 1 : timeOption('--until', options.until, now);
  if (from >= to) throw new Failure('--since is before --until');
  const { by, key: keyId, model, limit } = options;
  await withDatabase(options, env, async (database) => {
    const account = await filteredUser(database, options.user);
    const rows = await database.snapshot(() =>
      spendingOfAll({ from, to, account, keyId, model }, columns[by]),
    );
    const requests = rows.reduce((sum, row) => sum + row.requests, 0);
    const cost = rows.reduce((sum, row) => sum + row.cost, 0n);
    const shown = rows.slice(0, limit);
    const names = await namesOf(database, by, shown);
    const items = shown.map((row) => ({
      [by]: row.of,
      ...(by !== 'model' && { name: names.get(row.of) ?? null }),
      ...(row.account !== undefined && { user: row.account }),
      requests: row.requests,
      yuan: formatYuan(row.cost),
    }));
    const period = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    print(options, { by, ...period, requests, yuan: formatYuan(cost), items }, [
      ...table(
        [by, ...(by === 'model' ? [] : ['name']), 'requests', 'yuan', 'share'],
        shown.map((row) => [
          row.of,
          ...(by === 'model' ? [] : [names.get(row.of) ?? '']),
          grouped(row.requests),
          formatYuan(row.cost),
          shareText(row.cost, cost),
        ]),
      ),
      `${countPhrase(requests, 'request')}, ${paintMoney(formatYuan(cost))} yuan since ${period.from.slice(0, 16)}Z${rows.length > shown.length ? `; ${rows.length - shown.length} more with --limit` : ''}`,
    ]);
  });
}

/** A part of a sum in per cent, rounded half up: shares may add to 100.1. */
const shareText = (part: bigint, sum: bigint): string =>
  sum === 0n ? '' : `${(Number((part * 2_000n + sum) / (sum * 2n)) / 10).toFixed(1)} %`;

async function namesOf(
  database: Database,
  by: UsageOptions['by'],
  rows: readonly TotalsRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = rows.map(({ of }) => of);
  if (by === 'user') return userNames(database, ids);
  const names = new Map<string, string>();
  if (by === 'model') return names;
  await database.snapshot(function* () {
    for (const { of, account } of rows)
      for (const [id, name] of yield* keyNamesOf(account ?? '', [of])) names.set(id, name);
  });
  return names;
}
