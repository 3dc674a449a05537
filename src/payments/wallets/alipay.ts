import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { callControl } from '../../http/control.ts';
import { plainTime, readPlainTime } from '../china-time.ts';
import { ofYuanText, yuanText } from '../fen.ts';
import { textOf } from '../json.ts';
import type {
  Answer,
  Bill,
  Closed,
  Made,
  Notice,
  OrderWish,
  Payment,
  RefundStanding,
  RefundWish,
  Standing,
  Wallet,
  WalletFault,
} from '../wallet.ts';
import { readAlipayBill } from './alipay-bill.ts';
import { type AlipayAccount, AlipayCaller, type AlipayReply, unknown } from './alipay-call.ts';
import { noticeHolds } from './alipay-signature.ts';
import { unzip } from './zip.ts';

type Members = Readonly<Record<string, unknown>>;

const billBytesMax = 64 * 1024 * 1024;
const taken: Answer = { status: 200, type: 'text/plain', body: 'success' };
const refused: Answer = { status: 200, type: 'text/plain', body: 'fail' };
const absent = 'ACQ.TRADE_NOT_EXIST';

/**
 * Alipay: codes to be scanned (precreate) and its own page (page.pay):
 * opendocs.alipay.com/open/02ekfg and /028r8t, 2026-11.
 */
export class Alipay implements Wallet {
  readonly id = 'alipay';
  readonly methods = ['qr', 'page'] as const;
  readonly taken = taken;
  readonly refused = refused;
  readonly #account: AlipayAccount;
  readonly #caller: AlipayCaller;
  readonly #stop: AbortSignal;

  constructor(account: AlipayAccount, clock: Clock, stop: AbortSignal) {
    this.#account = account;
    this.#caller = new AlipayCaller(account, clock, stop);
    this.#stop = stop;
  }

  async make({
    id,
    amount,
    method,
    expiresAt,
    subject,
    notifyUrl,
    returnUrl,
  }: OrderWish): Promise<Made> {
    const content = {
      out_trade_no: id,
      total_amount: yuanText(amount),
      subject,
      time_expire: plainTime(expiresAt),
    };
    if (method === 'page') {
      const page = { ...content, product_code: 'FAST_INSTANT_TRADE_PAY' };
      return {
        kind: 'made',
        code: this.#caller.page('alipay.trade.page.pay', page, {
          notify_url: notifyUrl,
          return_url: returnUrl,
        }),
      };
    }
    const code = { ...content, product_code: 'QR_CODE_OFFLINE' };
    const reply = await this.#caller.call('alipay.trade.precreate', code, {
      notify_url: notifyUrl,
    });
    const made =
      reply.kind === 'ok' && reply.body['out_trade_no'] === id
        ? textOf(reply.body['qr_code'])
        : undefined;
    return made === undefined ? faultOf(reply) : { kind: 'made', code: made };
  }

  /** An order whose code nobody has scanned is unknown to Alipay: only the scan makes the trade. */
  async ask(orderId: string): Promise<Standing> {
    const reply = await this.#caller.call('alipay.trade.query', { out_trade_no: orderId });
    if (reply.kind === 'none' && reply.subCode === absent) return { kind: 'absent' };
    return reply.kind === 'ok' ? standingOf(reply.body, orderId) : faultOf(reply);
  }

  async close(orderId: string): Promise<Closed> {
    const reply = await this.#caller.call('alipay.trade.close', { out_trade_no: orderId });
    return reply.kind === 'ok' || (reply.kind === 'none' && reply.subCode === absent)
      ? { kind: 'closed' }
      : faultOf(reply);
  }

  async refund({ id, orderId, amount, reason }: RefundWish): Promise<RefundStanding> {
    const content = {
      out_trade_no: orderId,
      refund_amount: yuanText(amount),
      out_request_no: id,
      refund_reason: reason,
    };
    const reply = await this.#caller.call('alipay.trade.refund', content);
    if (reply.kind !== 'ok') return faultOf(reply);
    // Without a change of funds it was done by an earlier call, or not yet: only a question tells.
    return reply.body['fund_change'] === 'Y'
      ? { kind: 'done', number: textOf(reply.body['trade_no']) }
      : { kind: 'pending' };
  }

  async askRefund({ id, orderId }: Pick<RefundWish, 'id' | 'orderId'>): Promise<RefundStanding> {
    const reply = await this.#caller.call('alipay.trade.fastpay.refund.query', {
      out_trade_no: orderId,
      out_request_no: id,
    });
    if (reply.kind === 'none' && reply.subCode === absent) return { kind: 'absent' };
    if (reply.kind !== 'ok') return faultOf(reply);
    if (reply.body['out_request_no'] !== undefined && reply.body['out_request_no'] !== id)
      return unknown('Alipay answers with another refund');
    return reply.body['refund_status'] === 'REFUND_SUCCESS'
      ? { kind: 'done', number: textOf(reply.body['trade_no']) }
      : { kind: 'absent' };
  }

  read(_headers: IncomingHttpHeaders, body: Buffer): Promise<Notice> {
    return Promise.resolve(
      this.#read(Object.fromEntries(new URLSearchParams(body.toString('utf8')))),
    );
  }

  async bill(date: string): Promise<Bill> {
    const reply = await this.#caller.call('alipay.data.dataservice.bill.downloadurl.query', {
      bill_type: 'trade',
      bill_date: date,
    });
    if (reply.kind === 'none' && /BILL_NOT_EXIST/i.test(reply.subCode)) return { kind: 'none' };
    const url = reply.kind === 'ok' ? textOf(reply.body['bill_download_url']) : undefined;
    if (url === undefined) return faultOf(reply);
    try {
      const file = await callControl(url, {
        method: 'GET',
        headers: {},
        bytesMax: billBytesMax,
        signal: this.#stop,
      });
      return billOf(file.bytes);
    } catch (error) {
      return unknown(
        `Alipay's bill cannot be had: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  #read(told: Readonly<Record<string, string>>): Notice {
    if (!noticeHolds(told, this.#account.alipayKey))
      return { kind: 'refused', why: 'not signed by Alipay' };
    if (told['app_id'] !== this.#account.appId) return { kind: 'refused', why: 'for another app' };
    if (told['seller_id'] !== this.#account.sellerId)
      return { kind: 'refused', why: 'for another seller' };
    if (told['notify_type'] !== 'trade_status_sync') return { kind: 'other' };
    const refundId = textOf(told['out_biz_no']);
    if (told['gmt_refund'] !== undefined && refundId !== undefined)
      return { kind: 'refund', refundId };
    if (told['trade_status'] !== 'TRADE_SUCCESS' && told['trade_status'] !== 'TRADE_FINISHED')
      return { kind: 'other' };
    const payment = paymentOf(told, told['gmt_payment']);
    return payment === undefined
      ? { kind: 'refused', why: 'a payment without what it needs' }
      : { kind: 'payment', payment };
  }
}

/** Alipay's trades are in yuan unless they say something else. */
function paymentOf(body: Members, time: unknown): Payment | undefined {
  const amount = ofYuanText(body['total_amount']);
  const number = textOf(body['trade_no']);
  const orderId = textOf(body['out_trade_no']);
  const paidAt = readPlainTime(textOf(time) ?? '');
  if (amount === undefined || number === undefined || orderId === undefined || paidAt === undefined)
    return undefined;
  return { orderId, number, amount, currency: textOf(body['trans_currency']) ?? 'CNY', paidAt };
}

function standingOf(body: Members, orderId: string): Standing {
  const state = body['trade_status'];
  if (state === 'WAIT_BUYER_PAY') return { kind: 'waiting', scanned: true };
  // A trade that was paid and wholly refunded is closed, too.
  if (state === 'TRADE_CLOSED')
    return { kind: body['send_pay_date'] === undefined ? 'closed' : 'returned' };
  if (state !== 'TRADE_SUCCESS' && state !== 'TRADE_FINISHED')
    return unknown(`Alipay calls an order '${String(state)}'`);
  const payment = paymentOf(body, body['send_pay_date']);
  return payment?.orderId === orderId
    ? { kind: 'paid', payment }
    : unknown('Alipay answers with a payment that is not ours');
}

function faultOf(reply: AlipayReply): WalletFault {
  if (reply.kind === 'fault') return reply;
  if (reply.kind === 'ok') return unknown("Alipay's answer lacks what was asked for");
  return {
    kind: 'fault',
    sure: true,
    why: `Alipay refuses: ${reply.code} ${reply.subCode} ${reply.message}`,
  };
}

/** Several files in one: the details, and sums of them. */
function billOf(file: Buffer): Bill {
  const bills = unzip(file, billBytesMax)?.map(readAlipayBill);
  const lines = bills?.find((read) => read !== undefined);
  return lines === undefined ? unknown("Alipay's bill cannot be read") : { kind: 'bill', lines };
}
