import * as z from 'zod';
import { byUser, writeAudit } from '../../accounts/audit.ts';
import { isRemovable, listIdentities, unlinkIdentity } from '../../accounts/identities.ts';
import { endSession, listSessions } from '../../accounts/sessions.ts';
import { noSessionCookie } from '../../signin/session-cookie.ts';
import type { Signin } from '../../signin/signin.ts';
import { type Site, nextPath } from '../../signin/site.ts';
import type { Database } from '../../storage/database.ts';
import { browserCookie, browserSecretIn } from '../auth-pages.ts';
import type { DeviceView, List, IdentityView } from '../contract.ts';
import { instant } from '../format.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, defineRoute } from '../route.ts';

/** The context of both families of routes. */
export type SignInContext = SessionContext & IdentityContext;

/** The routes about sessions and sign-in methods. */
export function signInRoutes(context: SignInContext): readonly ConsoleRoute[] {
  return [...sessionRoutes(context), ...identityRoutes(context)];
}

interface SessionContext {
  readonly database: Database;
  readonly site: Site;
}

/** The browsers in which the user is signed in. `GET session` itself is in `shellRoutes`. */
export function sessionRoutes({ database, site }: SessionContext): readonly ConsoleRoute[] {
  return [
    defineRoute({
      method: 'DELETE',
      path: 'session',
      role: 'anyone',
      async handle({ caller, reply }) {
        if (caller !== undefined) await endSession(database, caller.user.id, caller.session.id);
        reply.header('set-cookie', noSessionCookie(site.secure));
      },
    }),
    defineRoute({
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
            created_at: instant(createdAt),
            seen_at: instant(seenAt),
            expires_at: instant(expiresAt),
          }),
        ),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: 'sessions/:id',
      role: 'user',
      async handle({ user, params }) {
        if (!(await endSession(database, user.id, params['id'] ?? ''))) throwProblem('not_found');
      },
    }),
  ];
}

interface IdentityContext {
  readonly database: Database;
  readonly site: Site;
  readonly signin: Signin;
}

/** The user's ways to sign in. */
export function identityRoutes({
  database,
  site,
  signin,
}: IdentityContext): readonly ConsoleRoute[] {
  const listed = (userId: string) => identitiesOf(database, userId, signin.offered);
  return [
    defineRoute({
      method: 'GET',
      path: 'identities',
      role: 'user',
      handle: ({ user }) => listed(user.id),
    }),
    defineRoute({
      method: 'POST',
      path: 'identities/:provider',
      role: 'user',
      perMinute: 10,
      input: z.object({ next: z.string('text_expected').optional() }),
      /**
       * Begins to link: the page sends the browser to `location`, and the provider sends it back to
       * `next`.
       */
      async handle({ user, params, input, headers, at, reply }) {
        const kept = browserSecretIn(headers.cookie, site.secure);
        const name = params['provider'] ?? '';
        const next = nextPath(input.next ?? '/settings');
        const redirectUri = `${site.urlFor(headers)}/auth/${name}/callback`;
        const location =
          (await signin.begin(name, { next, userId: user.id, kept, redirectUri, at })) ??
          throwProblem('not_found');
        reply.header('set-cookie', browserCookie(kept, site.secure));
        return { location };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: 'identities/:provider',
      role: 'user',
      async handle({ user, params, at, ip }) {
        const provider = params['provider'] ?? '';
        const done = await database.transact(function* () {
          const unlinked = yield* unlinkIdentity(user.id, provider, signin.offered);
          if (unlinked === 'unlinked')
            yield* writeAudit(at, {
              ...byUser(user.id, ip),
              action: 'identity.unlink',
              target: provider,
            });
          return unlinked;
        });
        if (done === 'absent') throwProblem('not_found');
        if (done === 'last') throwProblem('last_identity');
        return listed(user.id);
      },
    }),
  ];
}

async function identitiesOf(
  database: Database,
  userId: string,
  offered: ReadonlySet<string>,
): Promise<List<IdentityView>> {
  const all = await listIdentities(database, userId);
  const providers = all.map(({ provider }) => provider);
  return {
    items: all.flatMap(({ provider, name, linkedAt }) =>
      provider === 'github' || provider === 'wechat'
        ? [
            {
              provider,
              name,
              linked_at: instant(linkedAt),
              removable: isRemovable(provider, providers, offered),
            },
          ]
        : [],
    ),
  };
}
