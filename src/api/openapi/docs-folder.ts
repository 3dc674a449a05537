import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptsEncoding } from '../../http/response-encoding.ts';

const packed = promisify(gzip);
const unpacked = promisify(gunzip);

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file as it is kept in memory: a text is packed, a picture is not. */
interface Kept {
  readonly bytes: Buffer;
  readonly isPacked: boolean;
  readonly tag: string;
}

export async function textFile(text: string): Promise<Kept> {
  return kept(await packed(text), true);
}

function kept(bytes: Buffer, isPacked: boolean): Kept {
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, isPacked, tag };
}

/** Answers with the file, or with 304 to a client that has it. */
export async function sendTagged(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { bytes, isPacked, tag }: Kept,
): Promise<FastifyReply> {
  const packs = isPacked && acceptsEncoding(headers['accept-encoding'], 'gzip');
  // The two encodings of a text have tags of their own, as RFC 9110 §8.8.1 wants of strong ones.
  const etag = packs ? `"${tag}"` : `"${tag}-plain"`;
  reply.headers({
    etag,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(isPacked && { vary: 'accept-encoding' }),
  });
  if (headers['if-none-match'] === etag) return reply.code(304).send();
  if (packs) reply.header('content-encoding', 'gzip');
  return reply.send(isPacked && !packs ? await unpacked(bytes) : bytes);
}

/**
 * Serves the files of `folder`, as `scripts/build-docs.mjs` leaves them, below `/docs`: the API
 * reference, and the guides in `guide/`. A file is read when it is first asked for.
 */
export function openDocsFolder(
  server: FastifyInstance,
  folder: string,
  publicUrl: string | undefined,
): void {
  if (!existsSync(folder)) return;
  const names = readdirSync(folder, { recursive: true }).map(String);
  const places = new Map(
    names.map((name) => [name.split(sep).join('/').replace(/\.gz$/, ''), join(folder, name)]),
  );
  const read = new Map<string, Promise<Kept>>();
  const fileOf = (place: string): Promise<Kept> => {
    const reading =
      read.get(place) ?? readFile(place).then((bytes) => kept(bytes, place.endsWith('.gz')));
    read.set(place, reading);
    return reading;
  };
  const policies = new Map<string, string>();
  const send = async (request: FastifyRequest, reply: FastifyReply, name: string) => {
    const place = places.get(name);
    const type = types[extname(name)];
    if (place === undefined || type === undefined) return reply.callNotFound();
    const file = await fileOf(place);
    if (extname(name) === '.html') {
      const policy = policies.get(name) ?? (await policyOf(file, publicUrl));
      policies.set(name, policy);
      reply.headers({
        'content-security-policy': policy,
        'referrer-policy': 'same-origin',
        'x-frame-options': 'DENY',
      });
    }
    return sendTagged(request, reply.type(type), file);
  };
  server.get('/docs', (request, reply) => send(request, reply, 'index.html'));
  server.get<{ Params: { '*': string } }>('/docs/*', (request, reply) => {
    const name = request.params['*'];
    // The links of a folder's page are relative to its address with a slash.
    if (places.has(`${name}/index.html`)) return reply.redirect(`/docs/${name}/`, 301);
    return send(request, reply, name.replace(/(^|\/)$/, '$1index.html'));
  });
}

/**
 * The page's own scripts and no others; styles may stand in the page, as the reference and the
 * guides write them. Calls go to this gateway alone.
 */
async function policyOf(page: Kept, publicUrl: string | undefined): Promise<string> {
  const html = String(page.isPacked ? await unpacked(page.bytes) : page.bytes);
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g)].map(
    ([, script = '']) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  const ours = publicUrl === undefined ? "'self'" : `'self' ${new URL(publicUrl).origin}`;
  return [
    "default-src 'none'",
    `script-src 'self'${[...new Set(inline)].join('')}`,
    "style-src 'self' 'unsafe-inline'",
    `img-src ${ours} data: blob:`,
    `media-src ${ours} blob:`,
    `connect-src ${ours}`,
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
