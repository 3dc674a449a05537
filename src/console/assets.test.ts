import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { openSystemRoutes } from '../api/system-routes.ts';
import { answerUnreadable } from '../api/errors.ts';
import { systemClock } from '../base/clock.ts';
import { openFramework } from '../http/framework.ts';
import { serverLimits } from '../http/server.ts';
import { openAssets } from './assets.ts';

const html =
  '<!doctype html><html lang="en" data-theme="system"><meta property="csp-nonce" nonce=""><script src="/assets/a-1.js"></script>' +
  [
    ['', 'all.js'],
    ['/', 'home.js'],
    ['/keys', 'keys.js'],
    ['zh-CN /keys', 'keys-zh.js'],
  ]
    .map(([wanted, file]) => `<link data-for="${wanted}" rel="modulepreload" href="${file}">\n`)
    .join('');
const page = { accept: 'text/html,*/*' };

function consoleOf(publicUrl?: string, built = true) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-assets-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (built) {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), html);
    writeFileSync(join(folder, 'assets', 'a-1.js'), 'let a;');
    writeFileSync(join(folder, 'assets', 'a-1.js.gz'), gzipSync('let a;'));
    writeFileSync(join(folder, 'secret.txt'), 'not an asset');
  }
  const unreadable = answerUnreadable(systemClock);
  const server = openFramework(serverLimits, unreadable);
  const { page: otherwise } = openAssets(server, folder, publicUrl);
  openSystemRoutes(server, {
    ready: () => true,
    metrics: async () => ({ type: '', text: '' }),
    metricsToken: undefined,
    unreadable,
    endpoints: [],
    otherwise,
  });
  return server;
}

test('every address of the console is its page, and nobody keeps it', async () => {
  const server = consoleOf();
  for (const url of ['/', '/keys', '/usage/req_1?x=1', '/models/vendor/model']) {
    const answer = await server.inject({ url, headers: page });
    expect([answer.statusCode, answer.headers['content-type']], url).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(answer.headers['cache-control']).toContain('no-cache');
  }
});

test('other addresses and other asks are never answered with a page', async () => {
  const server = consoleOf();
  for (const url of [
    '/v1/nothing',
    '/docs',
    '/openapi.json',
    '/files/x',
    '/metrics',
    '/auth/x',
    '/console/api/x',
    '/assets/none.js',
    '/assets/..%2fsecret.txt',
  ]) {
    const answer = await server.inject({ url, headers: page });
    expect([answer.statusCode, answer.json().error.code], url).toEqual([404, 'unknown_url']);
  }
  expect(
    (await server.inject({ url: '/keys', headers: { accept: 'application/json' } })).statusCode,
  ).toBe(404);
  expect((await server.inject({ method: 'POST', url: '/keys', headers: page })).statusCode).toBe(
    404,
  );
  expect((await server.inject({ url: '/healthz', headers: page })).json()).toEqual({ ok: true });
});

test('scripts come from files of ours alone, and the nonce is new for each page', async () => {
  const server = consoleOf('https://tollgate.example/');
  const [one, two] = [await server.inject({ url: '/' }), await server.inject({ url: '/' })];
  const policy = String(one.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
  expect(policy).not.toContain('unsafe');
  expect(policy).toContain("img-src 'self' https://tollgate.example data: blob:");
  const nonce = /nonce="([^"]+)"/.exec(one.body)?.[1] ?? '';
  expect(policy).toContain(`'nonce-${nonce}'`);
  expect(two.body).not.toContain(nonce);
});

test('language and theme stand in the page before any script runs', async () => {
  const server = consoleOf();
  const shown = async (headers: Record<string, string>) =>
    /<html [^>]+>/.exec((await server.inject({ url: '/', headers })).body)?.[0];
  expect(await shown({})).toBe('<html lang="en" data-theme="system">');
  expect(await shown({ 'accept-language': 'zh-CN,en;q=0.8' })).toBe(
    '<html lang="zh-CN" data-theme="system">',
  );
  expect(
    await shown({
      'accept-language': 'zh-CN',
      cookie: 'tollgate_language=en; tollgate_theme=dark',
    }),
  ).toBe('<html lang="en" data-theme="dark">');
  expect(await shown({ cookie: 'tollgate_theme="><script>; tollgate_language=<' })).toBe(
    '<html lang="en" data-theme="system">',
  );
});

test('a page names the scripts of its path and language, and no others', async () => {
  const server = consoleOf();
  const links = async (url: string, language: string) =>
    [
      ...(
        await server.inject({ url, headers: { ...page, 'accept-language': language } })
      ).body.matchAll(/<link rel="modulepreload" href="([^"]+)">/g),
    ].map(([, file]) => file);
  expect(await links('/', 'en')).toEqual(['all.js', 'home.js']);
  expect(await links('/keys/?x=1', 'zh-CN')).toEqual(['all.js', 'keys.js', 'keys-zh.js']);
  expect(await links('/keys', 'en')).toEqual(['all.js', 'keys.js']);
  expect((await server.inject({ url: '/' })).body).not.toContain('data-for');
});

test('files are kept for ever, and come packed to a browser that unpacks them', async () => {
  const server = consoleOf();
  const plain = await server.inject({ url: '/assets/a-1.js' });
  expect([plain.body, plain.headers['cache-control']]).toEqual([
    'let a;',
    'public, max-age=31536000, immutable',
  ]);
  const small = await server.inject({
    url: '/assets/a-1.js',
    headers: { 'accept-encoding': 'br, gzip' },
  });
  expect(small.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'accept-encoding',
  });
  const refused = await server.inject({
    url: '/assets/a-1.js',
    headers: { 'accept-encoding': 'gzip;q=0' },
  });
  expect(refused.headers['content-encoding']).toBeUndefined();
});

test('without a built console there is none', async () => {
  const server = consoleOf(undefined, false);
  expect((await server.inject({ url: '/', headers: page })).statusCode).toBe(404);
});
