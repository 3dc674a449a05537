import { endSession, listSessions } from '../accounts/sessions.ts';
import type { Database } from '../storage/database.ts';
import { noSessionCookie } from '../signin/session-cookie.ts';
import type { Site } from '../signin/site.ts';
import type { DeviceView, List } from './contract.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, row } from './row.ts';

export interface SessionRooms {
  readonly database: Database;
  readonly site: Site;
}

/** The browsers in which somebody is signed in. `GET session` itself is the shell's. */
export function sessionRows({ database, site }: SessionRooms): readonly ConsoleRow[] {
  return [
    row({
      method: 'DELETE',
      path: 'session',
      role: 'anyone',
      async handle({ caller, reply }) {
        if (caller !== undefined) await endSession(database, caller.user.id, caller.session.id);
        reply.header('set-cookie', noSessionCookie(site.secure));
      },
    }),
    row({
      method: 'GET',
      path: 'sessions',
      role: 'user',
      handle: async ({ user, session, at }): Promise<List<DeviceView>> => ({
        items: (await listSessions(database, user.id, at)).map(
          ({ id, way, browser, ip, createdAt, seenAt, expiresAt }) => ({
            id,
            way,
            current: id === session.id,
            browser,
            ip,
            created_at: new Date(createdAt).toISOString(),
            seen_at: new Date(seenAt).toISOString(),
            expires_at: new Date(expiresAt).toISOString(),
          }),
        ),
      }),
    }),
    row({
      method: 'DELETE',
      path: 'sessions/:id',
      role: 'user',
      async handle({ user, params }) {
        if (!(await endSession(database, user.id, params['id'] ?? ''))) fail('not_found');
      },
    }),
  ];
}
