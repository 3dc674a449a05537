import { type KeyRooms, keyRows } from './key-rows.ts';
import { type OverviewRooms, overviewRows } from './overview-rows.ts';
import type { ConsoleRow } from './row.ts';
import { type ShellRooms, shellRows } from './shell-rows.ts';
import { type StatementRooms, statementRows } from './statement-rows.ts';
import { type UsageRooms, usageRows } from './usage-rows.ts';

/** What the pages of users need. */
export type UserRooms = ShellRooms & OverviewRooms & KeyRooms & UsageRooms & StatementRooms;

/** All that users see and do at the console but sign in and pay. */
export function userRows(rooms: UserRooms): readonly ConsoleRow[] {
  return [...shellRows(rooms), ...overviewRows(rooms), ...keyRows(rooms), ...usageRows(rooms), ...statementRows(rooms)];
}
