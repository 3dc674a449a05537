import type { Database, Row } from '../storage/database.ts';

/** A place in an account's records, newest first: that of the last one on the page before. */
export interface UsagePlace {
  readonly reservedAt: number;
  readonly id: string;
}

export interface UsageQuestion {
  readonly account: string;
  /** Wall clock, ms: from (inclusive) and to (exclusive), by when the money was reserved. */
  readonly from: number;
  readonly to: number;
  readonly after?: UsagePlace;
  readonly limit: number;
}

/** One page of an account's usage records, newest first. As fast on the last page as on the first, whoever else has how many records. */
export function usagePage(database: Database, { account, from, to, after, limit }: UsageQuestion): Promise<readonly Row[]> {
  const page = 'ORDER BY reserved_at DESC, id DESC LIMIT';
  if (after === undefined)
    return database.query(`SELECT * FROM usage WHERE account=$1 AND reserved_at>=$2 AND reserved_at<$3 ${page} $4`, [
      account,
      from,
      to,
      limit,
    ]);
  // Said twice: the pair finds the place in the index, the time alone leaves out the months after it.
  return database.query(
    `SELECT * FROM usage WHERE account=$1 AND reserved_at>=$2 AND reserved_at<=$3 AND (reserved_at, id)<($3, $4) ${page} $5`,
    [account, from, after.reservedAt, after.id, limit],
  );
}
