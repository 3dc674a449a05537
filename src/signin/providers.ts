import * as z from 'zod';
import type { ProviderProfile } from '../accounts/identities.ts';
import { plainName } from '../accounts/text-fields.ts';
import { callControl, userAgent } from '../http/control-call.ts';
import type { GithubSettings, WechatSettings } from './settings.ts';
import { messageOf } from '../base/thrown.ts';

/** The parameters for the provider at the start of a sign-in. */
export interface AuthorizationRequest {
  /** Comes back unchanged. */
  readonly state: string;
  /** The PKCE challenge (S256), for providers that take one. */
  readonly challenge: string;
  readonly redirectUri: string;
}

/** The parameters for the provider at the end of a sign-in. */
export interface AuthorizationCallback {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/**
 * The provider refused the code (it was used, has expired, or is another application's), or could
 * not be reached. `why` is for the log.
 */
export interface ProviderFault {
  readonly fault: 'refused' | 'unreachable';
  readonly why: string;
}

/** A provider of sign-ins. */
export interface Provider {
  readonly name: 'github' | 'wechat';
  /** The address to which the browser is sent. */
  address(start: AuthorizationRequest): string;
  /** Finds out which person came back. Never throws. */
  person(back: AuthorizationCallback): Promise<ProviderProfile | ProviderFault>;
}

/** A call to a provider, and what its answer must hold. */
interface ProviderCall<Answer> {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answer: z.ZodType<Answer>;
  /** The schema of a refusal in place of an answer: the provider's own error code or message. */
  readonly refused: z.ZodType<string>;
}

const statusOver = 500;

/**
 * Calls the provider once. Providers send many refusals with status 200, so the members decide. No
 * secret is in `why`.
 */
export async function askProvider<Answer>({
  url,
  answer,
  refused,
  ...call
}: ProviderCall<Answer>): Promise<{ readonly answer: Answer } | ProviderFault> {
  const { origin, pathname } = new URL(url);
  const where = `${call.method} ${origin}${pathname}`;
  try {
    const { status, bytes } = await callControl(url, call);
    if (status >= statusOver) return { fault: 'unreachable', why: `${where} answered ${status}` };
    const json: unknown = JSON.parse(bytes.toString('utf8'));
    const no = refused.safeParse(json);
    if (no.success) return { fault: 'refused', why: `${where} answered ${status} ${no.data}` };
    const read = answer.safeParse(json);
    if (read.success && status === 200) return { answer: read.data };
    return { fault: 'unreachable', why: `${where} answered ${status} without what was asked for` };
  } catch (error) {
    return {
      fault: 'unreachable',
      why: `${where}: ${messageOf(error)}`,
    };
  }
}

/**
 * docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps, 2026-11: it
 * answers 200 with `error` where it refuses.
 */
const githubErrorCode = z.object({ error: z.string() }).transform(({ error }) => error);
const githubToken = z.object({ access_token: z.string().min(1) });
const githubErrorMessage = z.object({ message: z.string() }).transform(({ message }) => message);
/** A login can be given up and taken by another; the number cannot. */
const githubAccount = z.object({
  id: z.number().int().positive(),
  login: z.string().min(1),
  name: z.string().nullish(),
});

/**
 * Sign-in with GitHub's OAuth web flow, with PKCE. It requests no scope: the identity is enough.
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
      const exchanged = await askProvider({
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
        answer: githubToken,
        refused: githubErrorCode,
      });
      if ('fault' in exchanged) return exchanged;
      const found = await askProvider({
        method: 'GET',
        url: `${apiUrl}/user`,
        headers: {
          authorization: `Bearer ${exchanged.answer.access_token}`,
          accept: 'application/vnd.github+json',
          'x-github-api-version': '2022-11-28',
          'user-agent': userAgent,
        },
        answer: githubAccount,
        refused: githubErrorMessage,
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

/**
 * developers.weixin.qq.com, website sign-in, 2026-11: refusals are 200 with `errcode`, and
 * responses declare text/plain.
 */
const wechatError = z
  .object({ errcode: z.number().refine((code) => code !== 0) })
  .transform(({ errcode }) => String(errcode));
const wechatToken = z.object({ access_token: z.string().min(1), openid: z.string().min(1) });
const wechatProfile = z.object({
  openid: z.string().min(1),
  nickname: z.string(),
  unionid: z.string().nullish(),
});

/**
 * Sign-in by a QR code that is scanned with WeChat. WeChat has no PKCE: the state alone binds a
 * code to its browser.
 */
export function wechat({ appId, appSecret, baseUrl, apiUrl }: WechatSettings): Provider {
  const get = <Answer>(
    path: string,
    query: Readonly<Record<string, string>>,
    answer: z.ZodType<Answer>,
  ) =>
    askProvider({
      method: 'GET',
      url: `${apiUrl}${path}?${new URLSearchParams(query).toString()}`,
      headers: {},
      answer,
      refused: wechatError,
    });
  return {
    name: 'wechat',
    address({ state, redirectUri }) {
      // The parameters are in the order of WeChat's page, where the order is said to matter.
      const query = `appid=${encodeURIComponent(appId)}&redirect_uri=${encodeURIComponent(redirectUri)}&response_type=code&scope=snsapi_login&state=${encodeURIComponent(state)}`;
      return `${baseUrl}/connect/qrconnect?${query}#wechat_redirect`;
    },
    async person({ code }) {
      const exchanged = await get(
        '/sns/oauth2/access_token',
        { appid: appId, secret: appSecret, code, grant_type: 'authorization_code' },
        wechatToken,
      );
      if ('fault' in exchanged) return exchanged;
      const { access_token, openid } = exchanged.answer;
      const found = await get(
        '/sns/userinfo',
        { access_token, openid, lang: 'zh_CN' },
        wechatProfile,
      );
      if ('fault' in found) return found;
      const { nickname, unionid } = found.answer;
      // One person has an openid with each application, and one unionid with all of a company's,
      // once those are joined.
      const here = `${appId}:${openid}`;
      const name = plainName(nickname) || '微信用户';
      return unionid
        ? { provider: 'wechat', subject: unionid, formerly: here, name }
        : { provider: 'wechat', subject: here, name };
    },
  };
}
