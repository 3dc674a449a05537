import { createDecipheriv, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { textOf } from '../json.ts';
import { rsaSign, rsaVerifies } from './rsa.ts';

/**
 * Who we are to WeChat Pay, as its requests are signed
 * (pay.weixin.qq.com/doc/v3/merchant/4012365342, 2026-11).
 */
export interface Merchant {
  readonly mchId: string;
  /** Of the merchant's certificate, whose key signs. */
  readonly serial: string;
  readonly privateKey: KeyObject;
}

export interface Signable {
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

/** The headers that sign an answer or a notification. */
export interface Seal {
  readonly serial: string;
  readonly timestamp: number;
  readonly nonce: string;
  readonly signature: string;
}

/**
 * Probes of WeChat's own, with which it finds out whether signatures are looked at, begin so; they
 * must fail.
 */
const probe = 'WECHATPAY/SIGNTEST/';
const toleranceMs = 300_000;

/**
 * Undefined when a header is missing, or the time is not now: what was signed long ago may be
 * somebody's copy.
 */
export function sealOf(headers: IncomingHttpHeaders, now: number): Seal | undefined {
  const serial = textOf(headers['wechatpay-serial']);
  const nonce = textOf(headers['wechatpay-nonce']);
  const signature = textOf(headers['wechatpay-signature']);
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
 * What WeChat sends under the APIv3 key (`AEAD_AES_256_GCM`): base64 of the ciphertext and its tag.
 * Undefined when it was not sealed with this key.
 */
export function unseal(
  key: Buffer,
  resource: Readonly<Record<string, unknown>>,
): string | undefined {
  const nonce = textOf(resource['nonce']);
  const bytes = Buffer.from(textOf(resource['ciphertext']) ?? '', 'base64');
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
      .setAAD(Buffer.from(textOf(resource['associated_data']) ?? '', 'utf8'));
    return Buffer.concat([
      decipher.update(bytes.subarray(0, -tagBytes)),
      decipher.final(),
    ]).toString('utf8');
  } catch {
    return undefined;
  }
}
