import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { simWechatApp, simWechatLoner } from './apps.ts';
import { Codes } from './codes.ts';
import { fieldsOf, isLoopback, redirect, sendHtml, sendPlayPage, withQuery } from './page.ts';

const apps = [simWechatApp, simWechatLoner];
const tokenLifeMs = 7_200_000;
const people = [
  { id: 'chen', name: '陈晨' },
  { id: 'lin', name: '小林' },
  { id: 'blank', name: '（没有昵称）' },
];
/** The parameters of an authorization request, in the order of WeChat's documents. */
const order = ['appid', 'redirect_uri', 'response_type', 'scope', 'state'];

const complaints = {
  40001: 'invalid credential, access_token is invalid or not latest',
  40002: 'invalid grant_type',
  40003: 'invalid openid',
  40013: 'invalid appid',
  40029: 'invalid code',
  40125: 'invalid appsecret',
  40163: 'code been used',
  41008: 'missing code',
  42001: 'access_token expired',
} as const;

interface Grant {
  readonly appId: string;
  readonly person: string;
}

/**
 * WeChat's sign-in for websites (developers.weixin.qq.com, 2026-11): a QR code, a code, two calls.
 * A test can sign in as anybody.
 */
export class SimWechat {
  readonly #now: () => number;
  readonly #codes: Codes<Grant>;
  readonly #tokens = new Map<string, Grant & { readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
    this.#codes = new Codes(now);
  }

  answer(incoming: IncomingMessage, response: ServerResponse, url: URL, body: Buffer): void {
    const path = url.pathname.slice('/weixin'.length);
    const { method } = incoming;
    if (path === '/open/connect/qrconnect' && method === 'GET')
      return this.#show(response, url.searchParams);
    if (path === '/open/connect/qrconnect' && method === 'POST')
      return this.#decide(response, fieldsOf(incoming, body));
    if (path === '/api/sns/oauth2/access_token' && method === 'GET')
      return this.#exchange(response, url.searchParams);
    if (path === '/api/sns/userinfo' && method === 'GET')
      return this.#profile(response, url.searchParams);
    response.writeHead(404).end();
  }

  #show(response: ServerResponse, query: URLSearchParams): void {
    const wrong = complaintOf(query);
    // WeChat's error page also has status 200.
    if (wrong !== undefined) return sendHtml(response, 200, '出错了', `<p>${wrong}</p>`);
    sendPlayPage(response, {
      language: 'zh',
      title: '微信登录',
      text: '这是模拟的微信：选择由谁扫码。',
      action: '/weixin/open/connect/qrconnect',
      fields: Object.fromEntries(query),
      people,
      approve: '扫码并同意',
      deny: '取消',
      drawing: drawing(query.get('state') ?? ''),
    });
  }

  #decide(response: ServerResponse, form: URLSearchParams): void {
    const wrong = complaintOf(form);
    if (wrong !== undefined) return sendHtml(response, 200, '出错了', `<p>${wrong}</p>`);
    const redirectUri = form.get('redirect_uri') ?? '';
    const state = form.get('state') ?? undefined;
    // After a refusal the browser returns without a code and without an error.
    const approved = form.get('decision') === 'approve';
    const code = approved
      ? this.#codes.issue({ appId: form.get('appid') ?? '', person: form.get('person') || 'chen' })
      : undefined;
    redirect(response, withQuery(redirectUri, { code, state }));
  }

  #exchange(response: ServerResponse, query: URLSearchParams): void {
    const app = apps.find(({ appId }) => appId === query.get('appid'));
    if (app === undefined) return complain(response, 40013);
    if (query.get('secret') !== app.appSecret) return complain(response, 40125);
    if (query.get('grant_type') !== 'authorization_code') return complain(response, 40002);
    const code = query.get('code');
    if (code === null || code === '') return complain(response, 41008);
    const grant = this.#codes.redeem(code);
    if (grant === 'used') return complain(response, 40163);
    if (grant === 'unknown' || grant.appId !== app.appId) return complain(response, 40029);
    const token = `94_${randomBytes(48).toString('base64url')}`;
    this.#tokens.set(token, { ...grant, until: this.#now() + tokenLifeMs });
    const ids = { openid: openIdOf(grant), ...unionIdOf(grant) };
    sendValue(response, {
      access_token: token,
      expires_in: tokenLifeMs / 1_000,
      refresh_token: `94_${randomBytes(48).toString('base64url')}`,
      scope: 'snsapi_login',
      ...ids,
    });
  }

  #profile(response: ServerResponse, query: URLSearchParams): void {
    const grant = this.#tokens.get(query.get('access_token') ?? '');
    if (grant === undefined) return complain(response, 40001);
    if (grant.until <= this.#now()) return complain(response, 42001);
    if (query.get('openid') !== openIdOf(grant)) return complain(response, 40003);
    const nicknames: Readonly<Record<string, string>> = { chen: '陈晨', lin: '小林', blank: '' };
    sendValue(response, {
      openid: openIdOf(grant),
      nickname: nicknames[grant.person] ?? grant.person,
      sex: 0,
      language: '',
      city: '',
      province: '',
      country: '',
      headimgurl: `https://thirdwx.qlogo.cn/mmopen/vi_32/${grant.person}/132`,
      privilege: [],
      ...unionIdOf(grant),
    });
  }
}

function complaintOf(query: URLSearchParams): string | undefined {
  const names = [...query.keys()].filter((name) => order.includes(name));
  if (!apps.some(({ appId }) => appId === query.get('appid'))) return 'AppID 参数错误';
  if (!isLoopback(query.get('redirect_uri') ?? '')) return 'redirect_uri 参数错误 (10003)';
  if (query.get('response_type') !== 'code' || names.join() !== order.join()) return '参数错误';
  if (query.get('scope') !== 'snsapi_login') return 'Scope 参数错误或没有 Scope 权限 (10005)';
  return (query.get('state') ?? '').length > 128 ? 'state 参数过长' : undefined;
}

/** A person's openid differs between applications. */
const openIdOf = ({ appId, person }: Grant): string =>
  `o6_${createHash('sha256').update(`${appId}/${person}`).digest('base64url').slice(0, 25)}`;

const unionIdOf = ({ appId, person }: Grant): { readonly unionid?: string } =>
  appId === simWechatLoner.appId
    ? {}
    : {
        unionid: `o6_${createHash('sha256').update(`union/${person}`).digest('base64url').slice(0, 25)}`,
      };

/** JSON with the content type of plain text. */
function sendValue(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'text/plain' }).end(JSON.stringify(value));
}

function complain(response: ServerResponse, errcode: keyof typeof complaints): void {
  sendValue(response, {
    errcode,
    errmsg: `${complaints[errcode]}, rid: ${randomBytes(8).toString('hex')}`,
  });
}

/** An image that looks like a QR code, but cannot be scanned. */
function drawing(text: string): string {
  const bits = createHash('sha512').update(text).digest();
  const squares = Array.from({ length: 441 }, (_, i) => i).filter(
    (i) => ((bits[(i >> 3) % 64] ?? 0) >> (i & 7)) & 1,
  );
  const path = squares.map((i) => `M${i % 21} ${Math.floor(i / 21)}h1v1h-1z`).join('');
  return `<svg viewBox="-1 -1 23 23" role="img" aria-label="QR"><path d="${path}"/></svg>`;
}
