import type { Env } from '../base/env.ts';
import type { WrittenSignin } from '../catalog/configuration.ts';

/** The configured ways to sign in. An absent one is not offered. */
export interface SigninSettings {
  readonly github?: GithubSettings;
  readonly wechat?: WechatSettings;
  /** Whether a stranger who signs in becomes a user. */
  readonly signUp: boolean;
}

export interface GithubSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The address for browsers and for the exchange of codes, without `/` at its end. */
  readonly baseUrl: string;
  readonly apiUrl: string;
}

export interface WechatSettings {
  readonly appId: string;
  readonly appSecret: string;
  /** The address that shows browsers the QR code, without `/` at its end. */
  readonly baseUrl: string;
  readonly apiUrl: string;
}

/** The configured providers. */
export const signInMethods = ({
  github,
  wechat,
}: Partial<SigninSettings> = {}): readonly ('github' | 'wechat')[] => [
  ...(wechat === undefined ? [] : ['wechat' as const]),
  ...(github === undefined ? [] : ['github' as const]),
];

const githubUrls = { baseUrl: 'https://github.com', apiUrl: 'https://api.github.com' };
const wechatUrls = { baseUrl: 'https://open.weixin.qq.com', apiUrl: 'https://api.weixin.qq.com' };

/**
 * The settings of each provider from the file, else from the environment; or a sentence about what
 * is missing.
 */
export function signinSettings(
  written: WrittenSignin | undefined,
  env: Env,
): SigninSettings | string {
  const hub = pair(env, 'GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET');
  const chat = pair(env, 'WECHAT_APP_ID', 'WECHAT_APP_SECRET');
  if (typeof hub === 'string') return hub;
  if (typeof chat === 'string') return chat;
  const signUp = env['TOLLGATE_SIGN_UP'] || 'on';
  if (signUp !== 'on' && signUp !== 'off') return `TOLLGATE_SIGN_UP is on or off, not '${signUp}'`;
  const github =
    written?.github ??
    (hub && { clientId: hub.id, clientSecret: hub.secret, ...urls(env, 'GITHUB') });
  const wechat =
    written?.wechat ?? (chat && { appId: chat.id, appSecret: chat.secret, ...urls(env, 'WECHAT') });
  return {
    ...(github && { github: { ...githubUrls, ...github } }),
    ...(wechat && { wechat: { ...wechatUrls, ...wechat } }),
    signUp: written?.signUp ?? signUp === 'on',
  };
}

function pair(
  env: Env,
  idName: string,
  secretName: string,
): { readonly id: string; readonly secret: string } | string | undefined {
  const [id, secret] = [env[idName] || undefined, env[secretName] || undefined];
  if (id === undefined && secret === undefined) return undefined;
  return id !== undefined && secret !== undefined
    ? { id, secret }
    : `${id === undefined ? idName : secretName} is missing beside ${id === undefined ? secretName : idName}`;
}

function urls(env: Env, name: string): { readonly baseUrl?: string; readonly apiUrl?: string } {
  const [baseUrl, apiUrl] = [`${name}_URL`, `${name}_API_URL`].map((variable) =>
    env[variable]?.replace(/\/+$/, ''),
  );
  return { ...(baseUrl && { baseUrl }), ...(apiUrl && { apiUrl }) };
}
