import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { openDocsFolder } from './docs-folder.ts';

const page = '<!doctype html><script src="/docs/a.js"></script><script>let own;</script>';

function documents(publicUrl?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'guide', 'zh'), { recursive: true });
  writeFileSync(join(folder, 'index.html.gz'), gzipSync(page));
  writeFileSync(join(folder, 'guide', 'index.html.gz'), gzipSync('the guides'));
  writeFileSync(join(folder, 'guide', 'zh', 'index.html.gz'), gzipSync('指南'));
  writeFileSync(join(folder, 'guide', '.sources'), 'no document');
  writeFileSync(join(folder, 'guide', 'one.png'), 'png');
  const server = fastify();
  openDocsFolder(server, folder, publicUrl);
  return server;
}

test('a text comes packed to a client that unpacks it, under a tag of its own', async () => {
  const server = documents();
  const packed = await server.inject({ url: '/docs', headers: { 'accept-encoding': 'br, gzip' } });
  const plain = await server.inject({ url: '/docs' });
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.body).toBe(page);
  expect(packed.rawPayload).toEqual(gzipSync(page));
  expect(packed.headers.etag).not.toBe(plain.headers.etag);
  const again = await server.inject({
    url: '/docs',
    headers: { 'if-none-match': String(plain.headers.etag) },
  });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('folders have their page, pictures are sent as they are, and nothing else is served', async () => {
  const server = documents();
  const got = async (url: string) => {
    const { statusCode, body, headers } = await server.inject({ url });
    return statusCode === 200 ? body : statusCode === 301 ? headers.location : statusCode;
  };
  expect(await got('/docs/guide')).toBe('/docs/guide/');
  expect(await got('/docs/guide/')).toBe('the guides');
  expect(await got('/docs/guide/zh')).toBe('/docs/guide/zh/');
  expect(await got('/docs/guide/zh/')).toBe('指南');
  expect(await got('/docs/guide/one.png')).toBe('png');
  for (const url of [
    '/docs/guide/.sources',
    '/docs/none.html',
    '/docs/..%2fsecret',
    '/docs/guide/..%2f..',
  ])
    expect(await got(url), url).toBe(404);
});

test('a page runs files of ours and its own scripts, and calls this gateway alone', async () => {
  const policyOf = async (publicUrl?: string) =>
    String(
      (await documents(publicUrl).inject({ url: '/docs' })).headers['content-security-policy'],
    );
  const policy = await policyOf();
  expect(policy).toContain(
    "default-src 'none'; script-src 'self' 'sha256-fyRfWIMmZU68Qo1SKuRPneNpeMLEtW1VkRHdqbCq6+o='; ",
  );
  expect(policy).toContain("connect-src 'self';");
  expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline/);
  expect(await policyOf('https://public.example/')).toContain(
    "connect-src 'self' https://public.example;",
  );
});
