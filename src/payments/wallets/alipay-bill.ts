import { readPlainTime } from '../china-time.ts';
import { ofYuanText } from '../fen.ts';
import type { BillLine } from '../wallet.ts';
import { rowsByName } from './csv.ts';

const headBegins = '支付宝交易号,商户订单号,';
/** Where what the merchant wrote stands, commas and all. */
const subjectColumn = 3;

/**
 * The details of a trade bill (opendocs.alipay.com/open/02e7lj, 2026-11): GB 18030, remarks behind
 * `#`, a head, a line for each payment and each refund with tabulators behind numbers. Undefined
 * when it is not such a file, or a line cannot be read.
 */
export function readAlipayBill(file: Buffer): readonly BillLine[] | undefined {
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
  const read = rowsByName(head, rest, cellsOf).map(lineOf);
  return read.every((line) => line !== undefined) ? read : undefined;
}

function cellsOf(line: string, columns: number): readonly string[] {
  const cells = line.split(',').map((cell) => cell.trim());
  const extra = cells.length - columns;
  if (extra <= 0) return cells;
  const subject = cells.slice(subjectColumn, subjectColumn + extra + 1).join(',');
  return [...cells.slice(0, subjectColumn), subject, ...cells.slice(subjectColumn + extra + 1)];
}

function lineOf(row: ReadonlyMap<string, string>): BillLine | undefined {
  const number = row.get('支付宝交易号');
  const orderId = row.get('商户订单号');
  const at = readPlainTime(row.get('完成时间') ?? '');
  const amount = ofYuanText(row.get('订单金额（元）'));
  const kind = row.get('业务类型') === '退款' ? 'refund' : 'payment';
  if (number === undefined || orderId === undefined || at === undefined || amount === undefined)
    return undefined;
  const refundId = kind === 'refund' ? row.get('退款批次号/请求号') : undefined;
  return { kind, number, orderId, refundId, amount: amount < 0n ? -amount : amount, at };
}
