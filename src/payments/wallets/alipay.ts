import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { messageOf } from '../../base/thrown.ts';
import { callControl } from '../../http/control-call.ts';
import { plainTime, readPlainTime, ofYuanText, yuanText, nonEmptyText } from '../wallet-formats.ts';
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
import {
  type AlipayAccount,
  AlipayCaller,
  type AlipayReply,
  notificationIsSigned,
} from './alipay-call.ts';
import { type BillCells, billBytesMax, namesOf, readLines, unzip } from './bill-files.ts';

const taken: NotificationReply = { status: 200, type: 'text/plain', body: 'success' };
const refused: NotificationReply = { status: 200, type: 'text/plain', body: 'fail' };
const absent = 'ACQ.TRADE_NOT_EXIST';
/**
 * Alipay answers `isp.bill_not_exist`, its document says `BILL_NOT_EXIST`
 * (opendocs.alipay.com/open/02e7lj, 2026-11).
 */
const billAbsent = /bill[_-]not[_-]exist/i;

/**
 * Alipay: codes to scan (precreate), its own page (page.pay) and the app on the payer's phone
 * (wap.pay): opendocs.alipay.com/open/02ekfg, /028r8t and /02ivbs, 2026-11.
 */
export class Alipay implements Wallet {
  readonly id = 'alipay';
  readonly methods: readonly PayMethod[];
  readonly taken = taken;
  readonly refused = refused;
  readonly #account: AlipayAccount;
  readonly #caller: AlipayCaller;
  readonly #stop: AbortSignal;

  constructor(
    account: AlipayAccount,
    methods: readonly PayMethod[],
    clock: Clock,
    stop: AbortSignal,
  ) {
    this.methods = methods;
    this.#account = account;
    this.#caller = new AlipayCaller(account, clock, stop);
    this.#stop = stop;
  }

  async createOrder({
    id,
    amount,
    method,
    expiresAt,
    subject,
    notifyUrl,
    returnUrl,
  }: OrderRequest): Promise<CreatedOrder> {
    const content = {
      out_trade_no: id,
      total_amount: yuanText(amount),
      subject,
      time_expire: plainTime(expiresAt),
    };
    const urls = { notify_url: notifyUrl, return_url: returnUrl };
    if (method === 'page') {
      const page = { ...content, product_code: 'FAST_INSTANT_TRADE_PAY' };
      return { kind: 'made', code: this.#caller.page('alipay.trade.page.pay', page, urls) };
    }
    if (method === 'mobile') {
      const page = { ...content, product_code: 'QUICK_WAP_WAY', quit_url: returnUrl };
      return { kind: 'made', code: this.#caller.page('alipay.trade.wap.pay', page, urls) };
    }
    const code = { ...content, product_code: 'QR_CODE_OFFLINE' };
    const reply = await this.#caller.call('alipay.trade.precreate', code, {
      notify_url: notifyUrl,
    });
    const made =
      reply.kind === 'ok' && reply.body['out_trade_no'] === id
        ? nonEmptyText(reply.body['qr_code'])
        : undefined;
    return made === undefined ? faultOf(reply) : { kind: 'made', code: made };
  }

  /**
   * Only the payer's act makes the trade: until the scan, or the step on the page, it is absent.
   */
  async orderStatus(orderId: string): Promise<PaymentStatus> {
    const reply = await this.#caller.call('alipay.trade.query', { out_trade_no: orderId });
    if (reply.kind === 'none' && reply.subCode === absent) return { kind: 'absent' };
    return reply.kind === 'ok' ? paymentStatusOf(reply.body, orderId) : faultOf(reply);
  }

  async close(orderId: string): Promise<CloseResult> {
    const reply = await this.#caller.call('alipay.trade.close', { out_trade_no: orderId });
    return reply.kind === 'ok' || (reply.kind === 'none' && reply.subCode === absent)
      ? { kind: 'closed' }
      : faultOf(reply);
  }

  async refund({ id, orderId, amount, reason }: RefundRequest): Promise<RefundStatus> {
    const content = {
      out_trade_no: orderId,
      refund_amount: yuanText(amount),
      out_request_no: id,
      refund_reason: reason,
    };
    const reply = await this.#caller.call('alipay.trade.refund', content);
    if (reply.kind !== 'ok') return faultOf(reply);
    // Without a change of funds an earlier call made the refund, or it is not made yet: only a
    // status query tells.
    return reply.body['fund_change'] === 'Y'
      ? { kind: 'done', number: nonEmptyText(reply.body['trade_no']) }
      : { kind: 'pending' };
  }

  async refundStatus({
    id,
    orderId,
  }: Pick<RefundRequest, 'id' | 'orderId'>): Promise<RefundStatus> {
    const reply = await this.#caller.call('alipay.trade.fastpay.refund.query', {
      out_trade_no: orderId,
      out_request_no: id,
    });
    if (reply.kind === 'none' && reply.subCode === absent) return { kind: 'absent' };
    if (reply.kind !== 'ok') return faultOf(reply);
    if (reply.body['out_request_no'] !== undefined && reply.body['out_request_no'] !== id)
      return unclearFault('Alipay answers with another refund');
    return reply.body['refund_status'] === 'REFUND_SUCCESS'
      ? { kind: 'done', number: nonEmptyText(reply.body['trade_no']) }
      : { kind: 'absent' };
  }

  readNotification(_headers: IncomingHttpHeaders, body: Buffer): Promise<WalletNotification> {
    return Promise.resolve(
      this.#read(Object.fromEntries(new URLSearchParams(body.toString('utf8')))),
    );
  }

  async bill(date: string): Promise<WalletBill> {
    const reply = await this.#caller.call('alipay.data.dataservice.bill.downloadurl.query', {
      bill_type: 'trade',
      bill_date: date,
    });
    if (reply.kind === 'none' && billAbsent.test(reply.subCode)) return { kind: 'absent' };
    const url = reply.kind === 'ok' ? nonEmptyText(reply.body['bill_download_url']) : undefined;
    if (url === undefined) return faultOf(reply);
    try {
      const file = await callControl(url, {
        method: 'GET',
        headers: {},
        bytesMax: billBytesMax,
        signal: this.#stop,
      });
      return await billOf(file.bytes);
    } catch (error) {
      return unclearFault(`Alipay's bill cannot be had: ${messageOf(error)}`);
    }
  }

  #read(parameters: Readonly<Record<string, string>>): WalletNotification {
    if (!notificationIsSigned(parameters, this.#account.alipayKey))
      return { kind: 'refused', why: 'not signed by Alipay' };
    if (parameters['app_id'] !== this.#account.appId)
      return { kind: 'refused', why: 'for another app' };
    if (parameters['seller_id'] !== this.#account.sellerId)
      return { kind: 'refused', why: 'for another seller' };
    if (parameters['notify_type'] !== 'trade_status_sync') return { kind: 'other' };
    const refundId = nonEmptyText(parameters['out_biz_no']);
    if (parameters['gmt_refund'] !== undefined && refundId !== undefined)
      return { kind: 'refund', refundId };
    if (
      parameters['trade_status'] !== 'TRADE_SUCCESS' &&
      parameters['trade_status'] !== 'TRADE_FINISHED'
    )
      return { kind: 'other' };
    const payment = paymentOf(parameters, parameters['gmt_payment']);
    return payment === undefined
      ? { kind: 'refused', why: 'a payment without what it needs' }
      : { kind: 'payment', payment };
  }
}

/** Alipay's trades are in yuan unless the answer names another currency. */
function paymentOf(body: JsonObject, time: unknown): Payment | undefined {
  const amount = ofYuanText(body['total_amount']);
  const number = nonEmptyText(body['trade_no']);
  const orderId = nonEmptyText(body['out_trade_no']);
  const paidAt = readPlainTime(nonEmptyText(time) ?? '');
  if (amount === undefined || number === undefined || orderId === undefined || paidAt === undefined)
    return undefined;
  return {
    orderId,
    number,
    amount,
    currency: nonEmptyText(body['trans_currency']) ?? 'CNY',
    paidAt,
  };
}

function paymentStatusOf(body: JsonObject, orderId: string): PaymentStatus {
  const state = body['trade_status'];
  if (state === 'WAIT_BUYER_PAY') return { kind: 'waiting', scanned: true };
  const payment = paymentOf(body, body['send_pay_date']);
  // A trade that was paid and wholly refunded is closed, too.
  if (state === 'TRADE_CLOSED')
    return body['send_pay_date'] === undefined
      ? { kind: 'closed' }
      : { kind: 'returned', payment: payment?.orderId === orderId ? payment : undefined };
  if (state !== 'TRADE_SUCCESS' && state !== 'TRADE_FINISHED')
    return unclearFault(`Alipay calls an order '${String(state)}'`);
  return payment?.orderId === orderId
    ? { kind: 'paid', payment }
    : unclearFault('Alipay answers with a payment that is not ours');
}

function faultOf(reply: AlipayReply): WalletFault {
  if (reply.kind === 'fault') return reply;
  if (reply.kind === 'ok') return unclearFault("Alipay's answer lacks what was asked for");
  return {
    kind: 'fault',
    sure: true,
    why: `Alipay refuses: ${reply.code} ${reply.subCode} ${reply.message}`,
  };
}

/** The ZIP file has several files: the details, and sums of them. */
async function billOf(file: Buffer): Promise<WalletBill> {
  for (const content of unzip(file, billBytesMax) ?? []) {
    const lines = await readAlipayBill(content);
    if (lines !== undefined) return { kind: 'bill', lines };
  }
  return unclearFault("Alipay's bill cannot be read");
}

const headBegins = '支付宝交易号,商户订单号,';

/**
 * The details of a trade bill (opendocs.alipay.com/open/02e7lj, 2026-11): GB 18030, remarks behind
 * `#`, a head, a line for each payment and each refund with tabulators behind numbers. Undefined
 * when the file is no such bill, or a line cannot be read.
 */
export async function readAlipayBill(file: Buffer): Promise<readonly BillLine[] | undefined> {
  const lines = new TextDecoder('gb18030')
    .decode(file)
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#'));
  const [head = '', ...rest] = lines.slice(
    Math.max(
      0,
      lines.findIndex((line) => line.startsWith(headBegins)),
    ),
  );
  if (!head.startsWith(headBegins) || !head.includes('业务类型')) return undefined;
  const names = namesOf(head);
  return readLines(names, rest, cellsOf(names), lineOf);
}

/**
 * Texts of the merchant and of its payers are not quoted and may contain commas, as may a refund's
 * reason. A line that has more of them is cut where its numbers, times and amounts stand.
 */
function cellsOf(names: readonly string[]): (line: string) => readonly string[] | undefined {
  const whole = linePattern(names);
  return (line) => {
    const cells = line.split(',');
    const cut = cells.length > names.length ? whole.exec(line)?.slice(1) : cells;
    return cut?.map((cell) => cell.trim());
  };
}

const numberColumns = new Set(['支付宝交易号', '商户订单号', '业务类型', '退款批次号/请求号']);

/** Adjacent columns of texts are one group and empty ones behind it: nobody needs them. */
function linePattern(names: readonly string[]): RegExp {
  const shapes = names.map((name) => {
    if (name.endsWith('时间')) return String.raw`\s*(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*`;
    if (name.endsWith('（元）')) return String.raw`\s*(-?\d+(?:\.\d+)?)\s*`;
    return numberColumns.has(name) ? '([^,]*)' : text;
  });
  const parts = shapes.map((shape, index) => {
    if (shape === text && shapes[index - 1] === text) return '()';
    return index === 0 ? shape : `,${shape}`;
  });
  return new RegExp(`^${parts.join('')}$`);
}

const text = '(.*?)';

function lineOf(cell: BillCells): BillLine | undefined {
  const number = cell('支付宝交易号');
  const orderId = cell('商户订单号');
  const at = readPlainTime(cell('完成时间') ?? '');
  const amount = ofYuanText(cell('订单金额（元）'));
  const kind = cell('业务类型') === '退款' ? 'refund' : 'payment';
  if (number === undefined || orderId === undefined || at === undefined || amount === undefined)
    return undefined;
  const refundId = kind === 'refund' ? cell('退款批次号/请求号') : undefined;
  return { kind, number, orderId, refundId, amount: amount < 0n ? -amount : amount, at };
}
