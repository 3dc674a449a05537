import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Clock } from '../../base/clock.ts';
import { type JsonObject, objectOf, parse } from '../../base/json.ts';
import { messageOf } from '../../base/thrown.ts';
import {
  readTime,
  rfc3339,
  fenOf,
  ofFen,
  nonEmptyText,
  ofYuanText,
  readPlainTime,
} from '../wallet-formats.ts';
import {
  type NotificationReply,
  type WalletBill,
  type CloseResult,
  type CreatedOrder,
  type WalletNotification,
  type OrderRequest,
  type Payment,
  type PayMethod,
  type RefundStatus,
  type RefundRequest,
  type PaymentStatus,
  type Wallet,
  type WalletFault,
  type BillLine,
  unclearFault,
} from '../wallet.ts';
import { type BillCells, billBytesMax, namesOf, readLines } from './bill-files.ts';
import { type WechatAccount, WechatCaller, type WechatReply, unseal } from './wechat-call.ts';

const reasonBytesMax = 80;
const absentCodes = new Set(['ORDER_NOT_EXIST', 'ORDERNOTEXIST', 'RESOURCE_NOT_EXISTS']);
const taken: NotificationReply = { status: 204, type: 'application/json', body: '' };
const refused: NotificationReply = {
  status: 400,
  type: 'application/json',
  body: '{"code":"FAIL","message":"失败"}',
};

/**
 * WeChat Pay, API v3, codes to scan (Native) and the app on the payer's phone (H5):
 * pay.weixin.qq.com/doc/v3/merchant/4012791832 and /4012791834, 2026-11.
 */
export class WechatPay implements Wallet {
  readonly id = 'wechat_pay';
  readonly methods: readonly PayMethod[];
  readonly taken = taken;
  readonly refused = refused;
  readonly #account: WechatAccount;
  readonly #caller: WechatCaller;

  constructor(
    account: WechatAccount,
    methods: readonly PayMethod[],
    clock: Clock,
    stop: AbortSignal,
  ) {
    this.methods = methods;
    this.#account = account;
    this.#caller = new WechatCaller(account, clock, stop);
  }

  async createOrder({
    id,
    amount,
    method,
    expiresAt,
    subject,
    notifyUrl,
    returnUrl,
    payerIp,
  }: OrderRequest): Promise<CreatedOrder> {
    const { appId, mchId } = this.#account;
    const order = {
      appid: appId,
      mchid: mchId,
      description: subject,
      out_trade_no: id,
      time_expire: rfc3339(expiresAt),
      notify_url: notifyUrl,
      amount: { total: fenOf(amount), currency: 'CNY' },
    };
    if (method === 'mobile') {
      const scene = { payer_client_ip: payerIp, h5_info: { type: 'Wap' } };
      const path = '/v3/pay/transactions/h5';
      const reply = await this.#caller.call('POST', path, { ...order, scene_info: scene });
      // Good for five minutes; it has a query already.
      const url = reply.kind === 'ok' ? nonEmptyText(reply.body['h5_url']) : undefined;
      return url === undefined
        ? faultOf(reply)
        : { kind: 'made', code: `${url}&redirect_url=${encodeURIComponent(returnUrl)}` };
    }
    const reply = await this.#caller.call('POST', '/v3/pay/transactions/native', order);
    const code = reply.kind === 'ok' ? nonEmptyText(reply.body['code_url']) : undefined;
    return code === undefined ? faultOf(reply) : { kind: 'made', code };
  }

  async orderStatus(orderId: string): Promise<PaymentStatus> {
    const reply = await this.#caller.call(
      'GET',
      `/v3/pay/transactions/out-trade-no/${orderId}?mchid=${this.#account.mchId}`,
    );
    if (reply.kind === 'none' && absentCodes.has(reply.code)) return { kind: 'absent' };
    return reply.kind === 'ok' ? this.#paymentStatusOf(reply.body, orderId) : faultOf(reply);
  }

  async close(orderId: string): Promise<CloseResult> {
    const body = { mchid: this.#account.mchId };
    const reply = await this.#caller.call(
      'POST',
      `/v3/pay/transactions/out-trade-no/${orderId}/close`,
      body,
    );
    if (reply.kind === 'ok' || (reply.kind === 'none' && absentCodes.has(reply.code)))
      return { kind: 'closed' };
    return faultOf(reply);
  }

  async refund({
    id,
    orderId,
    amount,
    total,
    reason,
    notifyUrl,
  }: RefundRequest): Promise<RefundStatus> {
    const reply = await this.#caller.call('POST', '/v3/refund/domestic/refunds', {
      out_trade_no: orderId,
      out_refund_no: id,
      reason: cut(reason, reasonBytesMax),
      notify_url: notifyUrl,
      amount: { refund: fenOf(amount), total: fenOf(total), currency: 'CNY' },
    });
    return reply.kind === 'ok' ? refundOf(reply.body, id) : faultOf(reply);
  }

  async refundStatus({ id }: Pick<RefundRequest, 'id'>): Promise<RefundStatus> {
    const reply = await this.#caller.call('GET', `/v3/refund/domestic/refunds/${id}`);
    if (reply.kind === 'none' && absentCodes.has(reply.code)) return { kind: 'absent' };
    return reply.kind === 'ok' ? refundOf(reply.body, id) : faultOf(reply);
  }

  async readNotification(headers: IncomingHttpHeaders, body: Buffer): Promise<WalletNotification> {
    const text = body.toString('utf8');
    if (!(await this.#caller.signed(headers, text)))
      return { kind: 'refused', why: 'not signed by WeChat Pay, or not now' };
    const notification = objectOf(parse(text));
    const plain = unseal(this.#account.apiV3Key, objectOf(notification?.['resource']) ?? {});
    const resource = plain === undefined ? undefined : objectOf(parse(plain));
    const event = nonEmptyText(notification?.['event_type']);
    if (resource === undefined || event === undefined)
      return { kind: 'refused', why: 'not sealed with our APIv3 key' };
    if (resource['mchid'] !== this.#account.mchId)
      return { kind: 'refused', why: 'for another merchant' };
    if (event.startsWith('REFUND.')) {
      const refundId = nonEmptyText(resource['out_refund_no']);
      return refundId === undefined
        ? { kind: 'refused', why: 'a refund without our number' }
        : { kind: 'refund', refundId };
    }
    return event.startsWith('TRANSACTION.')
      ? this.#paymentNotification(resource)
      : { kind: 'other' };
  }

  async bill(date: string): Promise<WalletBill> {
    const reply = await this.#caller.call(
      'GET',
      `/v3/bill/tradebill?bill_date=${date}&bill_type=ALL&tar_type=GZIP`,
    );
    if (reply.kind === 'none' && reply.code === 'NO_STATEMENT_EXIST') return { kind: 'none' };
    if (reply.kind === 'none' && reply.code === 'STATEMENT_CREATING') return { kind: 'not yet' };
    const url = reply.kind === 'ok' ? nonEmptyText(reply.body['download_url']) : undefined;
    if (reply.kind !== 'ok' || url === undefined) return faultOf(reply);
    const file = await this.#caller.download(url, billBytesMax);
    return Buffer.isBuffer(file) ? await billOf(file, reply.body) : file;
  }

  #paymentStatusOf(body: JsonObject, orderId: string): PaymentStatus {
    const state = body['trade_state'];
    if (state === 'NOTPAY' || state === 'PAYERROR' || state === 'USERPAYING')
      return { kind: 'waiting', scanned: state === 'USERPAYING' };
    if (state === 'CLOSED' || state === 'REVOKED') return { kind: 'closed' };
    const payment = this.#paymentOf(body);
    if (state === 'REFUND')
      return { kind: 'returned', payment: payment?.orderId === orderId ? payment : undefined };
    if (state !== 'SUCCESS') return unclearFault(`WeChat Pay calls an order '${String(state)}'`);
    return payment?.orderId === orderId
      ? { kind: 'paid', payment }
      : unclearFault('WeChat Pay answers with a payment that is not ours');
  }

  #paymentNotification(resource: JsonObject): WalletNotification {
    if (resource['trade_state'] !== 'SUCCESS') return { kind: 'other' };
    const payment = this.#paymentOf(resource);
    return payment === undefined
      ? { kind: 'refused', why: 'a payment that is not ours' }
      : { kind: 'payment', payment };
  }

  /** Undefined when a member is missing, or the payment belongs to another merchant or app. */
  #paymentOf(body: JsonObject): Payment | undefined {
    const { appId, mchId } = this.#account;
    const amount = objectOf(body['amount']);
    const total = ofFen(amount?.['total']);
    const number = nonEmptyText(body['transaction_id']);
    const orderId = nonEmptyText(body['out_trade_no']);
    const currency = nonEmptyText(amount?.['currency']);
    const paidAt = readTime(nonEmptyText(body['success_time']) ?? '');
    if (body['appid'] !== appId || body['mchid'] !== mchId) return undefined;
    if (
      total === undefined ||
      number === undefined ||
      orderId === undefined ||
      currency === undefined ||
      paidAt === undefined
    )
      return undefined;
    return { orderId, number, amount: total, currency, paidAt };
  }
}

/** The longest prefix of whole characters that fits in `bytesMax`. */
function cut(text: string, bytesMax: number): string {
  let cutText = text;
  while (Buffer.byteLength(cutText) > bytesMax) cutText = [...cutText].slice(0, -1).join('');
  return cutText;
}

function refundOf(body: JsonObject, id: string): RefundStatus {
  if (body['out_refund_no'] !== id) return unclearFault('WeChat Pay answers with another refund');
  const status = body['status'];
  if (status === 'SUCCESS') return { kind: 'done', number: nonEmptyText(body['refund_id']) };
  if (status === 'PROCESSING') return { kind: 'pending' };
  if (status === 'CLOSED') return { kind: 'failed' };
  if (status === 'ABNORMAL')
    return {
      kind: 'stuck',
      why: "the payer's card does not take it; end it on WeChat Pay's merchant pages",
    };
  return unclearFault(`WeChat Pay calls a refund '${String(status)}'`);
}

function faultOf(reply: WechatReply): WalletFault {
  if (reply.kind === 'fault') return reply;
  if (reply.kind === 'ok') return unclearFault("WeChat Pay's answer lacks what was asked for");
  return {
    kind: 'fault',
    sure: true,
    why: `WeChat Pay refuses: ${reply.status} ${reply.code} ${reply.message}`,
  };
}

/** WeChat hashes the text before it compresses it. */
async function billOf(file: Buffer, statement: JsonObject): Promise<WalletBill> {
  let text: Buffer;
  try {
    text = gunzipSync(file, { maxOutputLength: billBytesMax });
  } catch (error) {
    return unclearFault(`WeChat Pay's bill cannot be unpacked: ${messageOf(error)}`);
  }
  if (
    statement['hash_type'] !== 'SHA1' ||
    createHash('sha1').update(text).digest('hex') !== statement['hash_value']
  )
    return unclearFault("WeChat Pay's bill is not the one that was signed");
  const lines = await readWechatBill(text.toString('utf8'));
  return lines === undefined
    ? unclearFault("WeChat Pay's bill cannot be read")
    : { kind: 'bill', lines };
}

/**
 * A trade bill of all kinds (pay.weixin.qq.com/doc/v3/merchant/4012791866, 2026-11): a head, a line
 * for each payment and each refund, every cell with a backtick in front, then a summary with a head
 * of its own. Undefined when the text is no such bill, or a line cannot be read.
 */
export async function readWechatBill(text: string): Promise<readonly BillLine[] | undefined> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.findIndex((line) => line.startsWith('总交易单数'));
  if (end < 1) return undefined;
  return readLines(namesOf(lines[0] ?? ''), lines.slice(1, end), cellsOf, lineOf);
}

/** A merchant's text may contain commas; only a comma before a backtick separates cells. */
const cellsOf = (line: string): readonly string[] =>
  line
    .replace(/^`/, '')
    .split(',`')
    .map((cell) => cell.trim());

function lineOf(cell: BillCells): BillLine | undefined {
  const number = cell('微信订单号');
  const orderId = cell('商户订单号');
  const at = readPlainTime(cell('交易时间') ?? '');
  const isRefund = cell('交易状态') === 'REFUND' || cell('交易状态') === 'REVOKED';
  // Older bills have only the settled amount, without vouchers.
  const amount = ofYuanText(
    isRefund
      ? (cell('申请退款金额') ?? cell('退款金额'))
      : (cell('订单金额') ?? cell('应结订单金额')),
  );
  if (number === undefined || orderId === undefined || at === undefined || amount === undefined)
    return undefined;
  return {
    kind: isRefund ? 'refund' : 'payment',
    number,
    orderId,
    refundId: isRefund ? cell('商户退款单号') : undefined,
    amount,
    at,
  };
}
