import { defaultUsdRatePpm, loadBundled } from './catalog/bundled.ts';
import { dateOf } from './catalog/configuration.ts';
import { listFeesAt } from './catalog/list-fees.ts';
import type { Attention } from './console/contract.ts';
import { Cursors } from './console/cursor.ts';
import type { OperatorRooms } from './console/operator-rooms.ts';
import { operatorRows } from './console/operator-rows.ts';
import { userTabRows } from './console/operator-user-tabs.ts';
import type { ConsoleRow } from './console/row.ts';
import { instant, yuan } from './console/written.ts';
import type { Parts } from './gateway/parts.ts';
import { listUnmatched } from './payments/orders.ts';
import { proofs } from './proofs.ts';
import { vendors } from './providers/index.ts';
import { dollarFees } from './providers/list-fees.ts';
import type { Database } from './storage/database.ts';
import type { Sealer } from './storage/seal.ts';

/** What of the gateway the pages of operators show and change. */
export interface OperatorPages {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly parts: Pick<Parts, 'clock' | 'catalog'>;
  /** Millionths of a yuan for a dollar; undefined: the usual. */
  readonly usdRatePpm: bigint | undefined;
}

/**
 * The rows of all pages of operators. `users`: what users ask of themselves, operators ask of them.
 */
export function operatorRowsOn(
  { database, sealer, parts: { clock, catalog }, usdRatePpm = defaultUsdRatePpm }: OperatorPages,
  users: readonly ConsoleRow[],
): readonly ConsoleRow[] {
  const attention = [(now: number) => unmatchedPayments(database, now)];
  const rooms: OperatorRooms = {
    ...{ database, sealer, clock, catalog, vendors, proofs, attention },
    cursors: new Cursors(sealer.key('cursors of the console')),
    bundled: () => loadBundled({ usdRatePpm, today: dateOf(clock.now()) }),
    listFees: listFeesAt(dollarFees, usdRatePpm),
  };
  return [...operatorRows(rooms), ...userTabRows(database, users)];
}

const shownForMs = 7 * 86_400_000;
const shownMax = 5;

/** Money that a wallet says it has and that fits no order, of the last days. */
async function unmatchedPayments(database: Database, now: number): Promise<readonly Attention[]> {
  const rows = (await listUnmatched(database, shownMax)).filter(
    (row) => Number(row['at']) > now - shownForMs,
  );
  return rows.map((row) => ({
    code: 'unmatched_payment',
    values: {
      wallet: String(row['wallet']),
      number: String(row['number']),
      amount: yuan(BigInt(row['amount'] ?? 0)),
    },
    since: instant(Number(row['at'])),
    path: `/operator/orders?q=${encodeURIComponent(String(row['order_id']))}`,
  }));
}
