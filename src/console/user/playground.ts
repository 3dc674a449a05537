import type { Principal } from '../../accounts/principal.ts';
import { principalOfKey } from '../../accounts/user-keys.ts';
import type { Database } from '../../storage/database.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';

/** The endpoints of the playground: each is one of the API, with its body and its response. */
const playgroundEndpoints = [
  'chat',
  'images',
  'images/edits',
  'videos',
  'speech',
  'transcriptions',
  'embeddings',
] as const;
export type PlaygroundEndpoint = (typeof playgroundEndpoints)[number];

/**
 * Runs a request as the API does for a client with this key; resolves when the response has ended.
 * Throws a `Refusal`.
 */
export type PlaygroundCall = (
  what: PlaygroundEndpoint,
  who: Principal,
  request: Pick<SignedInRequest, 'id' | 'at' | 'headers' | 'body' | 'reply'>,
) => Promise<void>;

export interface PlaygroundContext {
  readonly database: Database;
  readonly play: PlaygroundCall;
  readonly playBytesMax: number;
}

/**
 * The playground: the API itself, paid by one of the user's own keys, which the page knows only by
 * its id.
 */
export function playgroundRoutes({
  database,
  play,
  playBytesMax,
}: PlaygroundContext): readonly ConsoleRoute[] {
  return playgroundEndpoints.map((what) =>
    defineRoute({
      method: 'POST',
      path: `play/${what}`,
      role: 'user',
      bodyBytesMax: playBytesMax,
      perMinute: 120,
      async handle(request): Promise<undefined> {
        const { owner, headers, at } = request;
        const id = headers['x-paying-key'];
        const who =
          typeof id === 'string'
            ? await database.snapshot(() => principalOfKey(owner.id, id, at))
            : undefined;
        if (who === undefined) return throwProblem('not_found', { param: 'x-paying-key' });
        await play(what, who, request);
        return undefined;
      },
    }),
  );
}
