import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiInfo, openApi, type RouteId } from './document.ts';
import { renderApiPage, apiPageStyle } from './page.ts';

const stylePath = '/docs/style.css';

/** The page runs no script and loads nothing from other hosts. */
const policy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Serves `/openapi.json`, and `/docs` for people, without an API key. Each is made once, on the
 * first request; clients check it again by its ETag.
 */
export function openDocuments(
  server: FastifyInstance,
  rows: readonly RouteId[],
  about: ApiInfo,
): void {
  const served = (
    type: string,
    make: () => string,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    let made: { readonly text: string; readonly tag: string } | undefined;
    return (request: FastifyRequest, reply: FastifyReply) => {
      made ??= tagged(make());
      const always = {
        etag: made.tag,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        ...headers,
      };
      if (request.headers['if-none-match'] === made.tag)
        return reply.headers(always).code(304).send();
      return reply.headers(always).type(type).send(made.text);
    };
  };
  const anyOrigin = { 'access-control-allow-origin': '*' };
  server.get(
    '/openapi.json',
    served(
      'application/json; charset=utf-8',
      () => JSON.stringify(openApi(rows, about)),
      anyOrigin,
    ),
  );
  server.get(
    '/docs',
    served(
      'text/html; charset=utf-8',
      () => renderApiPage(rows, about.publicUrl ?? '$TOLLGATE_URL', stylePath),
      {
        'content-security-policy': policy,
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
      },
    ),
  );
  server.get(
    stylePath,
    served('text/css; charset=utf-8', () => apiPageStyle),
  );
}

const tagged = (text: string) => ({
  text,
  tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
});
