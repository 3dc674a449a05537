import type { FastifyInstance } from 'fastify';
import { openDocsFolder, sendTagged, textFile } from './docs-folder.ts';
import { type ApiInfo, openApi, type RouteId } from './document.ts';

/**
 * Serves `/openapi.json`, and below `/docs` the built documents of `folder` for people, without an
 * API key. Undefined: the documents were not built.
 */
export function openDocuments(
  server: FastifyInstance,
  rows: readonly RouteId[],
  about: ApiInfo,
  folder: string | undefined,
): void {
  let made: ReturnType<typeof textFile> | undefined;
  server.get('/openapi.json', async (request, reply) => {
    made ??= textFile(JSON.stringify(openApi(rows, about)));
    reply.header('access-control-allow-origin', '*').type('application/json; charset=utf-8');
    return sendTagged(request, reply, await made);
  });
  if (folder !== undefined) openDocsFolder(server, folder, about.publicUrl);
}
