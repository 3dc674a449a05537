import { type IdentityRooms, identityRows } from './identity-rows.ts';
import type { ConsoleRow } from './row.ts';
import { type SessionRooms, sessionRows } from './session-rows.ts';

/** What all families of rows need together. */
export type RowRooms = SessionRooms & IdentityRooms;

/** Every endpoint of the console, family by family. */
export function consoleRows(rooms: RowRooms): readonly ConsoleRow[] {
  return [...sessionRows(rooms), ...identityRows(rooms)];
}
