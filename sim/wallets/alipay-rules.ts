import { holds, pairOf, signed } from './keys.ts';
import { membersOf, type Members } from './wechat-rules.ts';

export type Parameters = Readonly<Record<string, string>>;

/** The keys of the simulated Alipay, and the one app that it knows. */
export class AlipayKeys {
  readonly appId = '2021000000000001';
  readonly sellerId = '2088000000000001';
  readonly app = pairOf('alipay app');
  readonly alipay = pairOf('alipay');

  /** The signature of a notification does not cover `sign_type`. */
  signNotification(parameters: Parameters): Parameters {
    return {
      ...parameters,
      sign_type: 'RSA2',
      sign: signed(joined(parameters, ['sign', 'sign_type']), this.alipay.privateKey),
    };
  }
}

function joined(parameters: Parameters, without: readonly string[]): string {
  const names = Object.keys(parameters).filter(
    (name) => !without.includes(name) && parameters[name] !== '',
  );
  return names
    .toSorted()
    .map((name) => `${name}=${parameters[name]}`)
    .join('&');
}

/** Codes from Alipay's public error list. */
export interface AlipayRefusal {
  readonly code: string;
  readonly msg: string;
  readonly sub_code: string;
  readonly sub_msg: string;
}

export const invalid = (subCode: string, why: string): AlipayRefusal => ({
  code: '40002',
  msg: 'Invalid Arguments',
  sub_code: subCode,
  sub_msg: why,
});
export const failed = (subCode: string, why: string): AlipayRefusal => ({
  code: '40004',
  msg: 'Business Failed',
  sub_code: subCode,
  sub_msg: why,
});

const toleranceMs = 900_000;

/** The gateway's checks before the called method runs. */
export function wrongCall(
  parameters: Parameters,
  keys: AlipayKeys,
  now: number,
): AlipayRefusal | undefined {
  const missing = ['app_id', 'method', 'charset', 'sign_type', 'sign', 'timestamp', 'version'].find(
    (name) => !parameters[name],
  );
  if (missing !== undefined)
    return {
      code: '40001',
      msg: 'Missing Required Arguments',
      sub_code: `isv.missing-${missing.replaceAll('_', '-')}`,
      sub_msg: missing,
    };
  if (parameters['app_id'] !== keys.appId) return invalid('isv.invalid-app-id', '无效的AppID参数');
  if (parameters['version'] !== '1.0') return invalid('isv.invalid-version', 'version');
  if (parameters['format'] !== undefined && parameters['format'] !== 'JSON')
    return invalid('isv.invalid-format', 'format');
  if (parameters['charset']?.toLowerCase() !== 'utf-8')
    return invalid('isv.invalid-charset', 'charset');
  if (parameters['sign_type'] !== 'RSA2') return invalid('isv.invalid-signature-type', 'sign_type');
  const at = Date.parse(`${parameters['timestamp']?.replace(' ', 'T')}+08:00`);
  if (
    !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(parameters['timestamp'] ?? '') ||
    Math.abs(now - at) > toleranceMs
  )
    return invalid('isv.invalid-timestamp', 'timestamp');
  if (!holds(joined(parameters, ['sign']), parameters['sign'] ?? '', keys.app.publicKey))
    return invalid('isv.invalid-signature', '验签出错');
  return undefined;
}

export function contentOf(parameters: Parameters): Members | undefined {
  try {
    return membersOf(JSON.parse(parameters['biz_content'] ?? ''));
  } catch {
    return undefined;
  }
}

const orderIdPattern = /^[0-9A-Za-z_]{1,64}$/;
const amountPattern = /^(?:0|[1-9]\d{0,8})\.\d{2}$/;

export function wrongTrade(
  content: Members,
  product: string,
  now: number,
): AlipayRefusal | undefined {
  const parameter = (name: string): AlipayRefusal => invalid('isv.invalid-parameter', name);
  if (!orderIdPattern.test(String(content['out_trade_no'] ?? ''))) return parameter('out_trade_no');
  if (!amountPattern.test(String(content['total_amount'])) || content['total_amount'] === '0.00')
    return parameter('total_amount');
  const { subject, product_code: productCode, time_expire: expire } = content;
  if (
    typeof subject !== 'string' ||
    subject === '' ||
    subject.length > 256 ||
    /[/=&]/.test(subject)
  )
    return parameter('subject');
  if (
    productCode !== product &&
    !(product === 'QR_CODE_OFFLINE' && productCode === 'FACE_TO_FACE_PAYMENT')
  )
    return parameter('product_code');
  if (expire !== undefined && !(Date.parse(`${String(expire).replace(' ', 'T')}+08:00`) > now))
    return failed('ACQ.INVALID_PARAMETER', 'time_expire');
  return undefined;
}

export const fenOf = (yuan: unknown): number => Math.round(Number(yuan) * 100);
