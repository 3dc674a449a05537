import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Language, languageOf } from '../language.ts';
import { sendJson } from '../send.ts';
import { simGithubApp } from './apps.ts';
import { Codes } from './codes.ts';
import { fieldsOf, isLoopback, redirect, sendHtml, sendPlayPage, withQuery } from './page.ts';

const manual =
  'https://docs.github.com/apps/managing-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/';
const people = [
  { id: 'octocat', name: 'The Octocat (octocat)' },
  { id: 'linwei', name: '林薇 (linwei)' },
];
const words = {
  en: {
    title: 'Authorize Tollgate',
    text: 'This is a simulated GitHub. Choose a user to sign in as.',
    nameless: 'A user without a name (nameless)',
    approve: 'Authorize',
    deny: 'Cancel',
  },
  zh: {
    title: '授权 Tollgate',
    text: '这是模拟的 GitHub。请选择以哪个用户登录。',
    nameless: '没有填写名字的用户 (nameless)',
    approve: '授权',
    deny: '取消',
  },
} as const satisfies Record<Language, object>;
const versions = ['2022-11-28', '2026-03-10'];

interface Grant {
  readonly login: string;
  readonly redirectUri: string;
  readonly challenge: string | undefined;
  readonly scope: string;
}

/**
 * GitHub's OAuth web flow, from
 * docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps (2026-11). A test
 * can sign in as anybody: the login determines the account's number.
 */
export class SimGithub {
  readonly #codes: Codes<Grant>;
  readonly #tokens = new Map<string, string>();

  constructor(now: () => number) {
    this.#codes = new Codes(now);
  }

  answer(incoming: IncomingMessage, response: ServerResponse, url: URL, body: Buffer): void {
    const { method } = incoming;
    const path = url.pathname.slice('/github'.length);
    if (path === '/login/oauth/authorize' && method === 'GET')
      return this.#authorize(response, url.searchParams, languageOf(incoming.headers));
    if (path === '/login/oauth/authorize' && method === 'POST')
      return this.#decide(response, fieldsOf(incoming, body));
    if (path === '/login/oauth/access_token' && method === 'POST')
      return this.#exchange(incoming, response, fieldsOf(incoming, body));
    if (path === '/api/user' && method === 'GET') return this.#user(incoming, response);
    sendJson(
      response,
      404,
      JSON.stringify({
        message: 'Not Found',
        documentation_url: 'https://docs.github.com/rest',
        status: '404',
      }),
    );
  }

  #authorize(response: ServerResponse, query: URLSearchParams, language: Language): void {
    if (!this.#isOpen(response, query)) return;
    const { nameless, ...said } = words[language];
    sendPlayPage(response, {
      ...said,
      language,
      action: '/github/login/oauth/authorize',
      fields: Object.fromEntries(query),
      people: [...people, { id: 'nameless', name: nameless }],
    });
  }

  #decide(response: ServerResponse, form: URLSearchParams): void {
    if (!this.#isOpen(response, form)) return;
    const redirectUri = form.get('redirect_uri') ?? '';
    const state = form.get('state') ?? undefined;
    if (form.get('decision') !== 'approve') {
      const error = {
        error: 'access_denied',
        error_description: 'The user has denied your application access.',
      };
      return redirect(
        response,
        withQuery(redirectUri, { ...error, error_uri: `${manual}#access-denied`, state }),
      );
    }
    const login = form.get('person') || 'octocat';
    const code = this.#codes.issue({
      login,
      redirectUri,
      challenge: form.get('code_challenge') ?? undefined,
      scope: (form.get('scope') ?? '').split(/[ ,]+/).filter(Boolean).join(','),
    });
    redirect(response, withQuery(redirectUri, { code, state }));
  }

  /** Shows an error page for an unknown application or a foreign redirect address. */
  #isOpen(response: ServerResponse, query: URLSearchParams): boolean {
    const redirectUri = query.get('redirect_uri') ?? '';
    const method = query.get('code_challenge_method');
    const challenge = query.get('code_challenge');
    if (query.get('client_id') !== simGithubApp.clientId)
      sendHtml(response, 404, 'This is not the web page you are looking for', '');
    else if (!isLoopback(redirectUri))
      sendHtml(
        response,
        400,
        'Be careful!',
        '<p>The redirect_uri is not associated with this application.</p>',
      );
    else if (
      (challenge !== null || method !== null) &&
      (method !== 'S256' || !/^[\w-]{43}$/.test(challenge ?? ''))
    )
      sendHtml(
        response,
        400,
        'Bad request',
        '<p>code_challenge_method must be S256, and code_challenge 43 characters.</p>',
      );
    else return true;
    return false;
  }

  #exchange({ headers }: IncomingMessage, response: ServerResponse, form: URLSearchParams): void {
    const outcome = this.#redeem(form);
    const members =
      typeof outcome === 'string'
        ? refusal(outcome)
        : { access_token: this.#token(outcome.login), scope: outcome.scope, token_type: 'bearer' };
    if (headers.accept?.includes('application/json') === true)
      return sendJson(response, 200, JSON.stringify(members));
    const text = new URLSearchParams(members).toString();
    response
      .writeHead(200, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' })
      .end(text);
  }

  #redeem(form: URLSearchParams): Grant | keyof typeof descriptions {
    const { clientId, clientSecret } = simGithubApp;
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret)
      return 'incorrect_client_credentials';
    const grant = this.#codes.redeem(form.get('code') ?? '');
    if (typeof grant === 'string') return 'bad_verification_code';
    const redirectUri = form.get('redirect_uri');
    if (redirectUri !== null && redirectUri !== grant.redirectUri) return 'redirect_uri_mismatch';
    const verifier = form.get('code_verifier') ?? '';
    const proven = createHash('sha256').update(verifier).digest('base64url');
    if (
      grant.challenge !== undefined &&
      (!/^[\w.~-]{43,128}$/.test(verifier) || proven !== grant.challenge)
    )
      return 'bad_verification_code';
    return grant;
  }

  #token(login: string): string {
    const token = `gho_${randomBytes(27).toString('base64url').replace(/[-_]/g, '0')}`;
    this.#tokens.set(token, login);
    return token;
  }

  #user({ headers }: IncomingMessage, response: ServerResponse): void {
    if (headers['user-agent'] === undefined) {
      const text =
        'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.\n';
      response.writeHead(403, { 'content-type': 'text/html' }).end(text);
      return;
    }
    const version = headers['x-github-api-version'];
    if (version !== undefined && !versions.includes(String(version)))
      return sendJson(
        response,
        400,
        JSON.stringify({ message: `The version ${String(version)} is not supported.` }),
      );
    const login = this.#tokens.get(
      /^(?:Bearer|token) (\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '',
    );
    if (login === undefined)
      return sendJson(
        response,
        401,
        JSON.stringify({
          message: 'Bad credentials',
          documentation_url: 'https://docs.github.com/rest',
          status: '401',
        }),
      );
    sendJson(response, 200, JSON.stringify(account(login)), {
      'x-github-media-type': 'github.v3; format=json',
    });
  }
}

const descriptions = {
  incorrect_client_credentials: 'The client_id and/or client_secret passed are incorrect.',
  bad_verification_code: 'The code passed is incorrect or expired.',
  redirect_uri_mismatch:
    'The redirect_uri MUST match the registered callback URL for this application.',
} as const;

const refusal = (error: keyof typeof descriptions) => ({
  error,
  error_description: descriptions[error],
  error_uri: `${manual}#${error.replaceAll('_', '-')}`,
});

function account(login: string): object {
  const id =
    login === 'octocat' ? 583_231 : createHash('sha256').update(login).digest().readUInt32BE();
  const names: Readonly<Record<string, string | null>> = {
    octocat: 'The Octocat',
    linwei: '林薇',
    nameless: null,
  };
  return {
    login,
    id,
    node_id: Buffer.from(`04:User${id}`).toString('base64'),
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    type: 'User',
    site_admin: false,
    name: login in names ? names[login] : login,
    email: null,
    created_at: '2011-01-25T18:44:36Z',
  };
}
