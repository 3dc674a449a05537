import { gbk } from './gbk.ts';
import { chinaTime, type Trade, yuanOf } from './trade.ts';
import { zipFile } from './zip-file.ts';

const head =
  '支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注';
const line = '-'.repeat(41);

/** A day's trade bill as Alipay packs it: details and their sums; undefined without trades. */
export function alipayBill(
  date: string,
  trades: readonly Trade[],
  sellerId: string,
): Buffer | undefined {
  const rows: string[] = [];
  const on = (at: number | undefined): at is number =>
    at !== undefined && chinaTime(at).startsWith(date);
  for (const trade of trades) {
    if (trade.wallet !== 'alipay') continue;
    if (on(trade.paidAt)) rows.push(row(trade, '交易', trade.paidAt, yuanOf(trade.fen), ''));
    for (const { id, fen, at, reason } of trade.refunds)
      if (on(at)) rows.push(row(trade, '退款', at, `-${yuanOf(fen)}`, id, reason));
  }
  return rows.length === 0 ? undefined : packed(date, rows, sellerId);
}

/** A trade, or one of its refunds, as a line of the bill. Alipay does not quote commas in texts. */
function row(
  trade: Trade,
  kind: string,
  at: number,
  yuan: string,
  request: string,
  remark = '',
): string {
  return [
    `${trade.number}\t`,
    `${trade.orderId}\t`,
    `${kind}\t`,
    trade.subject,
    chinaTime(trade.createdAt),
    chinaTime(at),
    '\t',
    '\t',
    '\t',
    '\t',
    '张*(abc***@x.com)\t',
    yuan,
    yuan,
    '0.00',
    '0.00',
    '0.00',
    '0.00',
    '0.00',
    '',
    '0.00\t',
    '0.00',
    `${request}\t`,
    '-0.01',
    '0.00',
    remark,
  ].join(',');
}

/** The two files of a day's bill in one archive. */
function packed(date: string, rows: readonly string[], sellerId: string): Buffer {
  const details = [
    '#支付宝业务明细查询',
    `#账号：[${sellerId}0156]`,
    `#起始日期：[${date} 00:00:00]   终止日期：[${date} 24:00:00]`,
    `#${line}业务明细列表${line}`,
    head,
    ...rows,
    `#${line}业务明细列表结束${line}`,
    `#导出时间：[${date} 09:00:00]`,
  ];
  const sums = [
    '#支付宝业务汇总查询',
    '门店编号,门店名称,交易订单总笔数,退款订单总笔数,订单金额（元）',
    `合计,,${rows.length},0,0.00`,
  ];
  const day = date.replaceAll('-', '');
  return zipFile([
    {
      name: gbk(`${sellerId}0156_${day}_业务明细(汇总).csv`),
      content: gbk(`${sums.join('\r\n')}\r\n`),
    },
    {
      name: gbk(`${sellerId}0156_${day}_业务明细.csv`),
      content: gbk(`${details.join('\r\n')}\r\n`),
    },
  ]);
}
