import { createHash } from 'node:crypto';

const style = `
:root { color-scheme: light dark; --canvas: #f7f8fa; --surface: #fff; --text: #14171f; --muted: #565e6e; --line: #dde1e8; --accent: #2552c8; --on-accent: #fff }
@media (prefers-color-scheme: dark) { :root { --canvas: #0e1116; --surface: #161a21; --text: #ebeef3; --muted: #a3abb9; --line: #2a303b; --accent: #8fb0ff; --on-accent: #0e1116 } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--canvas); color: var(--text); font: 14px/22px system-ui, -apple-system, "Segoe UI", Roboto, "PingFang SC", "Microsoft YaHei UI", "Noto Sans CJK SC", sans-serif }
main { box-sizing: border-box; width: min(360px, calc(100vw - 32px)); padding: 24px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px }
h1 { margin: 0 0 8px; font-size: 20px; line-height: 28px; font-weight: 600 }
p { margin: 0 0 24px; color: var(--muted) }
p:last-child { margin: 0 }
button { width: 100%; min-height: 44px; border: 0; border-radius: 6px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 500; cursor: pointer }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`;

/** Nothing but this very style, and a form to ourselves. */
export const linkPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

const words = {
  zh: {
    lang: 'zh-CN',
    title: '登录 Tollgate',
    as: { user: '以「{name}」的身份登录。', operator: '以管理员「{name}」的身份登录。' },
    once: '此链接只能使用一次。',
    enter: '登录',
    gone: '此链接已使用或已过期，请在服务器上重新生成。',
  },
  en: {
    lang: 'en',
    title: 'Sign in to Tollgate',
    as: {
      user: 'It signs you in as “{name}”.',
      operator: 'It signs you in as “{name}”, an operator.',
    },
    once: 'This link works once.',
    enter: 'Sign in',
    gone: 'This link was used or has expired; make a new one on the server.',
  },
} as const;

/** A link that works: `token` is letters and digits alone. */
export interface OpenLink {
  readonly token: string;
  /** Whom it signs in. */
  readonly name: string;
  readonly role: 'user' | 'operator';
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => escapes[sign] ?? '');

/** The page behind a one-time link; undefined: one that works no more, or never did. HTML. */
export function linkPage(link: OpenLink | undefined, language: 'zh' | 'en'): string {
  const { lang, title, as, once, enter, gone } = words[language];
  const content =
    link === undefined
      ? `<p>${gone}</p>`
      : `<p>${as[link.role].replace('{name}', () => escaped(link.name))} ${once}</p><form method="post" action="/auth/link"><input type="hidden" name="token" value="${link.token}"><button autofocus>${enter}</button></form>`;
  return `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head><body><main><h1>${title}</h1>${content}</main></body></html>`;
}
