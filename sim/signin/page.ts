import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Language } from '../language.ts';

/** A page on which a person, or a test, chooses who signs in. */
export interface PlayPage {
  readonly language: Language;
  readonly title: string;
  readonly text: string;
  /** The page posts the decision here, with `fields`. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The users to choose from. */
  readonly people: readonly { readonly id: string; readonly name: string }[];
  readonly approve: string;
  readonly deny: string;
  readonly drawing?: string;
}

const style = `body{margin:0;min-height:100vh;display:grid;place-items:center;background:#eef0f4;color:#14171f;font:14px/22px system-ui,sans-serif}
main{box-sizing:border-box;width:min(400px,100vw - 32px);padding:24px;background:#fff;border:1px solid #dde1e8;border-radius:8px}
h1{margin:0 0 8px;font-size:20px}p{margin:0 0 16px;color:#565e6e}svg{display:block;width:160px;margin:0 auto 16px}
label{display:block;margin:0 0 8px}button{width:100%;min-height:44px;margin-top:8px;border:1px solid #7e8695;border-radius:6px;background:#fff;font:inherit;cursor:pointer}
button[value=approve]{border-color:#1f6f3f;background:#1f6f3f;color:#fff}`;

export function sendPlayPage(
  response: ServerResponse,
  { language, title, text, action, fields, people, approve, deny, drawing = '' }: PlayPage,
): void {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  const choices = people.map(
    ({ id, name }, i) =>
      `<label><input type="radio" name="person" value="${escaped(id)}"${i === 0 ? ' checked' : ''}> ${escaped(name)}</label>`,
  );
  sendHtml(
    response,
    200,
    title,
    `${drawing}<p>${escaped(text)}</p><form method="post" action="${escaped(action)}">${hidden.join('')}${choices.join('')}<button name="decision" value="approve">${escaped(approve)}</button><button name="decision" value="deny">${escaped(deny)}</button></form>`,
    language,
  );
}

export function sendHtml(
  response: ServerResponse,
  status: number,
  title: string,
  content: string,
  language: Language = 'en',
): void {
  const page = `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(title)}</title><link rel="icon" href="data:,"><style>${style}</style></head><body><main><h1>${escaped(title)}</h1>${content}</main></body></html>`;
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': Buffer.byteLength(page),
    })
    .end(page);
}

export function redirect(response: ServerResponse, to: string): void {
  response.writeHead(302, { location: to, 'content-length': 0 }).end();
}

/** The address with these parameters added. */
export function withQuery(
  address: string,
  members: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(members))
    if (value !== undefined) url.searchParams.append(name, value);
  return url.href;
}

/** The fields of a form, or the strings of a JSON object, by content type. */
export function fieldsOf({ headers }: IncomingMessage, body: Buffer): URLSearchParams {
  const text = body.toString('utf8');
  if (headers['content-type']?.startsWith('application/json') !== true)
    return new URLSearchParams(text);
  try {
    const value: unknown = JSON.parse(text);
    const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return new URLSearchParams(
      pairs.map(([name, member]): [string, string] => [name, String(member)]),
    );
  } catch {
    return new URLSearchParams();
  }
}

/** Redirect addresses that are allowed: loopback, with any port. */
export function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, hash } = new URL(address);
  return (
    /^https?:$/.test(protocol) &&
    ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) &&
    username === '' &&
    hash === ''
  );
}

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
