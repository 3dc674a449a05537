import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Clock } from '../../base/clock.ts';
import { readTime, rfc3339 } from '../china-time.ts';
import { fenOf, ofFen } from '../fen.ts';
import { jsonObject, objectOf, textOf } from '../json.ts';
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
import { readWechatBill } from './wechat-bill.ts';
import {
  messageOf,
  unknown,
  type WechatAccount,
  WechatCaller,
  type WechatReply,
} from './wechat-call.ts';
import { unseal } from './wechat-signature.ts';

type Members = Readonly<Record<string, unknown>>;

const reasonBytesMax = 80;
const billBytesMax = 64 * 1024 * 1024;
const absentCodes = new Set(['ORDER_NOT_EXIST', 'ORDERNOTEXIST', 'RESOURCE_NOT_EXISTS']);
const taken: Answer = { status: 204, type: 'application/json', body: '' };
const refused: Answer = {
  status: 400,
  type: 'application/json',
  body: '{"code":"FAIL","message":"失败"}',
};

/**
 * WeChat Pay, API v3, codes to be scanned (Native): pay.weixin.qq.com/doc/v3/merchant/4012791832,
 * 2026-11.
 */
export class WechatPay implements Wallet {
  readonly id = 'wechat_pay';
  readonly methods = ['qr'] as const;
  readonly taken = taken;
  readonly refused = refused;
  readonly #account: WechatAccount;
  readonly #caller: WechatCaller;

  constructor(account: WechatAccount, clock: Clock, stop: AbortSignal) {
    this.#account = account;
    this.#caller = new WechatCaller(account, clock, stop);
  }

  async make({ id, amount, expiresAt, subject, notifyUrl }: OrderWish): Promise<Made> {
    const { appId, mchId } = this.#account;
    const reply = await this.#caller.call('POST', '/v3/pay/transactions/native', {
      appid: appId,
      mchid: mchId,
      description: subject,
      out_trade_no: id,
      time_expire: rfc3339(expiresAt),
      notify_url: notifyUrl,
      amount: { total: fenOf(amount), currency: 'CNY' },
    });
    const code = reply.kind === 'ok' ? textOf(reply.body['code_url']) : undefined;
    return code === undefined ? faultOf(reply) : { kind: 'made', code };
  }

  async ask(orderId: string): Promise<Standing> {
    const reply = await this.#caller.call(
      'GET',
      `/v3/pay/transactions/out-trade-no/${orderId}?mchid=${this.#account.mchId}`,
    );
    if (reply.kind === 'none' && absentCodes.has(reply.code)) return { kind: 'absent' };
    return reply.kind === 'ok' ? this.#standingOf(reply.body, orderId) : faultOf(reply);
  }

  async close(orderId: string): Promise<Closed> {
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
  }: RefundWish): Promise<RefundStanding> {
    const reply = await this.#caller.call('POST', '/v3/refund/domestic/refunds', {
      out_trade_no: orderId,
      out_refund_no: id,
      reason: cut(reason, reasonBytesMax),
      notify_url: notifyUrl,
      amount: { refund: fenOf(amount), total: fenOf(total), currency: 'CNY' },
    });
    return reply.kind === 'ok' ? refundOf(reply.body, 'status', id) : faultOf(reply);
  }

  async askRefund({ id }: Pick<RefundWish, 'id'>): Promise<RefundStanding> {
    const reply = await this.#caller.call('GET', `/v3/refund/domestic/refunds/${id}`);
    if (reply.kind === 'none' && absentCodes.has(reply.code)) return { kind: 'absent' };
    return reply.kind === 'ok' ? refundOf(reply.body, 'status', id) : faultOf(reply);
  }

  async read(headers: IncomingHttpHeaders, body: Buffer): Promise<Notice> {
    const text = body.toString('utf8');
    if (!(await this.#caller.signed(headers, text)))
      return { kind: 'refused', why: 'not signed by WeChat Pay, or not now' };
    const told = jsonObject(text);
    const plain = unseal(this.#account.apiV3Key, objectOf(told?.['resource']) ?? {});
    const resource = plain === undefined ? undefined : jsonObject(plain);
    const event = textOf(told?.['event_type']);
    if (resource === undefined || event === undefined)
      return { kind: 'refused', why: 'not sealed with our APIv3 key' };
    if (resource['mchid'] !== this.#account.mchId)
      return { kind: 'refused', why: 'for another merchant' };
    if (event.startsWith('REFUND.')) {
      const refundId = textOf(resource['out_refund_no']);
      return refundId === undefined
        ? { kind: 'refused', why: 'a refund without our number' }
        : { kind: 'refund', refundId };
    }
    return event.startsWith('TRANSACTION.') ? this.#paymentNotice(resource) : { kind: 'other' };
  }

  async bill(date: string): Promise<Bill> {
    const reply = await this.#caller.call(
      'GET',
      `/v3/bill/tradebill?bill_date=${date}&bill_type=ALL&tar_type=GZIP`,
    );
    if (reply.kind === 'none' && reply.code === 'NO_STATEMENT_EXIST') return { kind: 'none' };
    if (reply.kind === 'none' && reply.code === 'STATEMENT_CREATING') return { kind: 'not yet' };
    const url = reply.kind === 'ok' ? textOf(reply.body['download_url']) : undefined;
    if (reply.kind !== 'ok' || url === undefined) return faultOf(reply);
    const file = await this.#caller.download(url, billBytesMax);
    return Buffer.isBuffer(file) ? billOf(file, reply.body) : file;
  }

  #standingOf(body: Members, orderId: string): Standing {
    const state = body['trade_state'];
    if (state === 'NOTPAY' || state === 'PAYERROR' || state === 'USERPAYING')
      return { kind: 'waiting', scanned: state === 'USERPAYING' };
    if (state === 'CLOSED' || state === 'REVOKED') return { kind: 'closed' };
    if (state === 'REFUND') return { kind: 'returned' };
    if (state !== 'SUCCESS') return unknown(`WeChat Pay calls an order '${String(state)}'`);
    const payment = this.#paymentOf(body);
    return payment?.orderId === orderId
      ? { kind: 'paid', payment }
      : unknown('WeChat Pay answers with a payment that is not ours');
  }

  #paymentNotice(resource: Members): Notice {
    if (resource['trade_state'] !== 'SUCCESS') return { kind: 'other' };
    const payment = this.#paymentOf(resource);
    return payment === undefined
      ? { kind: 'refused', why: 'a payment that is not ours' }
      : { kind: 'payment', payment };
  }

  /** Undefined when something is missing, or it is another merchant's or another app's. */
  #paymentOf(body: Members): Payment | undefined {
    const { appId, mchId } = this.#account;
    const amount = objectOf(body['amount']);
    const total = ofFen(amount?.['total']);
    const number = textOf(body['transaction_id']);
    const orderId = textOf(body['out_trade_no']);
    const currency = textOf(amount?.['currency']);
    const paidAt = readTime(textOf(body['success_time']) ?? '');
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

/** As many whole characters as fit. */
function cut(text: string, bytesMax: number): string {
  let cutText = text;
  while (Buffer.byteLength(cutText) > bytesMax) cutText = [...cutText].slice(0, -1).join('');
  return cutText;
}

function refundOf(body: Members, member: string, id: string): RefundStanding {
  if (body['out_refund_no'] !== id) return unknown('WeChat Pay answers with another refund');
  const status = body[member];
  if (status === 'SUCCESS') return { kind: 'done', number: textOf(body['refund_id']) };
  if (status === 'PROCESSING') return { kind: 'pending' };
  if (status === 'CLOSED') return { kind: 'failed' };
  if (status === 'ABNORMAL')
    return {
      kind: 'stuck',
      why: "the payer's card does not take it; end it on WeChat Pay's merchant pages",
    };
  return unknown(`WeChat Pay calls a refund '${String(status)}'`);
}

function faultOf(reply: WechatReply): WalletFault {
  if (reply.kind === 'fault') return reply;
  if (reply.kind === 'ok') return unknown("WeChat Pay's answer lacks what was asked for");
  return {
    kind: 'fault',
    sure: true,
    why: `WeChat Pay refuses: ${reply.status} ${reply.code} ${reply.message}`,
  };
}

/** The hash is that of the text, before it was compressed. */
function billOf(file: Buffer, told: Members): Bill {
  let text: Buffer;
  try {
    text = gunzipSync(file, { maxOutputLength: billBytesMax });
  } catch (error) {
    return unknown(`WeChat Pay's bill cannot be unpacked: ${messageOf(error)}`);
  }
  if (
    told['hash_type'] !== 'SHA1' ||
    createHash('sha1').update(text).digest('hex') !== told['hash_value']
  )
    return unknown("WeChat Pay's bill is not the one that was signed");
  const lines = readWechatBill(text.toString('utf8'));
  return lines === undefined
    ? unknown("WeChat Pay's bill cannot be read")
    : { kind: 'bill', lines };
}
