import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { callControl } from '../../http/control.ts';
import { plainTime } from '../china-time.ts';
import { jsonObject, textOf } from '../json.ts';
import type { WalletFault } from '../wallet.ts';
import { type Parameters, signedPart, signRequest } from './alipay-signature.ts';

export interface AlipayAccount {
  readonly appId: string;
  /** `2088…`: whom the money is paid to. */
  readonly sellerId: string;
  readonly privateKey: KeyObject;
  readonly alipayKey: KeyObject;
  /** `https://openapi.alipay.com/gateway.do` */
  readonly gateway: string;
}

/** `none`: Alipay itself said no, signed. */
export type AlipayReply =
  | { readonly kind: 'ok'; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'none';
      readonly code: string;
      readonly subCode: string;
      readonly message: string;
    }
  | WalletFault;

/** Failures of Alipay's own: it may have done it all the same. */
const troubles = /SYSTEM_ERROR|unknow-error|isp\./;

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
   * One call: common parameters in the address, its content in the body, both signed. What Alipay
   * did not sign says nothing.
   */
  async call(
    method: string,
    content: Readonly<Record<string, unknown>>,
    more: Parameters = {},
  ): Promise<AlipayReply> {
    const { biz_content, ...query } = this.signed(method, content, more);
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
      return unknown(
        `Alipay does not answer: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** The address of a page of Alipay's, where the payer goes himself. */
  page(method: string, content: Readonly<Record<string, unknown>>, more: Parameters): string {
    return `${this.#account.gateway}?${String(new URLSearchParams(this.signed(method, content, more)))}`;
  }

  signed(method: string, content: Readonly<Record<string, unknown>>, more: Parameters): Parameters {
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
    // What it says to a request that it could not attribute to anybody (a wrong signature of ours)
    // is not signed.
    if (part === undefined)
      return unknown(
        `Alipay's answer (${status}) is not signed as it should be: ${subCodeOf(text)}`,
      );
    const body = jsonObject(part);
    const code = textOf(body?.['code']) ?? '';
    if (body === undefined) return unknown("Alipay's answer is no JSON");
    if (code === '10000') return { kind: 'ok', body };
    const subCode = textOf(body['sub_code']) ?? '';
    const message = textOf(body['sub_msg']) ?? textOf(body['msg']) ?? '';
    if (code === '20000' || code === '10003' || troubles.test(subCode))
      return unknown(`Alipay answers ${code} ${subCode}`);
    return { kind: 'none', code, subCode, message };
  }
}

export const unknown = (why: string): WalletFault => ({ kind: 'fault', sure: false, why });

const subCodeOf = (text: string): string =>
  /"sub_code"\s*:\s*"([\w.-]{1,64})"/.exec(text)?.[1] ?? 'no code';
