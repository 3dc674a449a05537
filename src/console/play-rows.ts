import type { Principal } from '../accounts/principal.ts';
import { principalOfKey } from '../accounts/user-keys.ts';
import type { Database } from '../storage/database.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';

/** What is tried: each is an endpoint of the interface, with its body and its answer. */
export type Played = 'chat' | 'images' | 'images/edits' | 'videos';

/**
 * Runs a request as the interface does for a client whose key this is; resolves when it is
 * answered. Throws a Refusal.
 */
export type Play = (
  what: Played,
  who: Principal,
  visit: Pick<ConsoleVisit, 'id' | 'at' | 'headers' | 'body' | 'reply'>,
) => Promise<void>;

export interface PlayRooms {
  readonly database: Database;
  readonly play: Play;
  readonly playBytesMax: number;
}

const paths: readonly Played[] = ['chat', 'images', 'images/edits', 'videos'];

/**
 * The playground: the interface itself, paid by one of the user's own keys, which the page knows by
 * its id alone.
 */
export function playRows({ database, play, playBytesMax }: PlayRooms): readonly ConsoleRow[] {
  return paths.map((what) =>
    row({
      method: 'POST',
      path: `play/${what}`,
      role: 'user',
      bodyBytesMax: playBytesMax,
      perMinute: 120,
      async handle(visit): Promise<undefined> {
        const { user, headers, at } = visit;
        const id = headers['x-paying-key'];
        const who =
          typeof id === 'string'
            ? await database.snapshot(() => principalOfKey(user.id, id, at))
            : undefined;
        if (who === undefined) return fail('not_found', { param: 'x-paying-key' });
        await play(what, who, visit);
        return undefined;
      },
    }),
  );
}
