import type { Nano } from '../base/money.ts';
import type { Script } from '../storage/database.ts';

/** The cost that a channel's vendor reported beyond the bounds of requests. The house bore it. */
export interface Loss {
  readonly answers: number;
  readonly amount: Nano;
  /** When the last of the answers ended: wall clock, ms. */
  readonly last: number;
}

/** The losses by channel since `from`. An index of records with an excess serves it. */
export function* lossesByChannel(from: number): Script<ReadonlyMap<string, Loss>> {
  const rows = yield {
    sql: `SELECT COALESCE(channel, '') AS channel, COUNT(*) AS answers, SUM(excess) AS amount, MAX(finished_at) AS last FROM usage
      WHERE excess IS NOT NULL AND finished_at>=$1 GROUP BY COALESCE(channel, '')`,
    params: [from],
  };
  return new Map(
    rows.map((row) => [
      String(row['channel']),
      {
        answers: Number(row['answers']),
        amount: BigInt(row['amount'] ?? 0),
        last: Number(row['last']),
      },
    ]),
  );
}
