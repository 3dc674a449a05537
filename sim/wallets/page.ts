import type { WalletReply } from './reply.ts';
import { type Counter, type Trade, yuanOf } from './trade.ts';

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const frame = (title: string, body: string): WalletReply => ({
  status: 200,
  type: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}td,th{padding:.4rem .8rem .4rem 0;text-align:left}
button{font:inherit;padding:.3rem .9rem;margin-right:.4rem}code{font-size:.85em;word-break:break-all}</style><h1>${title}</h1>${body}</html>`,
});

const button = (action: string, code: string, words: string, id: string, back = ''): string =>
  `<form method="post" action="/wallets/${action}" style="display:inline"><input type="hidden" name="code" value="${escaped(code)}">
<input type="hidden" name="back" value="${escaped(back)}"><button id="${id}">${words}</button></form>`;

const names: Readonly<Record<Trade['wallet'], string>> = {
  wechat_pay: 'WeChat Pay',
  alipay: 'Alipay',
};

/** The page that replaces the payer's phone: every open code, to be scanned and paid. */
export function counterPage(counter: Counter): WalletReply {
  const rows = [...counter.trades.values()]
    .map((trade) => counter.expire(trade))
    .reverse()
    .map(({ wallet, orderId, code, fen, state, subject }) => {
      const open = state === 'waiting' || state === 'scanned';
      const act = open
        ? button('scan', code, 'Scan', `scan-${orderId}`) +
          button('pay', code, 'Scan and pay', `pay-${orderId}`)
        : state;
      return `<tr><td>${names[wallet]}<td>¥${yuanOf(fen)}<td>${escaped(subject)}<br><code>${escaped(orderId)}</code><td>${act}</tr>`;
    });
  const list =
    rows.length === 0
      ? '<p>No code waits to be scanned.'
      : `<table><tr><th>Wallet<th>Amount<th>For<th></tr>${rows.join('')}</table>`;
  return frame('Simulated wallets', `<p>In place of a telephone. No real money moves.</p>${list}`);
}

/**
 * The page of a wallet: on a desk, or in place of its app on a phone, which leads to `quit` and,
 * where the wallet adds nothing to it, to `back`.
 */
export function payPage(trade: Trade, back?: string, quit = back): WalletReply {
  const open = trade.state === 'waiting' || trade.state === 'scanned';
  const act = open
    ? button('pay', trade.code, `Pay ¥${yuanOf(trade.fen)}`, 'pay', back)
    : `<p>${trade.state}`;
  const leave = quit === undefined ? '' : button('quit', trade.code, 'Quit', 'quit', quit);
  return frame(
    `${names[trade.wallet]}, simulated`,
    `<p>${escaped(trade.subject)} <code>${escaped(trade.orderId)}</code></p>${act}${leave}`,
  );
}
