import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { linkHolder } from '../accounts/links.ts';
import { resumeSession } from '../accounts/sessions.ts';
import { attemptLifeMs, browserSecret } from '../signin/attempts.ts';
import { cookieIn, setCookie } from '../http/cookies.ts';
import { nextPath } from '../signin/next-path.ts';
import { sessionCookie, sessionSecretIn } from '../signin/session-cookie.ts';
import type { Outcome, Signin, SigninFailure, Visitor } from '../signin/signin.ts';
import { strangerAt } from '../signin/site.ts';
import { requestId } from '../base/id.ts';
import type { ConsoleRooms } from './door.ts';
import { linkPage, linkPolicy, type OpenLink } from './link-page.ts';

/** How often one address may begin, come back or open a link. */
const perMinute = 30;
const formBytesMax = 4_096;

export interface AuthRooms extends ConsoleRooms {
  readonly signin: Signin;
}

/**
 * What a browser opens rather than a page asks: away to a provider, back again, and the link that
 * works once.
 */
const authPaths = ['/auth/:provider/start', '/auth/:provider/callback', '/auth/link'] as const;

export async function openAuth(server: FastifyInstance, rooms: AuthRooms): Promise<void> {
  const desk = new AuthDesk(rooms);
  const [start, callback, link] = authPaths;
  await server.register((scope, _options, done) => {
    scope.addHook('onRequest', desk.enter);
    scope.setErrorHandler((error, request, reply) => desk.broken(error, request, reply));
    // A look ahead with HEAD must not begin or end anything.
    const quiet = { exposeHeadRoute: false, bodyLimit: formBytesMax };
    scope.get(start, quiet, desk.start);
    scope.get(callback, quiet, desk.callback);
    scope.get(link, quiet, desk.showLink);
    scope.post(link, quiet, desk.useLink);
    done();
  });
}

class AuthDesk {
  readonly #rooms: AuthRooms;

  constructor(rooms: AuthRooms) {
    this.#rooms = rooms;
  }

  readonly enter = async ({ headers, raw }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { limiter, site } = this.#rooms;
    // `same-origin`: with less, browsers would hide from us where a form comes from.
    reply.headers({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    const ip = site.addressOf(raw.socket.remoteAddress, headers);
    const pass = limiter.enter(
      `sign-in ${strangerAt(ip)}`,
      { rpm: perMinute, tpm: undefined, concurrency: undefined },
      0,
    );
    if ('over' in pass) {
      const seconds = Math.max(1, Math.ceil(pass.retryAfterMs / 1_000));
      await reply
        .code(429)
        .header('retry-after', String(seconds))
        .type('text/plain; charset=utf-8')
        .send('Too often. Please wait a minute.\n请求过于频繁，请稍后再试。\n');
      return;
    }
    pass.finish(0);
  };

  readonly start = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { clock, site, signin } = this.#rooms;
    const provider = providerOf(request);
    const next = nextPath(queryOf(request).get('next'));
    const kept = keptIn(request.headers.cookie, site.secure);
    const redirectUri = this.#redirectUri(provider, request);
    const address = await signin.begin(provider, { next, kept, redirectUri, at: clock.now() });
    if (address === undefined) return this.#failed(reply, 'not_offered', false, next);
    return reply.header('set-cookie', keptCookie(kept, site.secure)).redirect(address, 302);
  };

  readonly callback = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { database, signin, site } = this.#rooms;
    const query = queryOf(request);
    const provider = providerOf(request);
    const visitor = this.#visitor(request);
    const { former: secret, ip, at } = visitor;
    const back = {
      state: query.get('state') ?? '',
      code: query.get('code') || undefined,
      kept: keptIn(request.headers.cookie, site.secure),
      redirectUri: this.#redirectUri(provider, request),
      signedIn:
        secret === undefined ? undefined : await resumeSession(database, { secret, ip, at }),
    };
    return this.#tell(reply, await signin.finish(provider, back, visitor));
  };

  /**
   * Whoever looks at a link ahead of its reader (a chat, a mail scanner) does not use it up: that
   * takes the page's button.
   */
  readonly showLink = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const token = queryOf(request).get('token') ?? '';
    const holder = await linkHolder(this.#rooms.database, token, this.#rooms.clock.now());
    return this.#page(request, reply, holder && { token, name: holder.name, role: holder.role });
  };

  readonly useLink = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { signin, site } = this.#rooms;
    if (!site.isOwn(request.headers)) return this.#page(request, reply, undefined);
    const token =
      new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '').get(
        'token',
      ) ?? '';
    const admitted = await signin.byLink(token, this.#visitor(request));
    if (admitted === undefined) return this.#page(request, reply, undefined);
    if (admitted === 'suspended') return this.#failed(reply, 'suspended', false, '/');
    return reply
      .header('set-cookie', sessionCookie(admitted.secret, site.secure))
      .redirect('/', 303);
  };

  readonly broken = (
    error: unknown,
    _request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply => {
    this.#rooms.log.bug(requestId(this.#rooms.clock.now()), error);
    return this.#failed(reply, 'unavailable', false, '/');
  };

  #tell(reply: FastifyReply, outcome: Outcome): FastifyReply {
    const { secure } = this.#rooms.site;
    const { next } = outcome;
    if (outcome.done === 'failed') return this.#failed(reply, outcome.why, outcome.linking, next);
    if (outcome.done === 'signed in')
      reply.header('set-cookie', sessionCookie(outcome.secret, secure));
    return reply.redirect(next, 302);
  }

  #failed(
    reply: FastifyReply,
    why: SigninFailure | 'not_offered',
    linking: boolean,
    next: string,
  ): FastifyReply {
    const query = new URLSearchParams({ error: why, ...(next === '/' ? {} : { next }) });
    return reply.redirect(`${linking ? '/settings' : '/sign-in'}?${query.toString()}`, 302);
  }

  #page(
    { headers }: FastifyRequest,
    reply: FastifyReply,
    link: OpenLink | undefined,
  ): FastifyReply {
    const chinese = /^\s*zh/i.test(headers['accept-language'] ?? '');
    return reply
      .code(link === undefined ? 410 : 200)
      .header('content-security-policy', linkPolicy)
      .type('text/html; charset=utf-8')
      .send(linkPage(link, chinese ? 'zh' : 'en'));
  }

  #visitor({ headers, raw }: FastifyRequest): Visitor {
    const { clock, site } = this.#rooms;
    const ip = site.addressOf(raw.socket.remoteAddress, headers);
    return {
      browser: headers['user-agent'] ?? '',
      ip,
      at: clock.now(),
      former: sessionSecretIn(headers, site.secure),
    };
  }

  #redirectUri(provider: string, { headers }: FastifyRequest): string {
    return `${this.#rooms.site.urlFor(headers)}/auth/${provider}/callback`;
  }
}

const keptName = (secure: boolean): string =>
  secure ? '__Host-tollgate-signin' : 'tollgate-signin';

/** What binds a sign-in to the browser that began it. */
export function keptCookie(value: string, secure: boolean): string {
  return setCookie({ name: keptName(secure), value, secure, seconds: attemptLifeMs / 1_000 });
}

/** What it keeps for that, or something new. */
export const keptIn = (cookie: string | undefined, secure: boolean): string =>
  browserSecret(cookieIn(cookie, keptName(secure)));

const queryOf = ({ url }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(url.split('?', 2)[1]);

function providerOf({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'provider' in params
    ? String(params.provider)
    : '';
}
