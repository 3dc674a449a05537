import * as z from 'zod';
import { plainName } from '../accounts/name.ts';
import { ask } from './ask.ts';
import type { Provider } from './provider.ts';
import type { GithubSettings } from './settings.ts';

const userAgent = 'tollgate';

/**
 * docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps, 2026-11: it
 * answers 200 with `error` where it refuses.
 */
const refusedCode = z.object({ error: z.string() }).transform(({ error }) => error);
const token = z.object({ access_token: z.string().min(1) });
const refusedToken = z.object({ message: z.string() }).transform(({ message }) => message);
/** A login can be given up and taken by another; the number cannot. */
const account = z.object({
  id: z.number().int().positive(),
  login: z.string().min(1),
  name: z.string().nullish(),
});

/**
 * Sign-in with GitHub's OAuth web flow, with PKCE. Nothing but who it is, is asked for: no scope.
 */
export function github({ clientId, clientSecret, baseUrl, apiUrl }: GithubSettings): Provider {
  return {
    name: 'github',
    address({ state, challenge, redirectUri }) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        allow_signup: 'true',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      return `${baseUrl}/login/oauth/authorize?${query.toString()}`;
    },
    async person({ code, verifier, redirectUri }) {
      const exchanged = await ask({
        method: 'POST',
        url: `${baseUrl}/login/oauth/access_token`,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'user-agent': userAgent,
        },
        body: JSON.stringify({
          client_id: clientId,
          client_secret: clientSecret,
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
        }),
        answer: token,
        refused: refusedCode,
      });
      if ('fault' in exchanged) return exchanged;
      const found = await ask({
        method: 'GET',
        url: `${apiUrl}/user`,
        headers: {
          authorization: `Bearer ${exchanged.answer.access_token}`,
          accept: 'application/vnd.github+json',
          'x-github-api-version': '2022-11-28',
          'user-agent': userAgent,
        },
        answer: account,
        refused: refusedToken,
      });
      if ('fault' in found) return found;
      const { id, login, name } = found.answer;
      return {
        provider: 'github',
        subject: String(id),
        name: plainName(name ?? '') || plainName(login),
      };
    },
  };
}
