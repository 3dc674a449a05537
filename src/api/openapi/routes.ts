import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptsEncoding, encodeBody, type EncodedBody } from '../../http/response-encoding.ts';
import { type ApiInfo, openApi, type RouteId } from './document.ts';
import { renderApiPage, apiPageStyle } from './page.ts';

const stylePath = '/docs/style.css';

/** The page runs no script and loads nothing from other hosts. */
const policy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Serves `/openapi.json`, and `/docs` for people, without an API key. Each is made once for
 * each encoding, on the first request; clients check it again by its ETag.
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
    const made = new Map<boolean, Promise<Document>>();
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const acceptEncoding = request.headers['accept-encoding'];
      const packs = acceptsEncoding(acceptEncoding, 'gzip');
      const document = made.get(packs) ?? makeDocument(make(), acceptEncoding);
      made.set(packs, document);
      const { body, tag, headers: encoding } = await document;
      reply.headers({
        etag: tag,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        ...headers,
        ...encoding,
      });
      if (request.headers['if-none-match'] === tag)
        return reply.removeHeader('content-encoding').code(304).send();
      return reply.type(type).send(body);
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

interface Document extends EncodedBody {
  /** The two encodings of a text have tags of their own, as RFC 9110 §8.8.1 wants of strong ones. */
  readonly tag: string;
}

async function makeDocument(
  text: string,
  acceptEncoding: string | string[] | undefined,
): Promise<Document> {
  const encoded = await encodeBody(text, acceptEncoding);
  const tag = createHash('sha256').update(encoded.body).digest('base64url').slice(0, 22);
  return { ...encoded, tag: `"${tag}"` };
}
