import type { IncomingMessage, ServerResponse } from 'node:http';
import { complain, parseRequest } from '../chat.ts';
import { play } from '../play.ts';
import { readRequest } from '../request.ts';
import { type Once, scenarioOf } from '../scenario.ts';
import type { Route } from '../vendors.ts';
import { endpointAt } from './endpoint.ts';
import { asQuestion } from './writer.ts';
import { vectorRules } from './rules.ts';

/**
 * One request for embeddings, moderation or reranking as its vendor answers it; false when the
 * vendor has no such endpoint.
 */
export async function vectors(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  route: Route,
  once: Once,
): Promise<boolean> {
  const { dialect, path } = route;
  const endpoint = endpointAt(path, vectorRules[dialect.vendor] ?? {});
  if (endpoint === undefined) return false;
  const parsed = parseRequest(incoming, response, body, route);
  if (parsed === undefined) return true;
  const { raw, named, model, problem } = parsed;
  const complaint = endpoint.complaint(raw);
  if (complaint !== undefined) {
    complain(response, dialect, parsed, complaint);
    return true;
  }
  const request = readRequest(asQuestion(endpoint.texts(raw)), model);
  await play(
    response,
    request,
    dialect,
    { ...scenarioOf(named), reasons: false },
    once,
    problem,
    endpoint.writer(raw),
  );
  return true;
}
