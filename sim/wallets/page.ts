import type { Language } from '../language.ts';
import type { WalletReply } from './reply.ts';
import { type Counter, type Trade, yuanOf } from './trade.ts';

const words = {
  en: {
    title: 'Simulated wallets',
    note: 'Pay here instead of with a phone. No real money moves.',
    none: 'No code waits to be scanned.',
    columns: ['Wallet', 'Amount', 'For', ''],
    how: 'Scan and pay completes the payment. Scan alone leaves it unpaid: the payer has scanned the code and not confirmed yet.',
    back: 'Paid. Go back to the tab with the top-up: it shows the payment within seconds.',
    scan: 'Scan',
    scanAndPay: 'Scan and pay',
    pay: (amount: string) => `Pay ${amount}`,
    quit: 'Quit',
    simulated: (wallet: string) => `${wallet}, simulated`,
    wallets: { wechat_pay: 'WeChat Pay', alipay: 'Alipay' },
    states: { waiting: 'waiting', scanned: 'scanned', paid: 'paid', closed: 'closed' },
  },
  zh: {
    title: '模拟钱包',
    note: '在这里付款，代替手机扫码。不会产生真实的付款。',
    none: '没有等待扫描的付款码。',
    columns: ['钱包', '金额', '用途', ''],
    how: '“扫码并付款”直接完成付款。只点“扫码”则仍未付款：相当于付款人已扫码、尚未确认。',
    back: '已支付。请回到充值所在的标签页，几秒内就会显示到账。',
    scan: '扫码',
    scanAndPay: '扫码并付款',
    pay: (amount: string) => `支付 ${amount}`,
    quit: '退出',
    simulated: (wallet: string) => `${wallet}（模拟）`,
    wallets: { wechat_pay: '微信支付', alipay: '支付宝' },
    states: { waiting: '等待付款', scanned: '已扫码', paid: '已支付', closed: '已关闭' },
  },
} satisfies Record<Language, object>;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const frame = (language: Language, title: string, body: string): WalletReply => ({
  status: 200,
  type: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="${language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><link rel="icon" href="data:,">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}td,th{padding:.4rem .8rem .4rem 0;text-align:left}
button{font:inherit;padding:.3rem .9rem;margin-right:.4rem}code{font-size:.85em;word-break:break-all}</style><h1>${title}</h1>${body}</html>`,
});

const button = (action: string, code: string, label: string, id: string, back = ''): string =>
  `<form method="post" action="/wallets/${action}" style="display:inline"><input type="hidden" name="code" value="${escaped(code)}">
<input type="hidden" name="back" value="${escaped(back)}"><button id="${id}">${label}</button></form>`;

/** The page that replaces the payer's phone: every open code, to be scanned and paid. */
export function counterPage(counter: Counter, language: Language): WalletReply {
  const said = words[language];
  const trades = [...counter.trades.values()].map((trade) => counter.expire(trade)).reverse();
  const rows = trades.map(({ wallet, orderId, code, fen, state, subject }) => {
    const open = state === 'waiting' || state === 'scanned';
    const act = open
      ? button('scan', code, said.scan, `scan-${orderId}`) +
        button('pay', code, said.scanAndPay, `pay-${orderId}`)
      : said.states[state];
    return `<tr><td>${said.wallets[wallet]}<td>¥${yuanOf(fen)}<td>${escaped(subject)}<br><code>${escaped(orderId)}</code><td>${act}</tr>`;
  });
  const list =
    rows.length === 0
      ? `<p>${said.none}`
      : `<p>${said.how}<table><tr><th>${said.columns.join('<th>')}</tr>${rows.join('')}</table>`;
  const back = trades[0]?.state === 'paid' ? `<p role="status"><strong>${said.back}</strong>` : '';
  return frame(language, said.title, `<p>${said.note}</p>${back}${list}`);
}

/**
 * The page of a wallet: on a desk, or in place of its app on a phone, which leads to `quit` and,
 * where the wallet adds nothing to it, to `back`.
 */
export function payPage(language: Language, trade: Trade, back?: string, quit = back): WalletReply {
  const said = words[language];
  const open = trade.state === 'waiting' || trade.state === 'scanned';
  const act = open
    ? button('pay', trade.code, said.pay(`¥${yuanOf(trade.fen)}`), 'pay', back)
    : `<p>${said.states[trade.state]}`;
  const leave = quit === undefined ? '' : button('quit', trade.code, said.quit, 'quit', quit);
  return frame(
    language,
    said.simulated(said.wallets[trade.wallet]),
    `<p>${escaped(trade.subject)} <code>${escaped(trade.orderId)}</code></p>${act}${leave}`,
  );
}
