import { createCipheriv, randomBytes } from 'node:crypto';
import { certificateOf } from './certificate.ts';
import { pairOf, signed } from './keys.ts';

/** The keys of the simulated WeChat Pay, and the one merchant that it knows. */
export class WechatKeys {
  readonly mchId = '1900000001';
  readonly appId = 'wx0000000000000001';
  readonly merchantSerial = '5157F09EFDC096DE15EBE81A47057A7232F1B8E1';
  readonly apiV3Key = '0123456789abcdef0123456789abcdef';
  readonly publicKeyId = 'PUB_KEY_ID_0119000000012026112100000000000001';
  readonly certificateSerial = '3E1D5C0F2A7B4D6E8F9012345678ABCDEF012345';
  readonly merchant = pairOf('wechat merchant');
  readonly platform = pairOf('wechat platform');
  readonly #certificate: string;

  constructor() {
    this.#certificate = certificateOf(
      this.platform,
      this.certificateSerial,
      'Tenpay.com simulated',
      Date.now(),
    );
  }

  get certificate(): string {
    return this.#certificate;
  }

  /** The headers of a response or a notification. `serial`: the key that signs. */
  seal(text: string, at: number, serial: string): Record<string, string> {
    const timestamp = String(Math.floor(at / 1_000));
    const nonce = randomBytes(16).toString('hex');
    return {
      'wechatpay-timestamp': timestamp,
      'wechatpay-nonce': nonce,
      'wechatpay-serial': serial,
      'wechatpay-signature-type': 'WECHATPAY2-SHA256-RSA2048',
      'wechatpay-signature': signed(`${timestamp}\n${nonce}\n${text}\n`, this.platform.privateKey),
      'request-id': randomBytes(8).toString('hex'),
    };
  }

  encrypt(text: string, associated: string) {
    const nonce = randomBytes(6).toString('hex');
    const cipher = createCipheriv(
      'aes-256-gcm',
      Buffer.from(this.apiV3Key, 'utf8'),
      Buffer.from(nonce, 'utf8'),
    );
    cipher.setAAD(Buffer.from(associated, 'utf8'));
    const ciphertext = Buffer.concat([
      cipher.update(text, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]).toString('base64');
    return { algorithm: 'AEAD_AES_256_GCM', ciphertext, associated_data: associated, nonce };
  }
}
