import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { chinaTime, type Trade, type TradeRefund, yuanOf } from './trade.ts';
import { tradeType } from './wechat-rules.ts';

const head =
  '交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率,订单金额,申请退款金额,费率备注';
const sumHead =
  '总交易单数,应结订单总金额,退款总金额,充值券退款总金额,手续费总金额,订单总金额,申请退款总金额';

interface Seller {
  readonly appId: string;
  readonly mchId: string;
}

/** A day's trade bill of all kinds; undefined without trades. */
export function wechatBill(date: string, trades: readonly Trade[], seller: Seller) {
  const rows: string[] = [];
  const on = (at: number | undefined): at is number =>
    at !== undefined && chinaTime(at).startsWith(date);
  let paid = 0;
  let back = 0;
  for (const trade of trades) {
    if (trade.wallet !== 'wechat_pay') continue;
    if (on(trade.paidAt)) {
      paid += trade.fen;
      rows.push(paidRow(trade, trade.paidAt, seller));
    }
    for (const refund of trade.refunds) {
      if (refund.state === 'closed' || !on(refund.at)) continue;
      back += refund.fen;
      rows.push(refundRow(trade, refund, seller));
    }
  }
  if (rows.length === 0) return undefined;
  const sums = [
    String(rows.length),
    yuanOf(paid),
    yuanOf(back),
    '0.00',
    '0.01',
    yuanOf(paid),
    yuanOf(back),
  ]
    .map(quoted)
    .join(',');
  const plain = Buffer.from(`\uFEFF${[head, ...rows, sumHead, sums].join('\r\n')}\r\n`, 'utf8');
  return { plain, packed: gzipSync(plain), hash: createHash('sha1').update(plain).digest('hex') };
}

function paidRow(trade: Trade, at: number, seller: Seller): string {
  const yuan = yuanOf(trade.fen);
  return row(trade, at, 'SUCCESS', seller, [
    yuan,
    '0.00',
    '0',
    '0',
    '0.00',
    '0.00',
    '',
    '',
    trade.subject,
    '',
    '0.01',
    '0.60%',
    yuan,
    '0.00',
    '',
  ]);
}

function refundRow(trade: Trade, refund: TradeRefund, seller: Seller): string {
  const given = yuanOf(refund.fen);
  return row(trade, refund.at, 'REFUND', seller, [
    '0.00',
    '0.00',
    refund.number,
    refund.id,
    given,
    '0.00',
    'ORIGINAL',
    refund.state.toUpperCase(),
    trade.subject,
    '',
    '0.00',
    '0.60%',
    '0.00',
    given,
    '',
  ]);
}

function row(
  trade: Trade,
  at: number,
  state: string,
  { appId, mchId }: Seller,
  cells: readonly string[],
): string {
  return [
    chinaTime(at),
    appId,
    mchId,
    '0',
    '',
    trade.number ?? '',
    trade.orderId,
    'o6_simulated',
    tradeType(trade),
    state,
    'OTHERS',
    'CNY',
    ...cells,
  ]
    .map(quoted)
    .join(',');
}

const quoted = (cell: string): string => `\`${cell}`;
