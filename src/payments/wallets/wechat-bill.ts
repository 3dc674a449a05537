import { ofYuanText } from '../fen.ts';
import { readPlainTime } from '../china-time.ts';
import type { BillLine } from '../wallet.ts';
import { rowsByName } from './csv.ts';

/**
 * A trade bill of all kinds (pay.weixin.qq.com/doc/v3/merchant/4012791866, 2026-11): a head, a line
 * for each payment and each refund, every cell with a backtick in front, then a summary with a head
 * of its own. Undefined when it is not such a file, or a line cannot be read.
 */
export function readWechatBill(text: string): readonly BillLine[] | undefined {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.findIndex((line) => line.startsWith('总交易单数'));
  if (end < 1) return undefined;
  const rows = rowsByName(lines[0] ?? '', lines.slice(1, end), cellsOf);
  const read = rows.map(lineOf);
  return read.every((line) => line !== undefined) ? read : undefined;
}

/** What a merchant wrote may hold commas; the backtick behind a comma begins a cell. */
const cellsOf = (line: string): readonly string[] =>
  line
    .replace(/^`/, '')
    .split(',`')
    .map((cell) => cell.trim());

function lineOf(row: ReadonlyMap<string, string>): BillLine | undefined {
  const number = row.get('微信订单号');
  const orderId = row.get('商户订单号');
  const at = readPlainTime(row.get('交易时间') ?? '');
  const isRefund = row.get('交易状态') === 'REFUND' || row.get('交易状态') === 'REVOKED';
  // Older bills have the amount that is settled alone, without vouchers.
  const amount = ofYuanText(
    isRefund
      ? (row.get('申请退款金额') ?? row.get('退款金额'))
      : (row.get('订单金额') ?? row.get('应结订单金额')),
  );
  if (number === undefined || orderId === undefined || at === undefined || amount === undefined)
    return undefined;
  return {
    kind: isRefund ? 'refund' : 'payment',
    number,
    orderId,
    refundId: isRefund ? row.get('商户退款单号') : undefined,
    amount,
    at,
  };
}
