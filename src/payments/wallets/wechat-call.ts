import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { randomText } from '../../base/id.ts';
import { callControl } from '../../http/control.ts';
import { jsonObject, objectOf, textOf } from '../json.ts';
import type { WalletFault } from '../wallet.ts';
import { publicKeyFrom } from './rsa.ts';
import {
  authorize,
  type Merchant,
  type Seal,
  sealHolds,
  sealOf,
  unseal,
} from './wechat-signature.ts';

export interface WechatAccount extends Merchant {
  readonly appId: string;
  /** 32 bytes. */
  readonly apiV3Key: Buffer;
  /** By its id (`PUB_KEY_ID_…`); undefined: certificates are fetched, and change now and then. */
  readonly publicKey: { readonly id: string; readonly key: KeyObject } | undefined;
  /** Without `/` at its end. */
  readonly baseUrl: string;
}

/** `none`: WeChat answered, signed, with a status that says no. */
export type WechatReply =
  | { readonly kind: 'ok'; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'none';
      readonly status: number;
      readonly code: string;
      readonly message: string;
    }
  | WalletFault;

/**
 * A serial that we do not know makes us ask for certificates, so often at most: anybody can send
 * one.
 */
const certificatesEveryMs = 60_000;
const userAgent = 'tollgate';

/** Signed calls, and what WeChat signed: believed under its own key alone. */
export class WechatCaller {
  readonly #account: WechatAccount;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  #certificates: ReadonlyMap<string, KeyObject> = new Map();
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(account: WechatAccount, clock: Clock, stop: AbortSignal) {
    this.#account = account;
    this.#clock = clock;
    this.#stop = stop;
  }

  /** `path` with its query. An answer that is not signed, or not now, says nothing. */
  async call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<WechatReply> {
    const text = body === undefined ? '' : JSON.stringify(body);
    try {
      const reply = await callControl(this.#account.baseUrl + path, {
        ...this.#signed(method, this.#account.baseUrl + path, text),
        signal: this.#stop,
      });
      const answer = reply.bytes.toString('utf8');
      if (!(await this.signed(reply.headers, answer)))
        return unknown(`WeChat Pay's answer (${reply.status}) is not signed as it should be`);
      return read(reply.status, answer);
    } catch (error) {
      return unknown(`WeChat Pay does not answer: ${messageOf(error)}`);
    }
  }

  /** A file that a signed answer named; the file itself is not signed. */
  async download(url: string, bytesMax: number): Promise<Buffer | WalletFault> {
    try {
      const reply = await callControl(url, {
        ...this.#signed('GET', url, ''),
        bytesMax,
        signal: this.#stop,
      });
      return reply.status === 200
        ? reply.bytes
        : unknown(`WeChat Pay's bill cannot be had: ${reply.status}`);
    } catch (error) {
      return unknown(`WeChat Pay's bill cannot be had: ${messageOf(error)}`);
    }
  }

  /** Whether WeChat Pay signed this text, lately. */
  async signed(headers: IncomingHttpHeaders, text: string): Promise<boolean> {
    const seal = sealOf(headers, this.#clock.now());
    const key = seal && (await this.#keyOf(seal));
    return seal !== undefined && key !== undefined && sealHolds(seal, text, key);
  }

  #signed(method: 'GET' | 'POST', url: string, body: string) {
    const { pathname, search } = new URL(url);
    const timestamp = Math.floor(this.#clock.now() / 1_000);
    const { publicKey } = this.#account;
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      authorization: authorize(this.#account, {
        method,
        path: pathname + search,
        body,
        timestamp,
        nonce: randomText(32),
      }),
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
      ...(publicKey === undefined ? {} : { 'wechatpay-serial': publicKey.id }),
    };
    return { method, headers, ...(body === '' ? {} : { body }) };
  }

  async #keyOf({ serial }: Seal): Promise<KeyObject | undefined> {
    const { publicKey } = this.#account;
    if (publicKey !== undefined) return serial === publicKey.id ? publicKey.key : undefined;
    if (
      !this.#certificates.has(serial) &&
      this.#clock.monotonicMs() - this.#askedAt >= certificatesEveryMs
    ) {
      this.#askedAt = this.#clock.monotonicMs();
      this.#certificates = (await this.#fetchCertificates()) ?? this.#certificates;
    }
    return this.#certificates.get(serial);
  }

  /**
   * They come sealed with the APIv3 key, which is why the first answer can be believed: it is
   * signed with a key that it brings.
   */
  async #fetchCertificates(): Promise<ReadonlyMap<string, KeyObject> | undefined> {
    const url = `${this.#account.baseUrl}/v3/certificates`;
    const reply = await callControl(url, {
      ...this.#signed('GET', url, ''),
      signal: this.#stop,
    }).catch(() => undefined);
    const text = reply?.bytes.toString('utf8') ?? '';
    const data = jsonObject(text)?.['data'];
    if (reply?.status !== 200 || !Array.isArray(data)) return undefined;
    const keys = new Map<string, KeyObject>();
    for (const item of data.map(objectOf)) {
      const pem = unseal(this.#account.apiV3Key, objectOf(item?.['encrypt_certificate']) ?? {});
      const key = pem === undefined ? undefined : publicKeyFrom(pem);
      const serial = textOf(item?.['serial_no']);
      if (key !== undefined && serial !== undefined) keys.set(serial, key);
    }
    const seal = sealOf(reply.headers, this.#clock.now());
    const key = seal && keys.get(seal.serial);
    return seal !== undefined && key !== undefined && sealHolds(seal, text, key) ? keys : undefined;
  }
}

export const unknown = (why: string): WalletFault => ({ kind: 'fault', sure: false, why });

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function read(status: number, text: string): WechatReply {
  const body = text === '' ? {} : jsonObject(text);
  if (body === undefined) return unknown(`WeChat Pay's answer (${status}) is no JSON`);
  if (status >= 200 && status < 300) return { kind: 'ok', body };
  const code = textOf(body['code']) ?? '';
  if (status >= 500 || status === 429) return unknown(`WeChat Pay answers ${status} ${code}`);
  return { kind: 'none', status, code, message: textOf(body['message']) ?? '' };
}
