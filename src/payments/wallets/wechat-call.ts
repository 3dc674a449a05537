import { type KeyObject, createDecipheriv } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { type JsonObject, objectOf, parse } from '../../base/json.ts';
import { randomText } from '../../base/random.ts';
import { messageOf } from '../../base/thrown.ts';
import { callControl, userAgent } from '../../http/control-call.ts';
import { nonEmptyText } from '../wallet-formats.ts';
import { unclearFault, type WalletFault } from '../wallet.ts';
import { publicKeyFrom, rsaSign, rsaVerifies } from './rsa.ts';

export interface WechatAccount extends Merchant {
  readonly appId: string;
  /** 32 bytes. */
  readonly apiV3Key: Buffer;
  /**
   * With its id (`PUB_KEY_ID_…`); undefined: WeChat's certificates are fetched, and change now and
   * then.
   */
  readonly publicKey: { readonly id: string; readonly key: KeyObject } | undefined;
  /** Without `/` at its end. */
  readonly baseUrl: string;
}

/** `none`: WeChat refused, in a signed answer. */
export type WechatReply =
  | { readonly kind: 'ok'; readonly body: JsonObject }
  | {
      readonly kind: 'none';
      readonly status: number;
      readonly code: string;
      readonly message: string;
    }
  | WalletFault;

/**
 * An unknown serial makes us fetch certificates, but not more often than this: anybody can send
 * one.
 */
const certificatesEveryMs = 60_000;
/** The delay after a fetch that failed: until the next one, no call is believed. */
const certificatesRetryMs = 2_000;

/** Signs calls, and believes only what WeChat's own key signed. */
export class WechatCaller {
  readonly #account: WechatAccount;
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  #certificates: ReadonlyMap<string, KeyObject> = new Map();
  /** The fetch in flight, for which every call that lacks a certificate waits. */
  #fetching: Promise<void> | undefined;
  #nextFetchAt = Number.NEGATIVE_INFINITY;

  constructor(account: WechatAccount, clock: Clock, stop: AbortSignal) {
    this.#account = account;
    this.#clock = clock;
    this.#stop = stop;
  }

  /** `path` with its query. An answer without a valid, recent signature counts as unknown. */
  async call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<WechatReply> {
    const text = body === undefined ? '' : JSON.stringify(body);
    try {
      const reply = await callControl(this.#account.baseUrl + path, {
        ...this.#signed(method, this.#account.baseUrl + path, text),
        signal: this.#stop,
      });
      const answer = reply.bytes.toString('utf8');
      if (!(await this.signed(reply.headers, answer)))
        return unclearFault(`WeChat Pay's answer (${reply.status}) is not signed as it should be`);
      return read(reply.status, answer);
    } catch (error) {
      return unclearFault(`WeChat Pay does not answer: ${messageOf(error)}`);
    }
  }

  /** Downloads a file that a signed answer named; the file itself is not signed. */
  async download(url: string, bytesMax: number): Promise<Buffer | WalletFault> {
    try {
      const reply = await callControl(url, {
        ...this.#signed('GET', url, ''),
        bytesMax,
        signal: this.#stop,
      });
      return reply.status === 200
        ? reply.bytes
        : unclearFault(`WeChat Pay's bill cannot be had: ${reply.status}`);
    } catch (error) {
      return unclearFault(`WeChat Pay's bill cannot be had: ${messageOf(error)}`);
    }
  }

  /** Whether WeChat Pay signed this text recently. */
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
    if (!this.#certificates.has(serial)) await this.#renewCertificates();
    return this.#certificates.get(serial);
  }

  async #renewCertificates(): Promise<void> {
    if (this.#fetching === undefined && this.#clock.monotonicMs() >= this.#nextFetchAt)
      this.#fetching = this.#fetchCertificates()
        .then((fetched) => {
          this.#certificates = fetched ?? this.#certificates;
          this.#nextFetchAt =
            this.#clock.monotonicMs() +
            (fetched === undefined ? certificatesRetryMs : certificatesEveryMs);
        })
        .finally(() => {
          this.#fetching = undefined;
        });
    await this.#fetching;
  }

  /**
   * The certificates come encrypted with the APIv3 key. That is why the first answer can be
   * believed, although the key of its signature is in the answer itself.
   */
  async #fetchCertificates(): Promise<ReadonlyMap<string, KeyObject> | undefined> {
    const url = `${this.#account.baseUrl}/v3/certificates`;
    const reply = await callControl(url, {
      ...this.#signed('GET', url, ''),
      signal: this.#stop,
    }).catch(() => undefined);
    const text = reply?.bytes.toString('utf8') ?? '';
    const data = objectOf(parse(text))?.['data'];
    if (reply?.status !== 200 || !Array.isArray(data)) return undefined;
    const keys = new Map<string, KeyObject>();
    for (const item of data.map(objectOf)) {
      const pem = unseal(this.#account.apiV3Key, objectOf(item?.['encrypt_certificate']) ?? {});
      const key = pem === undefined ? undefined : publicKeyFrom(pem);
      const serial = nonEmptyText(item?.['serial_no']);
      if (key !== undefined && serial !== undefined) keys.set(serial, key);
    }
    const seal = sealOf(reply.headers, this.#clock.now());
    const key = seal && keys.get(seal.serial);
    return seal !== undefined && key !== undefined && sealHolds(seal, text, key) ? keys : undefined;
  }
}

function read(status: number, text: string): WechatReply {
  const body = text === '' ? {} : objectOf(parse(text));
  if (body === undefined) return unclearFault(`WeChat Pay's answer (${status}) is no JSON`);
  if (status >= 200 && status < 300) return { kind: 'ok', body };
  const code = nonEmptyText(body['code']) ?? '';
  if (status >= 500 || status === 429) return unclearFault(`WeChat Pay answers ${status} ${code}`);
  return { kind: 'none', status, code, message: nonEmptyText(body['message']) ?? '' };
}

/**
 * The merchant's identity that signs requests to WeChat Pay
 * (pay.weixin.qq.com/doc/v3/merchant/4012365342, 2026-11).
 */
interface Merchant {
  readonly mchId: string;
  /** The serial of the merchant's certificate, whose key signs. */
  readonly serial: string;
  readonly privateKey: KeyObject;
}

interface Signable {
  readonly method: string;
  /** With its query, without its host. */
  readonly path: string;
  /** Empty for GET. */
  readonly body: string;
  /** Seconds. */
  readonly timestamp: number;
  readonly nonce: string;
}

/** The `Authorization` header. */
export function authorize(
  { mchId, serial, privateKey }: Merchant,
  { method, path, body, timestamp, nonce }: Signable,
): string {
  const signature = rsaSign(`${method}\n${path}\n${timestamp}\n${nonce}\n${body}\n`, privateKey);
  return `WECHATPAY2-SHA256-RSA2048 mchid="${mchId}",nonce_str="${nonce}",signature="${signature}",timestamp="${timestamp}",serial_no="${serial}"`;
}

/** The signature headers of an answer or a notification. */
interface Seal {
  readonly serial: string;
  readonly timestamp: number;
  readonly nonce: string;
  readonly signature: string;
}

/** The prefix of WeChat's own probes, which test whether signatures are checked; they must fail. */
const probe = 'WECHATPAY/SIGNTEST/';
const toleranceMs = 300_000;

/**
 * Undefined when a header is missing, or the timestamp is not recent: an old one may be a replay.
 */
export function sealOf(headers: IncomingHttpHeaders, now: number): Seal | undefined {
  const serial = nonEmptyText(headers['wechatpay-serial']);
  const nonce = nonEmptyText(headers['wechatpay-nonce']);
  const signature = nonEmptyText(headers['wechatpay-signature']);
  const timestamp = Number(headers['wechatpay-timestamp'] ?? Number.NaN);
  if (
    serial === undefined ||
    nonce === undefined ||
    signature === undefined ||
    !Number.isSafeInteger(timestamp)
  )
    return undefined;
  if (signature.startsWith(probe) || Math.abs(now - timestamp * 1_000) > toleranceMs)
    return undefined;
  return { serial, timestamp, nonce, signature };
}

export function sealHolds(
  { timestamp, nonce, signature }: Seal,
  body: string,
  key: KeyObject,
): boolean {
  return rsaVerifies(`${timestamp}\n${nonce}\n${body}\n`, signature, key);
}

const tagBytes = 16;

/**
 * Decrypts a resource that WeChat encrypted with the APIv3 key (`AEAD_AES_256_GCM`): base64 of the
 * ciphertext and its tag. Undefined when it was encrypted with another key.
 */
export function unseal(key: Buffer, resource: JsonObject): string | undefined {
  const nonce = nonEmptyText(resource['nonce']);
  const bytes = Buffer.from(nonEmptyText(resource['ciphertext']) ?? '', 'base64');
  if (
    resource['algorithm'] !== 'AEAD_AES_256_GCM' ||
    nonce === undefined ||
    bytes.length < tagBytes
  )
    return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'utf8'), {
      authTagLength: tagBytes,
    });
    decipher
      .setAuthTag(bytes.subarray(-tagBytes))
      .setAAD(Buffer.from(nonEmptyText(resource['associated_data']) ?? '', 'utf8'));
    return Buffer.concat([
      decipher.update(bytes.subarray(0, -tagBytes)),
      decipher.final(),
    ]).toString('utf8');
  } catch {
    return undefined;
  }
}
