import { type AccountRooms, accountRows } from './account-rows.ts';
import { type EventRooms, eventRows } from './event-rows.ts';
import { type FindRooms, findRows } from './find-rows.ts';
import { type KeyRooms, keyRows } from './key-rows.ts';
import { type ModelRooms, modelRows } from './model-rows.ts';
import { type OverviewRooms, overviewRows } from './overview-rows.ts';
import { type PlayRooms, playRows } from './play-rows.ts';
import type { ConsoleRow } from './row.ts';
import { type ShellRooms, shellRows } from './shell-rows.ts';
import { type StatementRooms, statementRows } from './statement-rows.ts';
import { type TaskRooms, taskRows } from './task-rows.ts';
import { type UsageRooms, usageRows } from './usage-rows.ts';

/** What the pages of users need. */
export type UserRooms = ShellRooms &
  AccountRooms &
  OverviewRooms &
  KeyRooms &
  UsageRooms &
  StatementRooms &
  ModelRooms &
  TaskRooms &
  FindRooms &
  EventRooms &
  PlayRooms;

/** All that users see and do at the console but sign in and pay. */
export function userRows(rooms: UserRooms): readonly ConsoleRow[] {
  return [
    ...shellRows(rooms),
    ...accountRows(rooms),
    ...overviewRows(rooms),
    ...keyRows(rooms),
    ...usageRows(rooms),
    ...statementRows(rooms),
    ...modelRows(rooms),
    ...taskRows(rooms),
    ...findRows(rooms),
    ...eventRows(rooms),
    ...playRows(rooms),
  ];
}
