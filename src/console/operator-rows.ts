import { announcementRows } from './operator-announcements.ts';
import { auditRows } from './operator-audit.ts';
import { channelRows } from './operator-channels.ts';
import { channelTestRows } from './operator-channel-test.ts';
import { groupRows } from './operator-groups.ts';
import { ledgerRows } from './operator-ledger.ts';
import { modelRows } from './operator-models.ts';
import { operatorOverviewRows } from './operator-overview.ts';
import { priceRows } from './operator-prices.ts';
import type { OperatorRooms } from './operator-rooms.ts';
import { operatorUserRows } from './operator-users.ts';
import type { ConsoleRow } from './row.ts';

/** All that operators see and do at the console but orders. */
export function operatorRows(rooms: OperatorRooms): readonly ConsoleRow[] {
  return [
    ...operatorOverviewRows(rooms),
    ...channelRows(rooms),
    ...channelTestRows(rooms),
    ...modelRows(rooms),
    ...priceRows(rooms),
    ...groupRows(rooms),
    ...operatorUserRows(rooms),
    ...ledgerRows(rooms),
    ...auditRows(rooms),
    ...announcementRows(rooms),
  ];
}
