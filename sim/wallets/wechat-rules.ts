import { isIP } from 'node:net';
import { holds } from './keys.ts';
import type { WalletCall } from './reply.ts';
import type { Trade } from './trade.ts';
import type { WechatKeys } from './wechat-seal.ts';

export interface WechatRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export const no = (status: number, code: string, message: string): WechatRefusal => ({
  status,
  code,
  message,
});
const parameter = (message: string): WechatRefusal => no(400, 'PARAM_ERROR', message);

const toleranceSeconds = 300;

/** WeChat Pay's checks before it reads a request. */
export function wrongRequest(
  { method, target, headers, body }: WalletCall,
  keys: WechatKeys,
  now: number,
): WechatRefusal | undefined {
  if (headers['user-agent'] === undefined || headers['user-agent'] === '')
    return no(403, 'NO_AUTH', 'User-Agent is missing');
  if (!/application\/json|\*\/\*/.test(headers.accept ?? ''))
    return parameter('Accept must be application/json');
  if (body !== '' && headers['content-type']?.startsWith('application/json') !== true)
    return parameter('Content-Type must be application/json');
  const [scheme = '', rest = ''] = (headers.authorization ?? '').split(/ (.*)/s, 2);
  const parts = Object.fromEntries(
    [...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const { mchid, nonce_str: nonce, signature, timestamp, serial_no: serial } = parts;
  const sign = (why: string): WechatRefusal => no(401, 'SIGN_ERROR', why);
  if (scheme !== 'WECHATPAY2-SHA256-RSA2048') return sign('unknown scheme');
  if (mchid !== keys.mchId || serial !== keys.merchantSerial)
    return sign('unknown merchant or certificate');
  if (!/^[0-9A-Za-z]{1,32}$/.test(nonce ?? '') || !/^\d{10}$/.test(timestamp ?? ''))
    return sign('nonce_str or timestamp is malformed');
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds)
    return sign('the timestamp is not now');
  const text = `${method}\n${target}\n${timestamp}\n${nonce}\n${body}\n`;
  return holds(text, signature ?? '', keys.merchant.publicKey)
    ? undefined
    : sign('错误的签名，验签失败');
}

export type Members = Readonly<Record<string, unknown>>;

export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};

export const orderIdPattern = /^[0-9A-Za-z_\-|*]{6,32}$/;
const known = new Set(
  'appid mchid description out_trade_no time_expire attach notify_url goods_tag support_fapiao amount detail scene_info settle_info'.split(
    ' ',
  ),
);

export const tradeType = ({ way }: Trade): string => (way === 'mobile' ? 'MWEB' : 'NATIVE');

const sceneMembers = new Set(['payer_client_ip', 'device_id', 'store_info', 'h5_info']);
const h5Members = new Set(['type', 'app_name', 'app_url', 'bundle_id', 'package_name']);
const timeLeastMs = 60_000;

/** What an H5 order needs besides (pay.weixin.qq.com/doc/v3/merchant/4012791834, 2026-11). */
export function wrongScene(order: Members, now: number): WechatRefusal | undefined {
  const scene = membersOf(order['scene_info']);
  const h5 = membersOf(scene['h5_info']);
  const { payer_client_ip: payer } = scene;
  if (typeof payer !== 'string' || isIP(payer) === 0 || payer.length > 45)
    return parameter('/scene_info/payer_client_ip');
  if (h5['type'] !== 'Wap' && h5['type'] !== 'iOS' && h5['type'] !== 'Android')
    return parameter('/scene_info/h5_info/type');
  const stranger =
    Object.keys(scene).find((name) => !sceneMembers.has(name)) ??
    Object.keys(h5).find((name) => !h5Members.has(name));
  if (stranger !== undefined) return parameter(`unknown member ${stranger}`);
  const expire = order['time_expire'];
  return typeof expire === 'string' && Date.parse(expire) < now + timeLeastMs
    ? parameter('time_expire is less than a minute away')
    : undefined;
}

export function wrongOrder(
  order: Members,
  keys: WechatKeys,
  now: number,
): WechatRefusal | undefined {
  const stranger = Object.keys(order).find((name) => !known.has(name));
  if (stranger !== undefined) return parameter(`unknown member ${stranger}`);
  const amount = membersOf(order['amount']);
  if (order['appid'] !== keys.appId) return no(400, 'APPID_MCHID_NOT_MATCH', 'appid和mchid不匹配');
  if (order['mchid'] !== keys.mchId) return parameter('mchid');
  if (!isText(order['description'], 127)) return parameter('description');
  if (typeof order['out_trade_no'] !== 'string' || !orderIdPattern.test(order['out_trade_no']))
    return parameter('out_trade_no');
  if (!isNotifyUrl(order['notify_url'])) return parameter('notify_url');
  if (!Number.isInteger(amount['total']) || Number(amount['total']) < 1)
    return parameter('/amount/total');
  if (amount['currency'] !== undefined && amount['currency'] !== 'CNY')
    return parameter('/amount/currency');
  const expire = order['time_expire'];
  if (
    expire !== undefined &&
    (typeof expire !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/.test(expire))
  )
    return parameter('time_expire');
  if (typeof expire === 'string' && Date.parse(expire) <= now)
    return parameter('time_expire is over');
  return undefined;
}

const isText = (value: unknown, bytesMax: number): value is string =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= bytesMax;

/** Addresses must be https; here loopback is allowed, too. */
export const isNotifyUrl = (value: unknown): value is string =>
  typeof value === 'string' &&
  !value.includes('?') &&
  (/^https:\/\/\S+$/.test(value) || /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/.test(value));
