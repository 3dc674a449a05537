import { Readable } from 'node:stream';
import type { Principal } from './accounts/principal.ts';
import { chatConvention } from './api/convention.ts';
import type { Endpoint } from './api/door.ts';
import { limitRefusal } from './api/turned-away.ts';
import { Cursors } from './console/cursor.ts';
import { announced } from './console/operator-announcements.ts';
import type { Play, Played } from './console/play-rows.ts';
import type { ConsoleRow } from './console/row.ts';
import { releasedTasks } from './console/task-rows.ts';
import { type UserRooms, userRows } from './console/user-rows.ts';
import { LimitReached } from './gateway/admit.ts';
import type { Parts } from './gateway/parts.ts';
import { serverLimits } from './http/server.ts';
import type { Database } from './storage/database.ts';
import type { Sealer } from './storage/seal.ts';

/** What of the gateway the pages of users show and try. */
export interface UserPages {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly parts: Pick<Parts, 'clock' | 'catalog' | 'files'>;
  readonly endpoints: readonly Endpoint[];
}

/** What other families of the console know of a user. */
export type Beside = Pick<UserRooms, 'site' | 'shell' | 'ordersSince'>;

/** The rows of all pages of users. */
export function userRowsOn(
  { database, sealer, parts: { clock, catalog, files }, endpoints }: UserPages,
  beside: Beside,
): readonly ConsoleRow[] {
  return userRows({
    ...beside,
    database,
    clock,
    catalog,
    files,
    announced: (userId, now) => announced(database, userId, now),
    cursors: new Cursors(sealer.key('cursors of the console')),
    released: (userId, from, to) => releasedTasks(database, userId, from, to),
    play: playOn(endpoints),
    playBytesMax: serverLimits.jsonBodyBytesMax,
  });
}

const played: Readonly<Record<Played, string>> = {
  chat: '/chat/completions',
  images: '/images/generations',
  'images/edits': '/images/edits',
  videos: '/video/generations',
};

/** The interface's own endpoints, for whoever is known by a session instead of a key. */
function playOn(endpoints: readonly Endpoint[]): Play {
  const posted = new Map(
    endpoints.flatMap((endpoint) =>
      endpoint.method === 'POST' ? [[endpoint.path, endpoint] as const] : [],
    ),
  );
  return async (what, principal: Principal, { id, at, headers, body, reply }) => {
    const path = played[what];
    const endpoint = posted.get(path);
    if (endpoint === undefined) throw new Error(`there is no endpoint ${path}`);
    // Some endpoints read their body themselves, as it comes.
    const asSent = endpoint.body === 'stream' ? Readable.from([body]) : body;
    const request = { method: 'POST', url: `/v1${path}`, headers, body: asSent, params: undefined };
    try {
      await endpoint.handle({
        id,
        at,
        principal,
        request,
        reply: reply.client,
        convention: chatConvention,
      });
    } catch (error) {
      throw error instanceof LimitReached ? limitRefusal(error) : error;
    }
  };
}
