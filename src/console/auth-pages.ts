import { createHash } from 'node:crypto';
import { escapeHtml, folded } from '../base/html.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { linkHolder } from '../accounts/identities.ts';
import { resumeSession } from '../accounts/sessions.ts';
import { requestId } from '../base/random.ts';
import { cookieIn, setCookie } from '../http/cookies.ts';
import { attemptLifeMs } from '../accounts/sign-in-attempts.ts';
import { browserSecret } from '../signin/pkce.ts';
import { sessionCookie, sessionSecretIn } from '../signin/session-cookie.ts';
import type { SigninOutcome, Signin, SigninFailure, Visitor } from '../signin/signin.ts';
import { nextPath, networkKeyOf } from '../signin/site.ts';
import { isAway } from '../storage/database.ts';
import { languageOf } from './language.ts';
import { type ConsoleContext, frameworkProblem } from './server.ts';

/**
 * Requests per minute and address to begin a sign-in, to return from a provider or to open a link.
 */
const perMinute = 30;
const formBytesMax = 4_096;

export interface AuthContext extends ConsoleContext {
  readonly signin: Signin;
}

/**
 * Addresses that the browser itself opens, not the console's page: the way to a provider, the way
 * back, and the one-time link.
 */
const authPaths = ['/auth/:provider/start', '/auth/:provider/callback', '/auth/link'] as const;

export async function openAuth(server: FastifyInstance, context: AuthContext): Promise<void> {
  const handlers = new AuthHandlers(context);
  const [start, callback, link] = authPaths;
  await server.register((scope, _options, done) => {
    scope.addHook('onRequest', handlers.enter);
    scope.setErrorHandler((error, request, reply) => handlers.broken(error, request, reply));
    // A preview with HEAD must not begin or end anything.
    const quiet = { exposeHeadRoute: false, bodyLimit: formBytesMax };
    scope.get(start, quiet, handlers.start);
    scope.get(callback, quiet, handlers.callback);
    scope.get(link, quiet, handlers.showLink);
    scope.post(link, quiet, handlers.useLink);
    done();
  });
}

class AuthHandlers {
  readonly #context: AuthContext;

  constructor(context: AuthContext) {
    this.#context = context;
  }

  readonly enter = async ({ headers, raw }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { limiter, site } = this.#context;
    // `same-origin`: with a stricter policy browsers would hide from us where a form comes from.
    reply.headers({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    const ip = site.addressOf(raw.socket.remoteAddress, headers);
    const pass = limiter.enter(
      `sign-in ${networkKeyOf(ip)}`,
      { rpm: perMinute, tpm: undefined, concurrency: undefined },
      0,
    );
    if ('limitOf' in pass) {
      const seconds = Math.max(1, Math.ceil(pass.retryAfterMs / 1_000));
      await reply
        .code(429)
        .header('retry-after', String(seconds))
        .type('text/plain; charset=utf-8')
        .send('Too many requests. Please wait a minute.\n请求过于频繁，请稍候再试。\n');
      return;
    }
    pass.finish(0);
  };

  readonly start = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { clock, site, signin } = this.#context;
    const provider = providerOf(request);
    const next = nextPath(queryOf(request).get('next'));
    const kept = browserSecretIn(request.headers.cookie, site.secure);
    const redirectUri = this.#redirectUri(provider, request);
    const address = await signin.begin(provider, { next, kept, redirectUri, at: clock.now() });
    if (address === undefined) return this.#failed(reply, 'not_offered', false, next);
    return reply.header('set-cookie', browserCookie(kept, site.secure)).redirect(address, 302);
  };

  readonly callback = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { database, signin, site } = this.#context;
    const query = queryOf(request);
    const provider = providerOf(request);
    const visitor = this.#visitor(request);
    const { former: secret, ip, at } = visitor;
    const back = {
      state: query.get('state') ?? '',
      code: query.get('code') || undefined,
      error: query.get('error') || undefined,
      kept: browserSecretIn(request.headers.cookie, site.secure),
      redirectUri: this.#redirectUri(provider, request),
      signedIn:
        secret === undefined ? undefined : await resumeSession(database, { secret, ip, at }),
    };
    return this.#sendOutcome(reply, await signin.finish(provider, back, visitor));
  };

  /**
   * A preview of the link (by a chat or a mail scanner) does not use it up: that takes the page's
   * button.
   */
  readonly showLink = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const token = queryOf(request).get('token') ?? '';
    const holder = await linkHolder(this.#context.database, token, this.#context.clock.now());
    return this.#page(
      request,
      reply,
      holder === undefined ? 'gone' : { token, name: holder.name, role: holder.role },
    );
  };

  readonly useLink = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { signin, site } = this.#context;
    if (!site.isOwn(request.headers))
      return this.#page(request, reply, { signsInAt: site.publicUrl });
    const token =
      new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '').get(
        'token',
      ) ?? '';
    const admitted = await signin.byLink(token, this.#visitor(request));
    if (admitted === undefined) return this.#page(request, reply, 'gone');
    if (admitted === 'suspended') return this.#failed(reply, 'suspended', false, '/');
    return reply
      .header('set-cookie', sessionCookie(admitted.secret, site.secure))
      .redirect(admitted.role === 'operator' ? '/operator' : '/', 303);
  };

  readonly broken = (
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply => {
    // No form of ours is too large or of another type: it holds no link.
    if (frameworkProblem(error) !== undefined) return this.#page(request, reply, 'gone');
    if (!isAway(error)) this.#context.log.bug(requestId(this.#context.clock.now()), error);
    return this.#failed(reply, 'unavailable', false, '/');
  };

  #sendOutcome(reply: FastifyReply, outcome: SigninOutcome): FastifyReply {
    const { secure } = this.#context.site;
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

  #page({ headers }: FastifyRequest, reply: FastifyReply, link: LinkState): FastifyReply {
    return reply
      .code(link === 'gone' ? 410 : 'signsInAt' in link ? 403 : 200)
      .header('content-security-policy', linkPolicy)
      .type('text/html; charset=utf-8')
      .send(linkPage(link, languageOf(headers)));
  }

  #visitor({ headers, raw }: FastifyRequest): Visitor {
    const { clock, site } = this.#context;
    const ip = site.addressOf(raw.socket.remoteAddress, headers);
    return {
      browser: headers['user-agent'] ?? '',
      ip,
      at: clock.now(),
      former: sessionSecretIn(headers, site.secure),
    };
  }

  #redirectUri(provider: string, { headers }: FastifyRequest): string {
    return `${this.#context.site.urlFor(headers)}/auth/${provider}/callback`;
  }
}

const keptName = (secure: boolean): string =>
  secure ? '__Host-tollgate-signin' : 'tollgate-signin';

/** The cookie that binds a sign-in to the browser that began it. */
export function browserCookie(value: string, secure: boolean): string {
  return setCookie({ name: keptName(secure), value, secure, seconds: attemptLifeMs / 1_000 });
}

/** The secret in that cookie, or a new one. */
export const browserSecretIn = (cookie: string | undefined, secure: boolean): string =>
  browserSecret(cookieIn(cookie, keptName(secure)));

const queryOf = ({ url }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(url.split('?', 2)[1]);

function providerOf({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'provider' in params
    ? String(params.provider)
    : '';
}

const linkStyle = folded`
:root {
  color-scheme: light dark;
  --canvas: #f7f8fa;
  --surface: #fff;
  --text: #14171f;
  --muted: #565e6e;
  --line: #dde1e8;
  --accent: #2552c8;
  --on-accent: #fff }
@media (prefers-color-scheme: dark) {
  :root {
    --canvas: #0e1116;
    --surface: #161a21;
    --text: #ebeef3;
    --muted: #a3abb9;
    --line: #2a303b;
    --accent: #8fb0ff;
    --on-accent: #0e1116 } }
body {
  margin: 0;
  min-height: 100vh;
  display: grid;
  place-items: center;
  background: var(--canvas);
  color: var(--text);
  font: 14px/22px system-ui, -apple-system, "Segoe UI", Roboto, "PingFang SC",
    "Microsoft YaHei UI", "Noto Sans CJK SC", sans-serif }
main {
  box-sizing: border-box;
  width: min(360px, calc(100vw - 32px));
  padding: 24px;
  background: var(--surface);
  border: 1px solid var(--line);
  border-radius: 8px }
h1 { margin: 0 0 8px; font-size: 20px; line-height: 28px; font-weight: 600 }
p { margin: 0 0 24px; color: var(--muted) }
p:last-child { margin: 0 }
button {
  width: 100%;
  min-height: 44px;
  border: 0;
  border-radius: 6px;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 500;
  cursor: pointer }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`;

/** Allows only this one style, and forms to this gateway. */
const linkPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(linkStyle).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const linkTexts = {
  zh: {
    lang: 'zh-CN',
    title: '登录 Tollgate',
    as: { user: '以“{name}”的身份登录。', operator: '以管理员“{name}”的身份登录。' },
    once: '此链接只能使用一次。',
    enter: '登录',
    gone: '此链接已使用或已过期。在服务器上运行 tollgate link --user ID 可以生成新的链接。',
    elsewhere:
      '只能在 {address} 登录。请把此链接中 /auth/link 之前的部分换成这个地址，再打开一次。',
    unknown:
      '网关不知道自己的地址，因此没有登录。请在这里重新打开链接，按页面上的按钮；网关前面有代理时，请设置 PUBLIC_URL。',
  },
  en: {
    lang: 'en',
    title: 'Sign in to Tollgate',
    as: {
      user: 'Sign in as “{name}”.',
      operator: 'Sign in as “{name}”, an operator.',
    },
    once: 'This link works once.',
    enter: 'Sign in',
    gone: 'This link was used or has expired. Make a new one on the server: tollgate link --user ID',
    elsewhere:
      'Sign-in works at {address} only. Put this address in place of what stands before /auth/link in the link, and open it again.',
    unknown:
      'You are not signed in: the gateway does not know that this address is its own. Open the link again and press its button. Behind a proxy, set PUBLIC_URL.',
  },
} as const;

/** A link that works: `token` has only letters and digits. */
interface OpenLink {
  readonly token: string;
  /** The name of the user that the link signs in. */
  readonly name: string;
  readonly role: 'user' | 'operator';
}

/**
 * `gone`: used up, expired or never issued. `signsInAt`: the only address where links work;
 * undefined: none is configured.
 */
type LinkState = OpenLink | 'gone' | { readonly signsInAt: string | undefined };

/** The page behind a one-time link, HTML. */
function linkPage(link: LinkState, language: 'zh' | 'en'): string {
  const { lang, title } = linkTexts[language];
  const content = linkContent(link, linkTexts[language]);
  return folded`<!doctype html>
    <html lang="${lang}">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="robots" content="noindex">
        <title>${title}</title>
        <style>${linkStyle}</style>
      </head>
      <body><main><h1>${title}</h1>${content}</main></body>
    </html>`;
}

function linkContent(
  link: LinkState,
  { as, once, enter, gone, elsewhere, unknown }: (typeof linkTexts)['zh' | 'en'],
): string {
  if (link === 'gone') return `<p>${gone}</p>`;
  if ('signsInAt' in link) {
    const { signsInAt: address } = link;
    if (address === undefined) return `<p>${unknown}</p>`;
    return `<p>${elsewhere.replace('{address}', () => escapeHtml(address))}</p>`;
  }
  return folded`
    <p>${as[link.role].replace('{name}', () => escapeHtml(link.name))} ${once}</p>
    <form method="post" action="/auth/link">
      <input type="hidden" name="token" value="${link.token}">
      <button autofocus>${enter}</button>
    </form>`;
}
