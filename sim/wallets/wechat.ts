import { randomBytes, randomUUID } from 'node:crypto';
import { chinaInstant, type Counter, refundedFen, type Trade, type TradeRefund } from './trade.ts';
import type { WalletCall, WalletReply } from './reply.ts';
import { wechatBill } from './wechat-bill.ts';
import {
  isNotifyUrl,
  type Members,
  membersOf,
  no,
  tradeType,
  wrongOrder,
  wrongRequest,
  wrongScene,
  type WechatRefusal,
} from './wechat-rules.ts';
import { WechatKeys } from './wechat-seal.ts';

export interface WechatNotification {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type PhonePage = (trade: Trade, back: string | undefined) => WalletReply;

const h5Page = '/cgi-bin/mmpayweb-bin/checkmweb';
const linkMs = 300_000;

/** WeChat Pay, API v3, Native and H5, for one merchant, from its documents. */
export class WechatSide {
  readonly keys = new WechatKeys();
  readonly #counter: Counter;
  readonly #notify: (url: string, notification: WechatNotification) => void;
  readonly #files = new Map<string, Buffer>();
  /** By `prepay_id`: an address of H5, which is good for five minutes. */
  readonly #links = new Map<string, { readonly trade: Trade; readonly until: number }>();

  constructor(counter: Counter, notify: (url: string, notification: WechatNotification) => void) {
    this.#counter = counter;
    this.#notify = notify;
  }

  /** The name of a call, for faults. */
  name({ method, path }: WalletCall): string {
    if (path.startsWith('/v3/pay/transactions/native')) return 'native';
    if (path.startsWith('/v3/pay/transactions/h5')) return 'h5';
    if (path.startsWith(h5Page)) return 'h5-page';
    if (path.startsWith('/v3/refund/')) return method === 'POST' ? 'refund' : 'refund-query';
    if (path.startsWith('/v3/bill')) return 'bill';
    if (path.startsWith('/v3/certificates')) return 'certificates';
    return method === 'POST' ? 'close' : 'query';
  }

  /** `openPage`: shows the trade to the phone that pays it. */
  answer(call: WalletCall, openPage: PhonePage): WalletReply {
    if (call.path.startsWith(h5Page)) return this.#page(call, openPage);
    const wrong = wrongRequest(call, this.keys, this.#counter.now());
    if (wrong !== undefined) return this.#signed(call, wrong.status, this.#errorText(wrong));
    if (call.path.startsWith('/v3/billdownload/file')) return this.#file(call);
    const answered = this.#answer(call);
    if ('status' in answered && 'code' in answered)
      return this.#signed(call, answered.status, this.#errorText(answered));
    return this.#signed(
      call,
      answered.body === undefined ? 204 : 200,
      answered.body === undefined ? '' : JSON.stringify(answered.body),
    );
  }

  paid(trade: Trade): void {
    this.#notify(
      trade.notifyUrl,
      this.notification('TRANSACTION.SUCCESS', 'transaction', this.transaction(trade)),
    );
  }

  /** A signed and encrypted notification, with any content. */
  notification(
    event: string,
    type: string,
    resource: Members,
    at = this.#counter.now(),
  ): WechatNotification {
    const body = JSON.stringify({
      id: randomUUID(),
      create_time: chinaInstant(at),
      resource_type: 'encrypt-resource',
      event_type: event,
      summary: type === 'refund' ? '退款' : '支付成功',
      resource: { original_type: type, ...this.keys.encrypt(JSON.stringify(resource), type) },
    });
    return {
      headers: {
        'content-type': 'application/json',
        ...this.keys.seal(body, at, this.keys.publicKeyId),
      },
      body,
    };
  }

  /** An order, as queries and notifications show it. */
  transaction(trade: Trade): Members {
    const { keys } = this;
    const base = {
      appid: keys.appId,
      mchid: keys.mchId,
      out_trade_no: trade.orderId,
      attach: '',
      promotion_detail: [],
    };
    if (trade.state !== 'paid') {
      const state =
        trade.state === 'closed' ? 'CLOSED' : trade.state === 'scanned' ? 'USERPAYING' : 'NOTPAY';
      return {
        ...base,
        trade_state: state,
        trade_state_desc: state,
        amount: { total: trade.fen, currency: 'CNY' },
      };
    }
    return {
      ...base,
      transaction_id: trade.number,
      trade_type: tradeType(trade),
      trade_state: refundedFen(trade) > 0 ? 'REFUND' : 'SUCCESS',
      trade_state_desc: '支付成功',
      bank_type: 'OTHERS',
      success_time: chinaInstant(trade.paidAt ?? 0),
      payer: { openid: 'o6_simulated' },
      amount: { total: trade.fen, payer_total: trade.fen, currency: 'CNY', payer_currency: 'CNY' },
    };
  }

  #answer(call: WalletCall): { readonly body: Members | undefined } | WechatRefusal {
    const { method, path, body } = call;
    const url = new URL(path, 'http://sim');
    if (method === 'GET' && url.pathname === '/v3/certificates') return this.#certificates();
    if (method === 'GET' && url.pathname === '/v3/bill/tradebill')
      return this.#bill(url.searchParams, call);
    const refund = /^\/v3\/refund\/domestic\/refunds\/([\w-]+)$/.exec(url.pathname);
    if (method === 'GET' && refund !== null) return this.#queryRefund(refund[1] ?? '');
    const order = /^\/v3\/pay\/transactions\/out-trade-no\/([^/]+)(\/close)?$/.exec(url.pathname);
    if (method === 'GET' && order !== null && order[2] === undefined)
      return this.#query(order[1] ?? '', url.searchParams.get('mchid'));
    if (method !== 'POST') return no(404, 'RESOURCE_NOT_EXISTS', path);
    const written = parse(body);
    if (written === undefined) return no(400, 'PARAM_ERROR', 'the body is no JSON object');
    if (url.pathname === '/v3/pay/transactions/native') return this.#order(written, call, 'qr');
    if (url.pathname === '/v3/pay/transactions/h5') return this.#order(written, call, 'mobile');
    if (url.pathname === '/v3/refund/domestic/refunds') return this.#refund(written);
    return order?.[2] === undefined
      ? no(404, 'RESOURCE_NOT_EXISTS', path)
      : this.#close(order[1] ?? '', written);
  }

  #order(
    order: Members,
    call: WalletCall,
    way: 'qr' | 'mobile',
  ): { readonly body: Members } | WechatRefusal {
    const now = this.#counter.now();
    const orderId = String(order['out_trade_no']);
    const before = this.#counter.trades.get(orderId);
    const wrong =
      wrongOrder(order, this.keys, now) ??
      (way === 'mobile' ? wrongScene(order, before?.createdAt ?? now) : undefined);
    if (wrong !== undefined) return wrong;
    // A phone that has changed its network has another address.
    const { scene_info: _, ...same } = order;
    const requestText = JSON.stringify(same);
    if (before !== undefined) {
      if (this.#counter.expire(before).state === 'closed')
        return no(400, 'ORDER_CLOSED', '订单已关闭');
      if (before.state === 'paid') return no(400, 'ORDERPAID', '该订单已支付');
      return before.requestText === requestText && before.way === way
        ? { body: this.#codeOf(before, call) }
        : no(403, 'OUT_TRADE_NO_USED', '商户订单号重复');
    }
    const code = `weixin://wxpay/bizpayurl?pr=${randomBytes(6).toString('base64url')}zz`;
    const expire = order['time_expire'];
    const trade: Trade = {
      wallet: 'wechat_pay',
      way,
      orderId,
      fen: Number(membersOf(order['amount'])['total']),
      subject: String(order['description']),
      notifyUrl: String(order['notify_url']),
      expiresAt: typeof expire === 'string' ? Date.parse(expire) : now + 7_200_000,
      createdAt: now,
      requestText,
      code,
      returnUrl: undefined,
      quitUrl: undefined,
      state: 'waiting',
      number: undefined,
      paidAt: undefined,
      refunds: [],
    };
    this.#counter.trades.set(orderId, trade);
    return { body: this.#codeOf(trade, call) };
  }

  /** The code of a Native order, or a new address of an H5 order. */
  #codeOf(trade: Trade, { host, target }: WalletCall): Members {
    if (trade.way === 'qr') return { code_url: trade.code };
    const id = `wx${randomBytes(17).toString('hex')}`;
    this.#links.set(id, { trade, until: this.#counter.now() + linkMs });
    const prefix = target.slice(0, target.indexOf('/v3/'));
    return { h5_url: `http://${host}${prefix}${h5Page}?prepay_id=${id}&package=1405458241` };
  }

  /** The page that an H5 address opens in the phone's browser, with the errors of its own list. */
  #page({ path, headers }: WalletCall, openPage: PhonePage): WalletReply {
    const { searchParams } = new URL(path, 'http://sim');
    const link = this.#links.get(searchParams.get('prepay_id') ?? '');
    const back = searchParams.get('redirect_url') ?? undefined;
    const { referer } = headers;
    const wrong = (why: string): WalletReply => ({
      status: 200,
      type: 'text/html; charset=utf-8',
      body: `<!doctype html><title>WeChat Pay, simulated</title><p>${why}</p>`,
    });
    if (link === undefined || link.until <= this.#counter.now())
      return wrong('支付请求已失效，请重新发起支付');
    if (/MicroMessenger/.test(headers['user-agent'] ?? ''))
      return wrong('请在微信外打开订单，进行支付');
    if (referer === undefined || !URL.canParse(referer)) return wrong('商家参数格式有误');
    if (back !== undefined && (!URL.canParse(back) || new URL(back).host !== new URL(referer).host))
      return wrong('商家存在未配置的参数');
    return openPage(this.#counter.expire(link.trade), back);
  }

  #query(orderId: string, mchid: string | null): { readonly body: Members } | WechatRefusal {
    if (mchid !== this.keys.mchId) return no(400, 'PARAM_ERROR', 'mchid');
    const trade = this.#counter.trades.get(orderId);
    return trade === undefined
      ? no(404, 'ORDER_NOT_EXIST', '订单不存在')
      : { body: this.transaction(this.#counter.expire(trade)) };
  }

  #close(orderId: string, body: Members): { readonly body: undefined } | WechatRefusal {
    if (body['mchid'] !== this.keys.mchId) return no(400, 'PARAM_ERROR', 'mchid');
    const trade = this.#counter.trades.get(orderId);
    if (trade === undefined) return no(404, 'ORDER_NOT_EXIST', '订单不存在');
    if (trade.state === 'paid') return no(400, 'ORDERPAID', '订单已支付');
    trade.state = 'closed';
    return { body: undefined };
  }

  #refund(body: Members): { readonly body: Members } | WechatRefusal {
    const counter = this.#counter;
    const amount = membersOf(body['amount']);
    const id = String(body['out_refund_no'] ?? '');
    const trade = counter.trades.get(String(body['out_trade_no'] ?? ''));
    const fen = Number(amount['refund']);
    if (!/^[0-9A-Za-z_\-|*@]{1,64}$/.test(id)) return no(400, 'PARAM_ERROR', 'out_refund_no');
    if (body['notify_url'] !== undefined && !isNotifyUrl(body['notify_url']))
      return no(400, 'PARAM_ERROR', 'notify_url');
    if (body['reason'] !== undefined && Buffer.byteLength(String(body['reason'])) > 80)
      return no(400, 'PARAM_ERROR', 'reason');
    if (trade?.state !== 'paid') return no(404, 'RESOURCE_NOT_EXISTS', '订单不存在');
    if (
      !Number.isInteger(fen) ||
      fen < 1 ||
      amount['total'] !== trade.fen ||
      amount['currency'] !== 'CNY'
    )
      return no(400, 'PARAM_ERROR', '/amount');
    const before = trade.refunds.find((refund) => refund.id === id);
    if (before !== undefined)
      return before.fen === fen
        ? { body: this.#refundView(trade, before) }
        : no(400, 'INVALID_REQUEST', '订单信息不一致');
    if (counter.refunding === 'not enough')
      return no(403, 'NOT_ENOUGH', '基本账户余额不足，请充值后重新发起');
    if (refundedFen(trade) + fen > trade.fen)
      return no(400, 'INVALID_REQUEST', '订单金额或退款金额与之前请求不一致');
    const refund: TradeRefund = {
      id,
      number: counter.number('5030'),
      fen,
      reason: String(body['reason'] ?? ''),
      notifyUrl: body['notify_url'] === undefined ? undefined : String(body['notify_url']),
      at: counter.now(),
      state:
        counter.refunding === 'closed' || counter.refunding === 'abnormal'
          ? counter.refunding
          : 'processing',
      endedAt: undefined,
    };
    trade.refunds.push(refund);
    if (counter.refunding === 'success')
      setTimeout(() => this.#refunded(trade, refund), 20).unref();
    return { body: this.#refundView(trade, refund) };
  }

  #refunded(trade: Trade, refund: TradeRefund): void {
    refund.state = 'success';
    refund.endedAt = this.#counter.now();
    if (refund.notifyUrl === undefined) return;
    const { user_received_account, amount } = this.#refundView(trade, refund);
    const refundView = {
      mchid: this.keys.mchId,
      out_trade_no: trade.orderId,
      transaction_id: trade.number,
      out_refund_no: refund.id,
      refund_id: refund.number,
      refund_status: 'SUCCESS',
      success_time: chinaInstant(refund.endedAt),
      user_received_account,
      amount,
    };
    this.#notify(refund.notifyUrl, this.notification('REFUND.SUCCESS', 'refund', refundView));
  }

  #queryRefund(id: string): { readonly body: Members } | WechatRefusal {
    for (const trade of this.#counter.trades.values()) {
      const refund = trade.refunds.find((one) => one.id === id);
      if (refund === undefined) continue;
      if (refund.state === 'processing' && this.#counter.refunding === 'success')
        this.#refunded(trade, refund);
      return { body: this.#refundView(trade, refund) };
    }
    return no(404, 'RESOURCE_NOT_EXISTS', '退款单不存在');
  }

  #refundView(trade: Trade, refund: TradeRefund): Members {
    return {
      refund_id: refund.number,
      out_refund_no: refund.id,
      transaction_id: trade.number,
      out_trade_no: trade.orderId,
      channel: 'ORIGINAL',
      user_received_account: '支付用户零钱',
      create_time: chinaInstant(refund.at),
      ...(refund.endedAt === undefined ? {} : { success_time: chinaInstant(refund.endedAt) }),
      status: refund.state.toUpperCase(),
      funds_account: 'AVAILABLE',
      amount: {
        total: trade.fen,
        refund: refund.fen,
        payer_total: trade.fen,
        payer_refund: refund.fen,
        currency: 'CNY',
      },
    };
  }

  #bill(
    query: URLSearchParams,
    { host, target }: WalletCall,
  ): { readonly body: Members } | WechatRefusal {
    const date = query.get('bill_date') ?? '';
    if (!/^\d{4}-\d\d-\d\d$/.test(date) || date >= chinaInstant(this.#counter.now()).slice(0, 10))
      return no(400, 'INVALID_REQUEST', 'bill_date');
    const bill = wechatBill(date, [...this.#counter.trades.values()], this.keys);
    if (bill === undefined) return no(400, 'NO_STATEMENT_EXIST', '账单文件不存在');
    const token = randomBytes(24).toString('base64url');
    this.#files.set(token, query.get('tar_type') === 'GZIP' ? bill.packed : bill.plain);
    const prefix = target.slice(0, target.indexOf('/v3/'));
    return {
      body: {
        hash_type: 'SHA1',
        hash_value: bill.hash,
        download_url: `http://${host}${prefix}/v3/billdownload/file?token=${token}`,
      },
    };
  }

  #file({ path }: WalletCall): WalletReply {
    const file = this.#files.get(new URL(path, 'http://sim').searchParams.get('token') ?? '');
    return {
      status: file === undefined ? 404 : 200,
      type: 'application/octet-stream',
      body: file ?? '',
    };
  }

  #certificates(): { readonly body: Members } {
    const { keys } = this;
    const at = this.#counter.now();
    const item = {
      serial_no: keys.certificateSerial,
      effective_time: chinaInstant(at - 86_400_000),
      expire_time: chinaInstant(at + 365 * 86_400_000),
      encrypt_certificate: keys.encrypt(keys.certificate, 'certificate'),
    };
    return { body: { data: [item] } };
  }

  #errorText({ code, message }: WechatRefusal): string {
    return JSON.stringify({ code, message });
  }

  #signed({ headers }: WalletCall, status: number, body: string): WalletReply {
    // A client that names the public key gets its signature; others get the certificate's.
    const serial =
      headers['wechatpay-serial'] === this.keys.publicKeyId
        ? this.keys.publicKeyId
        : this.keys.certificateSerial;
    const text = this.#counter.trouble?.kind === 'unsigned' ? `${body} ` : body;
    return {
      status,
      type: 'application/json; charset=utf-8',
      body,
      headers: this.keys.seal(text, this.#counter.now(), serial),
    };
  }
}

function parse(text: string): Members | undefined {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
