import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { type JsonObject, objectOf, parse } from '../../base/json.ts';
import { messageOf } from '../../base/thrown.ts';
import { callControl } from '../../http/control-call.ts';
import { plainTime, nonEmptyText } from '../wallet-formats.ts';
import { unclearFault, type WalletFault } from '../wallet.ts';
import { rsaSign, rsaVerifies } from './rsa.ts';

export interface AlipayAccount {
  readonly appId: string;
  /** `2088…`: the account that receives the money. */
  readonly sellerId: string;
  readonly privateKey: KeyObject;
  readonly alipayKey: KeyObject;
  /** `https://openapi.alipay.com/gateway.do` */
  readonly gateway: string;
}

/** `none`: Alipay itself refused, in a signed answer. */
export type AlipayReply =
  | { readonly kind: 'ok'; readonly body: JsonObject }
  | {
      readonly kind: 'none';
      readonly code: string;
      readonly subCode: string;
      readonly message: string;
    }
  | WalletFault;

/**
 * Internal errors of Alipay: the call may have succeeded all the same. The code of a bill that is
 * not there begins like one.
 */
const troubles = /SYSTEM_ERROR|unknow-error|isp\.(?!bill_not_exist)/;

export class AlipayCaller {
  readonly #account: AlipayAccount;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;

  constructor(account: AlipayAccount, clock: Clock, stop: AbortSignal) {
    this.#account = account;
    this.#clock = clock;
    this.#stop = stop;
  }

  /**
   * One call: common parameters in the address, its content in the body, both signed. An answer
   * that Alipay did not sign counts as unknown.
   */
  async call(method: string, content: JsonObject, more: Parameters = {}): Promise<AlipayReply> {
    const { biz_content, ...query } = this.#signed(method, content, more);
    try {
      const reply = await callControl(
        `${this.#account.gateway}?${String(new URLSearchParams(query))}`,
        {
          method: 'POST',
          headers: {
            'content-type': 'application/x-www-form-urlencoded;charset=utf-8',
            accept: 'application/json',
          },
          body: new URLSearchParams({ biz_content: biz_content ?? '' }).toString(),
          signal: this.#stop,
        },
      );
      return this.#read(method, reply.status, reply.bytes.toString('utf8'));
    } catch (error) {
      return unclearFault(`Alipay does not answer: ${messageOf(error)}`);
    }
  }

  /** The address of a page of Alipay's that the payer opens. */
  page(method: string, content: JsonObject, more: Parameters): string {
    return `${this.#account.gateway}?${String(new URLSearchParams(this.#signed(method, content, more)))}`;
  }

  #signed(method: string, content: JsonObject, more: Parameters): Parameters {
    const parameters = {
      app_id: this.#account.appId,
      method,
      format: 'JSON',
      charset: 'utf-8',
      sign_type: 'RSA2',
      timestamp: plainTime(this.#clock.now()),
      version: '1.0',
      ...more,
      biz_content: JSON.stringify(content),
    };
    return { ...parameters, sign: signRequest(parameters, this.#account.privateKey) };
  }

  #read(method: string, status: number, text: string): AlipayReply {
    const part = signedPart(
      text,
      `${method.replaceAll('.', '_')}_response`,
      this.#account.alipayKey,
    );
    // Alipay does not sign its answer to a request that it cannot attribute (our signature was
    // wrong).
    if (part === undefined)
      return unclearFault(
        `Alipay's answer (${status}) is not signed as it should be: ${subCodeOf(text)}`,
      );
    const body = objectOf(parse(part));
    const code = nonEmptyText(body?.['code']) ?? '';
    if (body === undefined) return unclearFault("Alipay's answer is no JSON");
    if (code === '10000') return { kind: 'ok', body };
    const subCode = nonEmptyText(body['sub_code']) ?? '';
    const message = nonEmptyText(body['sub_msg']) ?? nonEmptyText(body['msg']) ?? '';
    if (code === '20000' || code === '10003' || troubles.test(subCode))
      return unclearFault(`Alipay answers ${code} ${subCode}`);
    return { kind: 'none', code, subCode, message };
  }
}

const subCodeOf = (text: string): string =>
  /"sub_code"\s*:\s*"([\w.-]{1,64})"/.exec(text)?.[1] ?? 'no code';

type Parameters = Readonly<Record<string, string>>;

/**
 * The text to sign: `a=1&b=2`, sorted by name, raw, without empty values
 * (opendocs.alipay.com/common/02kf5q, 2026-11).
 */
function signable(parameters: Parameters, without: ReadonlySet<string>): string {
  return Object.keys(parameters)
    .filter((name) => !without.has(name) && parameters[name] !== '')
    .sort()
    .map((name) => `${name}=${parameters[name]}`)
    .join('&');
}

const ofRequest = new Set(['sign']);
const ofNotification = new Set(['sign', 'sign_type']);

export const signRequest = (parameters: Parameters, key: KeyObject): string =>
  rsaSign(signable(parameters, ofRequest), key);

/** A notification is signed without its `sign_type`; some of Alipay's products keep it. */
export function notificationIsSigned(parameters: Parameters, key: KeyObject): boolean {
  const signature = parameters['sign'] ?? '';
  if (parameters['sign_type'] !== 'RSA2' || signature === '') return false;
  return (
    rsaVerifies(signable(parameters, ofNotification), signature, key) ||
    rsaVerifies(signable(parameters, ofRequest), signature, key)
  );
}

/**
 * Alipay signs the exact characters of the answer's member, so they are cut out and not serialized
 * again. Returns them when the signature is valid, else undefined.
 */
export function signedPart(text: string, member: string, key: KeyObject): string | undefined {
  const begin = new RegExp(`^\\s*\\{\\s*"${member}"\\s*:\\s*`).exec(text)?.[0].length;
  const end = begin === undefined ? undefined : objectEnd(text, begin);
  const signature =
    end === undefined
      ? undefined
      : /^\s*,(?:\s*"alipay_cert_sn"\s*:\s*"[^"]*"\s*,)?\s*"sign"\s*:\s*"([^"]+)"/.exec(
          text.slice(end),
        )?.[1];
  if (begin === undefined || end === undefined || signature === undefined) return undefined;
  const part = text.slice(begin, end);
  return rsaVerifies(part, signature.replaceAll('\\/', '/'), key) ? part : undefined;
}

/** The position after the brace that closes the object which begins at `begin`. */
function objectEnd(text: string, begin: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = begin; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter === '\\') at++;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === '{') depth++;
    else if (letter === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}
