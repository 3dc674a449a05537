import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieIn } from '../http/cookies.ts';
import { acceptsEncoding } from '../http/response-encoding.ts';
import { languageOf } from './language.ts';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/**
 * Paths that are never pages of the console: a request for something that does not exist there gets
 * a 404.
 */
const notPages =
  /^\/(?:v1|docs|openapi\.json|files|healthz|readyz|metrics|auth|console|assets)(?:\/|$)/;

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly packed: readonly (readonly [encoding: 'br' | 'gzip', bytes: Buffer])[];
}

export interface ConsolePages {
  /**
   * Sends the console's page for a GET of any of its addresses. Undefined when the address is none
   * of them, or the console was not built.
   */
  page(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined;
}

/**
 * Serves the built console of `folder` (`index.html` and `assets/` with names that change with
 * their content): browsers cache the files for ever and the page never. All is read once, about 2
 * MB. `publicUrl`: images and videos may come from there as well.
 */
export function openAssets(
  server: FastifyInstance,
  folder: string | undefined,
  publicUrl: string | undefined,
): ConsolePages {
  if (folder === undefined || !existsSync(join(folder, 'index.html')))
    return { page: () => undefined };
  const index = readFileSync(join(folder, 'index.html'), 'utf8');
  const assets = readAssets(join(folder, 'assets'));
  server.get<{ Params: { name: string } }>(
    '/assets/:name',
    ({ params: { name }, headers }, reply) => {
      const asset = assets.get(name);
      if (asset === undefined) return reply.callNotFound();
      const [encoding, bytes] = asset.packed.find(([way]) =>
        acceptsEncoding(headers['accept-encoding'], way),
      ) ?? [undefined, asset.bytes];
      if (encoding !== undefined) reply.header('content-encoding', encoding);
      return reply
        .headers({
          'cache-control': 'public, max-age=31536000, immutable',
          vary: 'accept-encoding',
          'x-content-type-options': 'nosniff',
        })
        .type(asset.type)
        .send(bytes);
    },
  );
  server.get('/', (request, reply) => sendPage(request, reply, index, publicUrl));
  return {
    page(request, reply) {
      const { method, url, headers } = request;
      const isPage =
        (method === 'GET' || method === 'HEAD') && !notPages.test(url.split('?', 1)[0] ?? '');
      // A client that forgot /v1 and asks for JSON gets the JSON error instead.
      return isPage && headers.accept?.includes('text/html')
        ? sendPage(request, reply, index, publicUrl)
        : undefined;
    },
  };
}

/**
 * Language and theme are written into the page, so that it begins in the right ones without a
 * script of its own.
 */
function sendPage(
  { url, headers }: FastifyRequest,
  reply: FastifyReply,
  index: string,
  publicUrl: string | undefined,
): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const language = languageOf(headers) === 'zh' ? 'zh-CN' : 'en';
  const path = (url.split('?', 1)[0] ?? '').replace(/(.)\/$/, '$1');
  const html = index
    .replace('lang="en"', `lang="${language}"`)
    // A line stays when the page's path and language are what it is for.
    .replaceAll(/<link data-for="([^"]*)" ([^>]*>)\n/g, (_, wanted: string, rest: string) =>
      wanted.split(' ').every((each) => ['', path, language].includes(each))
        ? `<link ${rest}\n`
        : '',
    )
    .replace('data-theme="system"', `data-theme="${themeOf(headers.cookie)}"`)
    .replace('nonce=""', `nonce="${nonce}"`);
  return reply
    .headers({
      'cache-control': 'no-cache, private',
      'content-security-policy': policy(nonce, publicUrl),
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'referrer-policy': 'same-origin',
      vary: 'cookie, accept-language',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    .type('text/html; charset=utf-8')
    .send(html);
}

/**
 * Scripts come from our own files alone. The nonce is for the one style that a dialog writes while
 * it keeps the page from scrolling.
 */
function policy(nonce: string, publicUrl: string | undefined): string {
  const ours = publicUrl === undefined ? "'self'" : `'self' ${new URL(publicUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${ours} data: blob:`,
    `media-src ${ours} blob:`,
    `connect-src ${ours}`,
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function themeOf(cookie: string | undefined): 'system' | 'light' | 'dark' {
  const chosen = cookieIn(cookie, 'tollgate_theme');
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

function readAssets(folder: string): ReadonlyMap<string, Asset> {
  const names = new Set(readdirSync(folder));
  const packed = (name: string, encoding: 'br' | 'gzip', ending: string) =>
    names.has(name + ending)
      ? [[encoding, readFileSync(join(folder, name + ending))] as const]
      : [];
  const known = [...names].flatMap((name) => {
    const type = types[extname(name)];
    if (type === undefined) return [];
    return [
      [
        name,
        {
          type,
          bytes: readFileSync(join(folder, name)),
          packed: [...packed(name, 'br', '.br'), ...packed(name, 'gzip', '.gz')],
        },
      ] as const,
    ];
  });
  return new Map(known);
}
