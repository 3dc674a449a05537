import { readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import { isSiteAddress } from '../catalog/channel-access.ts';
import type { WalletTexts, WrittenPayments } from '../catalog/configuration.ts';
import type { PayMethod, Wallet, WalletId } from './wallet.ts';
import { Alipay } from './wallets/alipay.ts';
import { privateKeyFrom, publicKeyFrom } from './wallets/rsa.ts';
import { WechatPay } from './wallets/wechat-pay.ts';

/** The settings of each wallet, from the configuration file or the environment. */
export interface PaymentSettings extends Pick<WrittenPayments, WalletId> {
  /** How long an order can be paid. */
  readonly expiryMs?: number | undefined;
}

/**
 * A setting is missing or wrong, and the operator must correct it. The message never contains a
 * secret.
 */
class PaymentSettingsError extends Error {}

/**
 * By wallet: its members, and the environment variable of each. A key may be a file as well:
 * `private_key_file`, `WECHAT_PAY_PRIVATE_KEY_FILE`.
 */
const variables: Readonly<Record<WalletId, Readonly<Record<string, string>>>> = {
  wechat_pay: {
    mch_id: 'WECHAT_PAY_MCH_ID',
    app_id: 'WECHAT_PAY_APP_ID',
    serial: 'WECHAT_PAY_SERIAL',
    api_v3_key: 'WECHAT_PAY_API_V3_KEY',
    private_key: 'WECHAT_PAY_PRIVATE_KEY',
    private_key_file: 'WECHAT_PAY_PRIVATE_KEY_FILE',
    public_key_id: 'WECHAT_PAY_PUBLIC_KEY_ID',
    public_key: 'WECHAT_PAY_PUBLIC_KEY',
    public_key_file: 'WECHAT_PAY_PUBLIC_KEY_FILE',
    base_url: 'WECHAT_PAY_BASE_URL',
    methods: 'WECHAT_PAY_METHODS',
  },
  alipay: {
    app_id: 'ALIPAY_APP_ID',
    seller_id: 'ALIPAY_SELLER_ID',
    private_key: 'ALIPAY_PRIVATE_KEY',
    private_key_file: 'ALIPAY_PRIVATE_KEY_FILE',
    public_key: 'ALIPAY_PUBLIC_KEY',
    public_key_file: 'ALIPAY_PUBLIC_KEY_FILE',
    gateway: 'ALIPAY_GATEWAY',
    methods: 'ALIPAY_METHODS',
  },
};

/**
 * A value in the file takes precedence over the environment, also where one of them names a key and
 * the other a key's file. A wallet without any value is absent.
 */
export function paymentSettings(written: PaymentSettings, env: Env): PaymentSettings {
  const textsOf = (wallet: WalletId): WalletTexts | undefined => {
    const texts = written[wallet] ?? {};
    const members = Object.entries(variables[wallet]).map(([member, variable]) => {
      const otherForm = member.endsWith('_file') ? member.slice(0, -5) : `${member}_file`;
      return [member, texts[member] || (texts[otherForm] ? undefined : env[variable]) || undefined];
    });
    return members.some(([, text]) => text !== undefined) ? Object.fromEntries(members) : undefined;
  };
  return { ...written, wechat_pay: textsOf('wechat_pay'), alipay: textsOf('alipay') };
}

/**
 * Opens the configured wallets. Throws a `PaymentSettingsError` for one that is configured in part.
 * `stop` aborts requests to them.
 */
export function openWallets(
  settings: PaymentSettings,
  clock: Clock,
  stop: AbortSignal,
): ReadonlyMap<WalletId, Wallet> {
  const wallets = new Map<WalletId, Wallet>();
  if (settings.wechat_pay !== undefined)
    wallets.set(
      'wechat_pay',
      wechatPay(new Written('wechat_pay', settings.wechat_pay), clock, stop),
    );
  if (settings.alipay !== undefined)
    wallets.set('alipay', alipay(new Written('alipay', settings.alipay), clock, stop));
  return wallets;
}

/** The first problem of the settings, in a sentence; undefined when there is none. */
export function wrongPayments(settings: PaymentSettings): string | undefined {
  try {
    openWallets(settings, systemClock, AbortSignal.abort());
    return undefined;
  } catch (error) {
    if (error instanceof PaymentSettingsError) return error.message;
    throw error;
  }
}

const apiV3KeyBytes = 32;

function wechatPay(written: Written, clock: Clock, stop: AbortSignal): Wallet {
  const publicKeyId = written.text('public_key_id');
  // Without its id the key would be ignored, and certificates believed instead.
  if (publicKeyId === undefined && written.has('public_key'))
    written.fail('public_key_id', 'is missing: WeChat Pay shows it beside its public key');
  const apiV3Key = Buffer.from(written.needed('api_v3_key'), 'utf8');
  if (apiV3Key.length !== apiV3KeyBytes) written.fail('api_v3_key', 'has 32 characters');
  const account = {
    mchId: written.needed('mch_id'),
    appId: written.needed('app_id'),
    serial: written.needed('serial'),
    apiV3Key,
    privateKey: written.key('private_key', privateKeyFrom),
    publicKey:
      publicKeyId === undefined
        ? undefined
        : { id: publicKeyId, key: written.key('public_key', publicKeyFrom) },
    baseUrl: written.url('base_url') ?? 'https://api.mch.weixin.qq.com',
  };
  return new WechatPay(account, written.methods(['qr', 'mobile']), clock, stop);
}

function alipay(written: Written, clock: Clock, stop: AbortSignal): Wallet {
  const account = {
    appId: written.needed('app_id'),
    sellerId: written.needed('seller_id'),
    privateKey: written.key('private_key', privateKeyFrom),
    alipayKey: written.key('public_key', publicKeyFrom),
    gateway: written.url('gateway') ?? 'https://openapi.alipay.com/gateway.do',
  };
  return new Alipay(account, written.methods(['qr', 'page', 'mobile']), clock, stop);
}

class Written {
  readonly #wallet: WalletId;
  readonly #texts: WalletTexts;

  constructor(wallet: WalletId, texts: WalletTexts) {
    this.#wallet = wallet;
    this.#texts = texts;
  }

  text(member: string): string | undefined {
    return this.#texts[member];
  }

  /** In one form or the other. */
  has(key: string): boolean {
    return this.text(key) !== undefined || this.text(`${key}_file`) !== undefined;
  }

  needed(member: string): string {
    return this.text(member) ?? this.fail(member, 'is missing');
  }

  url(member: string): string | undefined {
    const text = this.text(member);
    if (text !== undefined && !isSiteAddress(text))
      this.fail(member, 'is an address such as https://example.com');
    return text?.replace(/\/+$/, '');
  }

  /** Those of `all` that the merchant has, with commas between; all of them when none is named. */
  methods(all: readonly PayMethod[]): readonly PayMethod[] {
    const named = this.text('methods')
      ?.split(',')
      .map((name) => name.trim());
    if (named?.some((name) => !all.some((method) => method === name)) === true)
      this.fail('methods', `has a name that is not one of ${all.join(', ')}`);
    return all.filter((method) => named?.includes(method) ?? true);
  }

  key<Key>(member: string, read: (text: string) => Key | undefined): Key {
    const file = this.text(`${member}_file`);
    return (
      read(file === undefined ? this.needed(member) : this.#contents(member, file)) ??
      this.fail(member, 'is an RSA key, in PEM or base64')
    );
  }

  #contents(member: string, file: string): string {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return this.fail(`${member}_file`, `cannot be read: ${file}`);
    }
  }

  fail(member: string, why: string): never {
    throw new PaymentSettingsError(
      `payments.${this.#wallet}.${member} (${variables[this.#wallet][member] ?? member}) ${why}`,
    );
  }
}
