import { randomBytes, randomUUID } from 'node:crypto';
import { alipayBill } from './alipay-bill.ts';
import {
  AlipayKeys,
  type AlipayRefusal,
  contentOf,
  failed,
  fenOf,
  invalid,
  type Parameters,
  wrongCall,
  wrongTrade,
} from './alipay-rules.ts';
import { signed } from './keys.ts';
import type { WalletCall, WalletReply } from './reply.ts';
import {
  chinaTime,
  type Counter,
  refundedFen,
  type Trade,
  type TradeRefund,
  yuanOf,
} from './trade.ts';
import { type Members, isNotifyUrl } from './wechat-rules.ts';

/** A method whose answer is a page, and the product that its content names. */
interface PageProduct {
  readonly way: Trade['way'];
  readonly productCode: string;
}

const pageProducts: Readonly<Record<string, PageProduct>> = {
  'alipay.trade.page.pay': { way: 'page', productCode: 'FAST_INSTANT_TRADE_PAY' },
  'alipay.trade.wap.pay': { way: 'mobile', productCode: 'QUICK_WAP_WAY' },
};

const success = { code: '10000', msg: 'Success' };
const unknownTrade = failed('ACQ.TRADE_NOT_EXIST', '交易不存在');

/**
 * Alipay's gateway for one app: precreate, page.pay, wap.pay, query, close, refund, refund query
 * and bills, from its documents.
 */
export class AlipaySide {
  readonly keys = new AlipayKeys();
  readonly #counter: Counter;
  readonly #notify: (url: string, notification: Parameters) => void;
  readonly #files = new Map<string, Buffer>();

  constructor(counter: Counter, notify: (url: string, notification: Parameters) => void) {
    this.#counter = counter;
    this.#notify = notify;
  }

  name(call: WalletCall): string {
    const method = parametersOf(call)['method'] ?? 'bill-file';
    return method
      .replace('alipay.trade.', '')
      .replaceAll('.', '-')
      .replace('alipay-data-dataservice-bill-downloadurl-query', 'bill')
      .replace('fastpay-refund-query', 'refund-query');
  }

  /** `openPage`: shows the trade to the browser that pays it. */
  answer(call: WalletCall, openPage: (trade: Trade) => WalletReply): WalletReply {
    if (call.path.startsWith('/bill/')) return this.#file(call);
    const parameters = parametersOf(call);
    const wrong = wrongCall(parameters, this.keys, this.#counter.now());
    if (wrong !== undefined) return json(`{"error_response":${JSON.stringify(wrong)}}`);
    const content = contentOf(parameters);
    if (content === undefined)
      return this.#signed(parameters, invalid('isv.invalid-parameter', 'biz_content'));
    const { method = '' } = parameters;
    const product = pageProducts[method];
    if (product !== undefined) return this.#page(parameters, content, product, openPage);
    if (call.method !== 'POST')
      return this.#signed(parameters, invalid('isv.invalid-method', 'POST'));
    return this.#signed(parameters, this.#answer(parameters, content, call));
  }

  paid(trade: Trade): void {
    this.#notify(trade.notifyUrl, this.notification(trade));
  }

  /** The notification of a trade; `changed` overrides members before signing. */
  notification(trade: Trade, changed: Parameters = {}): Parameters {
    const time = chinaTime(this.#counter.now());
    const refunded = refundedFen(trade);
    const whole: Parameters = {
      gmt_create: chinaTime(trade.createdAt),
      charset: 'utf-8',
      subject: trade.subject,
      buyer_id: '2088000000000099',
      invoice_amount: yuanOf(trade.fen),
      notify_id: randomUUID().replaceAll('-', ''),
      fund_bill_list: `[{"amount":"${yuanOf(trade.fen)}","fundChannel":"ALIPAYACCOUNT"}]`,
      notify_type: 'trade_status_sync',
      trade_status: statusOf(trade),
      receipt_amount: yuanOf(trade.fen),
      buyer_pay_amount: yuanOf(trade.fen),
      app_id: this.keys.appId,
      seller_id: this.keys.sellerId,
      gmt_payment: chinaTime(trade.paidAt ?? 0),
      notify_time: time,
      version: '1.0',
      out_trade_no: trade.orderId,
      total_amount: yuanOf(trade.fen),
      trade_no: trade.number ?? '',
      auth_app_id: this.keys.appId,
      buyer_logon_id: 'abc***@x.com',
      point_amount: '0.00',
      ...(refunded === 0
        ? {}
        : {
            gmt_refund: time,
            refund_fee: yuanOf(refunded),
            out_biz_no: trade.refunds.at(-1)?.id ?? '',
          }),
      ...changed,
    };
    return this.keys.signNotification(whole);
  }

  /** The address to which the payer's browser returns after paying on the page. */
  returnUrl(trade: Trade): string | undefined {
    if (trade.returnUrl === undefined) return undefined;
    const content = {
      app_id: this.keys.appId,
      auth_app_id: this.keys.appId,
      charset: 'utf-8',
      method: `alipay.trade.${trade.way === 'mobile' ? 'wap' : 'page'}.pay.return`,
      out_trade_no: trade.orderId,
      seller_id: this.keys.sellerId,
      timestamp: chinaTime(this.#counter.now()),
      total_amount: yuanOf(trade.fen),
      trade_no: trade.number ?? '',
      version: '1.0',
    };
    return `${trade.returnUrl}?${String(new URLSearchParams(this.keys.signNotification(content)))}`;
  }

  #answer(
    { method, notify_url }: Parameters,
    content: Members,
    call: WalletCall,
  ): Members | AlipayRefusal {
    const trade = this.#counter.trades.get(String(content['out_trade_no'] ?? ''));
    if (trade !== undefined) this.#counter.expire(trade);
    if (method === 'alipay.trade.precreate') return this.#precreate(content, notify_url, trade);
    if (method === 'alipay.data.dataservice.bill.downloadurl.query')
      return this.#bill(content, call);
    // There is no trade before the payer has scanned the code, or acted on the page.
    if (
      trade === undefined ||
      trade.state === 'waiting' ||
      (trade.state === 'closed' && trade.number === undefined)
    )
      return unknownTrade;
    if (method === 'alipay.trade.query') return this.#view(trade);
    if (method === 'alipay.trade.close') return this.#close(trade);
    if (method === 'alipay.trade.refund') return this.#refund(trade, content);
    if (method === 'alipay.trade.fastpay.refund.query') return this.#refundView(trade, content);
    return invalid('isv.invalid-method', method ?? '');
  }

  #precreate(
    content: Members,
    notifyUrl: string | undefined,
    before: Trade | undefined,
  ): Members | AlipayRefusal {
    const wrong = this.#wrong(content, notifyUrl, 'QR_CODE_OFFLINE');
    if (wrong !== undefined) return wrong;
    const requestText = JSON.stringify(content);
    if (before?.state === 'paid') return failed('ACQ.TRADE_HAS_SUCCESS', '交易已被支付');
    if (before?.state === 'closed') return failed('ACQ.TRADE_HAS_CLOSE', '交易已经关闭');
    if (before !== undefined && before.requestText !== requestText)
      return failed('ACQ.CONTEXT_INCONSISTENT', '交易信息被篡改');
    const trade =
      before ??
      this.#open(content, requestText, notifyUrl ?? '', {
        way: 'qr',
        code: `https://qr.alipay.com/bax${randomBytes(9).toString('hex')}`,
      });
    return { ...success, out_trade_no: trade.orderId, qr_code: trade.code };
  }

  #page(
    parameters: Parameters,
    content: Members,
    { way, productCode }: PageProduct,
    openPage: (trade: Trade) => WalletReply,
  ): WalletReply {
    const wrong =
      this.#wrong(content, parameters['notify_url'], productCode) ??
      (way === 'mobile' && !URL.canParse(String(content['quit_url']))
        ? invalid('isv.invalid-parameter', 'quit_url')
        : undefined);
    if (wrong !== undefined)
      return {
        status: 200,
        type: 'text/html; charset=utf-8',
        body: `<p>${wrong.sub_code} ${wrong.sub_msg}</p>`,
      };
    const before = this.#counter.trades.get(String(content['out_trade_no']));
    const trade =
      before ??
      this.#open(
        content,
        JSON.stringify(content),
        parameters['notify_url'] ?? '',
        { way, code: `page:${String(content['out_trade_no'])}` },
        parameters['return_url'] ?? '',
      );
    // Looking at the page of a phone makes no trade yet.
    if (way === 'page' && trade.state === 'waiting') {
      trade.state = 'scanned';
      trade.number ??= this.#counter.number('');
    }
    return openPage(this.#counter.expire(trade));
  }

  #wrong(
    content: Members,
    notifyUrl: string | undefined,
    product: string,
  ): AlipayRefusal | undefined {
    if (notifyUrl !== undefined && !isNotifyUrl(notifyUrl))
      return invalid('isv.invalid-parameter', 'notify_url');
    return wrongTrade(content, product, this.#counter.now());
  }

  #open(
    content: Members,
    requestText: string,
    notifyUrl: string,
    { way, code }: Pick<Trade, 'way' | 'code'>,
    returnUrl?: string,
  ): Trade {
    const now = this.#counter.now();
    const expire = content['time_expire'];
    const { quit_url: quitUrl } = content;
    const trade: Trade = {
      wallet: 'alipay',
      way,
      orderId: String(content['out_trade_no']),
      fen: fenOf(content['total_amount']),
      subject: String(content['subject']),
      notifyUrl,
      expiresAt:
        typeof expire === 'string'
          ? Date.parse(`${expire.replace(' ', 'T')}+08:00`)
          : now + 7_200_000,
      createdAt: now,
      requestText,
      code,
      returnUrl,
      quitUrl: typeof quitUrl === 'string' ? quitUrl : undefined,
      state: 'waiting',
      number: undefined,
      paidAt: undefined,
      refunds: [],
    };
    this.#counter.trades.set(trade.orderId, trade);
    return trade;
  }

  #view(trade: Trade): Members {
    const paid = trade.paidAt === undefined ? {} : { send_pay_date: chinaTime(trade.paidAt) };
    const amounts = {
      total_amount: yuanOf(trade.fen),
      receipt_amount: yuanOf(trade.fen),
      buyer_pay_amount: yuanOf(trade.fen),
      point_amount: '0.00',
    };
    const ids = {
      trade_no: trade.number ?? '',
      out_trade_no: trade.orderId,
      buyer_logon_id: 'abc***@x.com',
      buyer_user_id: '2088000000000099',
    };
    return {
      ...success,
      ...ids,
      trade_status: statusOf(trade),
      ...amounts,
      invoice_amount: yuanOf(trade.fen),
      ...paid,
    };
  }

  #close(trade: Trade): Members | AlipayRefusal {
    if (trade.state === 'paid') return failed('ACQ.TRADE_STATUS_ERROR', '交易状态不合法');
    trade.state = 'closed';
    return { ...success, trade_no: trade.number ?? '', out_trade_no: trade.orderId };
  }

  #refund(trade: Trade, content: Members): Members | AlipayRefusal {
    const counter = this.#counter;
    const id = String(content['out_request_no'] ?? '');
    if (
      !/^\d{1,9}(?:\.\d{1,2})?$/.test(String(content['refund_amount'])) ||
      !/^[\w-]{1,64}$/.test(id)
    )
      return invalid('isv.invalid-parameter', 'refund_amount');
    if (trade.state !== 'paid') return failed('ACQ.TRADE_STATUS_ERROR', '交易状态不合法');
    const fen = fenOf(content['refund_amount']);
    const before = trade.refunds.find((refund) => refund.id === id);
    if (before !== undefined)
      return before.fen === fen
        ? this.#refunded(trade, 'N')
        : failed('ACQ.DISCORDANT_REPEAT_REQUEST', '请求信息不一致');
    if (counter.refunding === 'not enough')
      return failed('ACQ.SELLER_BALANCE_NOT_ENOUGH', '卖家余额不足');
    if (refundedFen(trade) + fen > trade.fen)
      return failed('ACQ.REFUND_AMT_NOT_EQUAL_TOTAL', '退款金额超限');
    const processing = counter.refunding === 'processing';
    const made: TradeRefund = {
      id,
      number: trade.number ?? '',
      fen,
      reason: String(content['refund_reason'] ?? ''),
      notifyUrl: trade.notifyUrl,
      at: counter.now(),
      state: processing ? 'processing' : 'success',
      endedAt: counter.now(),
    };
    trade.refunds.push(made);
    if (!processing) this.#notify(trade.notifyUrl, this.notification(trade));
    return this.#refunded(trade, processing ? 'N' : 'Y');
  }

  #refunded(trade: Trade, fundChange: string): Members {
    return {
      ...success,
      trade_no: trade.number ?? '',
      out_trade_no: trade.orderId,
      buyer_logon_id: 'abc***@x.com',
      fund_change: fundChange,
      refund_fee: yuanOf(refundedFen(trade)),
    };
  }

  #refundView(trade: Trade, content: Members): Members {
    const refund = trade.refunds.find(({ id }) => id === content['out_request_no']);
    if (refund === undefined) return success;
    if (refund.state === 'processing' && this.#counter.refunding === 'success')
      refund.state = 'success';
    const view = {
      trade_no: trade.number ?? '',
      out_trade_no: trade.orderId,
      out_request_no: refund.id,
      total_amount: yuanOf(trade.fen),
    };
    return {
      ...success,
      ...view,
      refund_amount: yuanOf(refund.fen),
      ...(refund.state === 'success' ? { refund_status: 'REFUND_SUCCESS' } : {}),
    };
  }

  #bill(content: Members, { host, target }: WalletCall): Members | AlipayRefusal {
    const date = String(content['bill_date'] ?? '');
    if (content['bill_type'] !== 'trade') return invalid('isv.invalid-parameter', 'bill_type');
    const file =
      /^\d{4}-\d\d-\d\d$/.test(date) && date < chinaTime(this.#counter.now()).slice(0, 10)
        ? alipayBill(date, [...this.#counter.trades.values()], this.keys.sellerId)
        : undefined;
    // Alipay has one code for a bill that is not made yet and for a day without trades.
    if (file === undefined) return failed('isp.bill_not_exist', '账单不存在');
    const token = randomBytes(18).toString('hex');
    this.#files.set(token, file);
    return {
      ...success,
      bill_download_url: `http://${host}${target.slice(0, target.indexOf('/gateway.do'))}/bill/${token}`,
    };
  }

  #file({ path }: WalletCall): WalletReply {
    const file = this.#files.get(path.slice('/bill/'.length));
    return { status: file === undefined ? 404 : 200, type: 'application/zip', body: file ?? '' };
  }

  #signed({ method = '' }: Parameters, body: Members | AlipayRefusal): WalletReply {
    const part = JSON.stringify(body);
    const signature = signed(
      this.#counter.trouble?.kind === 'unsigned' ? `${part} ` : part,
      this.keys.alipay.privateKey,
    );
    return json(`{"${method.replaceAll('.', '_')}_response":${part},"sign":"${signature}"}`);
  }
}

const json = (body: string): WalletReply => ({
  status: 200,
  type: 'text/html;charset=utf-8',
  body,
});

function statusOf(trade: Trade): string {
  if (trade.state === 'paid')
    return refundedFen(trade) >= trade.fen ? 'TRADE_CLOSED' : 'TRADE_SUCCESS';
  return trade.state === 'closed' ? 'TRADE_CLOSED' : 'WAIT_BUYER_PAY';
}

/** The parameters of the address and of the form. */
function parametersOf({ path, body }: WalletCall): Parameters {
  const query = new URL(path, 'http://sim').searchParams;
  return { ...Object.fromEntries(query), ...Object.fromEntries(new URLSearchParams(body)) };
}
