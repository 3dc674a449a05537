import * as z from 'zod';
import { writeAudit } from '../accounts/audit.ts';
import { listIdentities, unlinkIdentity } from '../accounts/identities.ts';
import { nextPath } from '../signin/next-path.ts';
import type { Signin } from '../signin/signin.ts';
import type { Site } from '../signin/site.ts';
import type { Database } from '../storage/database.ts';
import { keptCookie, keptIn } from './auth-pages.ts';
import type { IdentityView, List } from './contract.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, row } from './row.ts';

export interface IdentityRooms {
  readonly database: Database;
  readonly site: Site;
  readonly signin: Signin;
}

/** The ways in which a user signs in. */
export function identityRows({ database, site, signin }: IdentityRooms): readonly ConsoleRow[] {
  const listed = async (userId: string): Promise<List<IdentityView>> => {
    const all = await listIdentities(database, userId);
    return {
      items: all.flatMap(({ provider, name, linkedAt }) =>
        provider === 'github' || provider === 'wechat'
          ? [
              {
                provider,
                name,
                linked_at: new Date(linkedAt).toISOString(),
                removable: all.length > 1,
              },
            ]
          : [],
      ),
    };
  };
  return [
    row({ method: 'GET', path: 'identities', role: 'user', handle: ({ user }) => listed(user.id) }),
    row({
      method: 'POST',
      path: 'identities/:provider',
      role: 'user',
      perMinute: 10,
      input: z.object({ next: z.string('text_expected').optional() }),
      /**
       * Begins to link: the page sends the browser to `location`, from where it comes back to
       * `next`.
       */
      async handle({ user, params, input, headers, at, reply }) {
        const kept = keptIn(headers.cookie, site.secure);
        const name = params['provider'] ?? '';
        const next = nextPath(input.next ?? '/settings');
        const redirectUri = `${site.urlFor(headers)}/auth/${name}/callback`;
        const location =
          (await signin.begin(name, { next, userId: user.id, kept, redirectUri, at })) ??
          fail('not_found');
        reply.header('set-cookie', keptCookie(kept, site.secure));
        return { location };
      },
    }),
    row({
      method: 'DELETE',
      path: 'identities/:provider',
      role: 'user',
      async handle({ user, params, at, ip }) {
        const provider = params['provider'] ?? '';
        const done = await database.transact(function* () {
          const unlinked = yield* unlinkIdentity(user.id, provider);
          const by = { actorKind: 'user', actor: user.id, account: user.id, ip } as const;
          if (unlinked === 'unlinked')
            yield* writeAudit(at, { ...by, action: 'identity.unlink', target: provider });
          return unlinked;
        });
        if (done === 'absent') fail('not_found');
        if (done === 'last') fail('last_identity');
        return listed(user.id);
      },
    }),
  ];
}
