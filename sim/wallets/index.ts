import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { languageOf } from '../language.ts';
import { messageOf } from '../../src/base/thrown.ts';
import { AlipaySide } from './alipay.ts';
import { privatePem, publicPem } from './keys.ts';
import { counterPage, payPage } from './page.ts';
import { send, spoil, type WalletCall, type WalletReply } from './reply.ts';
import { Counter, type Trade } from './trade.ts';
import { WechatSide } from './wechat.ts';

/** The delays after which a refused notification is sent again: shorter than the wallets' own. */
const retryMs = [300, 1_000, 3_000, 10_000, 30_000];
const notifyMs = 5_000;

/** The configuration of the simulated wallets, with the names of the configuration file. */
export interface SimPayments {
  readonly wechat_pay: Readonly<Record<string, string>>;
  readonly alipay: Readonly<Record<string, string>>;
}

interface SentNotification {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The simulated WeChat Pay and Alipay, and a simulated payer. Their keys are generated on first
 * use.
 */
export class SimWallets {
  readonly counter = new Counter();
  /** The sent notifications with their responses; status 0: no response. */
  readonly notifications: (SentNotification & {
    readonly status: number;
    readonly answer: string;
  })[] = [];
  readonly #url: () => string;
  #wechat: WechatSide | undefined;
  #alipay: AlipaySide | undefined;
  #closed = false;

  constructor(url: () => string) {
    this.#url = url;
  }

  get wechat(): WechatSide {
    return (this.#wechat ??= new WechatSide(
      this.counter,
      (url, { headers, body }) => void this.notify({ url, headers, body }),
    ));
  }

  get alipay(): AlipaySide {
    return (this.#alipay ??= new AlipaySide(
      this.counter,
      (url, notification) => void this.notify(formOf(url, notification)),
    ));
  }

  /** The value of `payments` in a configuration. */
  get settings(): SimPayments {
    const { keys: wechat } = this.wechat;
    const { keys: alipay } = this.alipay;
    return {
      wechat_pay: {
        mch_id: wechat.mchId,
        app_id: wechat.appId,
        serial: wechat.merchantSerial,
        api_v3_key: wechat.apiV3Key,
        private_key: privatePem(wechat.merchant),
        public_key_id: wechat.publicKeyId,
        public_key: publicPem(wechat.platform),
        base_url: `${this.#url()}/wechat-pay`,
      },
      alipay: {
        app_id: alipay.appId,
        seller_id: alipay.sellerId,
        private_key: privatePem(alipay.app),
        public_key: publicPem(alipay.alipay),
        gateway: `${this.#url()}/alipay/gateway.do`,
      },
    };
  }

  /** `code`: the text of the QR code, or the order's number. */
  scan(code: string): Trade {
    const trade = this.counter.byCode(code);
    if (trade === undefined) throw new Error(`no such code: ${code}`);
    if (this.counter.expire(trade).state === 'waiting') trade.state = 'scanned';
    if (trade.wallet === 'alipay') trade.number ??= this.counter.number('');
    return trade;
  }

  /**
   * Scans and pays. `sneaked`: also pays a closed order, like a payment that was already on its
   * way.
   */
  pay(code: string, sneaked = false): Trade {
    const trade = this.scan(code);
    if (trade.state === 'paid') throw new Error('it is paid already');
    if (trade.state === 'closed' && !sneaked) throw new Error('the order is closed');
    trade.state = 'paid';
    trade.paidAt = this.counter.now();
    trade.number ??= this.counter.number(trade.wallet === 'wechat_pay' ? '4200' : '');
    this.#announce(trade);
    return trade;
  }

  /**
   * Sends a notification, and repeats it while it is refused. Resolves with the first response's
   * status and text.
   */
  async notify(
    notification: SentNotification,
    attempt = 0,
  ): Promise<{ readonly status: number; readonly answer: string }> {
    if (this.counter.silent || this.#closed) return { status: 0, answer: '' };
    const answered = await post(notification);
    this.notifications.push({ ...notification, ...answered });
    const taken =
      answered.status >= 200 &&
      answered.status < 300 &&
      (answered.answer === '' || answered.answer === 'success');
    const again = retryMs[attempt];
    if (!taken && again !== undefined && !this.#closed)
      setTimeout(() => void this.notify(notification, attempt + 1), again).unref();
    return answered;
  }

  /** True when the request was for a wallet. */
  async answer(
    incoming: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
  ): Promise<boolean> {
    const target = incoming.url ?? '/';
    const [, prefix = ''] = /^\/(wechat-pay|alipay|wallets)(?:[/?]|$)/.exec(target) ?? [];
    if (prefix === '') return false;
    const call: WalletCall = {
      method: incoming.method ?? 'GET',
      path: target.slice(prefix.length + 1),
      target,
      host: incoming.headers.host ?? 'localhost',
      headers: incoming.headers,
      body: body.toString('utf8'),
    };
    if (prefix === 'wallets') {
      send(response, this.#page(call), undefined);
      return true;
    }
    const side = prefix === 'wechat-pay' ? this.wechat : this.alipay;
    this.counter.called = side.name(call);
    const trouble = this.counter.troubled(this.counter.called);
    if (spoil(response, trouble)) return true;
    const language = languageOf(call.headers);
    const answer = (): WalletReply =>
      side === this.wechat
        ? side.answer(call, (trade, back) => payPage(language, trade, back))
        : this.alipay.answer(call, (trade) => payPage(language, trade, undefined, trade.quitUrl));
    const reply = trouble?.kind === 'error' ? broken : answer();
    if (trouble?.kind === 'late') await wait(trouble.ms ?? 500);
    send(response, reply, trouble);
    return true;
  }

  close(): void {
    this.#closed = true;
  }

  #announce(trade: Trade): void {
    if (trade.wallet === 'wechat_pay') this.wechat.paid(trade);
    else this.alipay.paid(trade);
  }

  #page({ method, path, headers, body }: WalletCall): WalletReply {
    if (method === 'GET' && path === '/settings.json')
      return { status: 200, type: 'application/json', body: JSON.stringify(this.settings) };
    if (method !== 'POST') return counterPage(this.counter, languageOf(headers));
    const form = new URLSearchParams(body);
    const code = form.get('code') ?? '';
    const led = (location: string): WalletReply => ({
      status: 303,
      type: 'text/plain',
      body: '',
      headers: { location },
    });
    const back = form.get('back') || '/wallets';
    if (path === '/quit') return led(back);
    try {
      const trade = path === '/pay' ? this.pay(code) : this.scan(code);
      return led((path === '/pay' && this.alipay.returnUrl(trade)) || back);
    } catch (error) {
      return {
        status: 409,
        type: 'text/plain',
        body: messageOf(error),
      };
    }
  }
}

const broken: WalletReply = {
  status: 500,
  type: 'application/json',
  body: '{"code":"SYSTEM_ERROR","message":"系统异常，请稍后重试"}',
};

/** A notification as Alipay sends it. */
export function formOf(
  url: string,
  notification: Readonly<Record<string, string>>,
): SentNotification {
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  return { url, headers, body: new URLSearchParams(notification).toString() };
}

async function post({
  url,
  headers,
  body,
}: SentNotification): Promise<{ readonly status: number; readonly answer: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(notifyMs),
    });
    return { status: response.status, answer: await response.text() };
  } catch {
    return { status: 0, answer: '' };
  }
}
