import * as z from 'zod';
import { plainName } from '../accounts/name.ts';
import { ask } from './ask.ts';
import type { Provider } from './provider.ts';
import type { WechatSettings } from './settings.ts';

/**
 * developers.weixin.qq.com, website sign-in, 2026-11: refusals are 200 with `errcode`, and answers
 * say text/plain.
 */
const refused = z
  .object({ errcode: z.number().refine((code) => code !== 0) })
  .transform(({ errcode }) => String(errcode));
const token = z.object({ access_token: z.string().min(1), openid: z.string().min(1) });
const profile = z.object({
  openid: z.string().min(1),
  nickname: z.string(),
  unionid: z.string().nullish(),
});

/**
 * Sign-in by a QR code that is scanned with WeChat. It knows no PKCE: the state alone binds a code
 * to its browser.
 */
export function wechat({ appId, appSecret, baseUrl, apiUrl }: WechatSettings): Provider {
  const get = <Answer>(
    path: string,
    query: Readonly<Record<string, string>>,
    answer: z.ZodType<Answer>,
  ) =>
    ask({
      method: 'GET',
      url: `${apiUrl}${path}?${new URLSearchParams(query).toString()}`,
      headers: {},
      answer,
      refused,
    });
  return {
    name: 'wechat',
    address({ state, redirectUri }) {
      // The members stand in the order of its page, which is said to matter.
      const query = `appid=${encodeURIComponent(appId)}&redirect_uri=${encodeURIComponent(redirectUri)}&response_type=code&scope=snsapi_login&state=${encodeURIComponent(state)}`;
      return `${baseUrl}/connect/qrconnect?${query}#wechat_redirect`;
    },
    async person({ code }) {
      const exchanged = await get(
        '/sns/oauth2/access_token',
        { appid: appId, secret: appSecret, code, grant_type: 'authorization_code' },
        token,
      );
      if ('fault' in exchanged) return exchanged;
      const { access_token, openid } = exchanged.answer;
      const found = await get('/sns/userinfo', { access_token, openid, lang: 'zh_CN' }, profile);
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
