import { defaultUsdRatePpm, loadBundled } from './catalog/bundled.ts';
import { dateOf } from './catalog/configuration.ts';
import { Cursors } from './console/cursor.ts';
import type { OperatorRooms } from './console/operator-rooms.ts';
import { operatorRows } from './console/operator-rows.ts';
import { userTabRows } from './console/operator-user-tabs.ts';
import type { ConsoleRow } from './console/row.ts';
import type { Parts } from './gateway/parts.ts';
import { proofs } from './proofs.ts';
import { vendors } from './providers/index.ts';
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

/** The rows of all pages of operators. `users`: what users ask of themselves, operators ask of them. */
export function operatorRowsOn(
  { database, sealer, parts: { clock, catalog }, usdRatePpm = defaultUsdRatePpm }: OperatorPages,
  users: readonly ConsoleRow[],
  attention: OperatorRooms['attention'],
): readonly ConsoleRow[] {
  const rooms: OperatorRooms = {
    ...{ database, sealer, clock, catalog, vendors, proofs, attention },
    cursors: new Cursors(sealer.key('cursors of the console')),
    bundled: () => loadBundled({ usdRatePpm, today: dateOf(clock.now()) }),
  };
  return [...operatorRows(rooms), ...userTabRows(database, users)];
}
