import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseRequest, refuse } from '../chat.ts';
import { play } from '../play.ts';
import { readRequest } from '../request.ts';
import { type Once, scenarioOf, withoutScenarios } from '../scenario.ts';
import type { Route } from '../vendors.ts';
import { endpointAt } from './desk.ts';
import { asQuestion } from './pen.ts';
import { besideChat } from './vendors.ts';

/**
 * One request for embeddings, moderation or reranking as its vendor answers it; false when the
 * vendor has no such endpoint.
 */
export async function vectors(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { dialect, deployment, path }: Route,
  once: Once,
): Promise<boolean> {
  const endpoint = endpointAt(path, besideChat[dialect.vendor] ?? {});
  if (endpoint === undefined) return false;
  const parsed = parseRequest(incoming, response, body, dialect);
  if (parsed === undefined) return true;
  const raw = deployment === undefined ? parsed.raw : { model: deployment, ...parsed.raw };
  const named = deployment ?? (typeof raw['model'] === 'string' ? raw['model'] : '');
  const model = withoutScenarios(named);
  const complaint = endpoint.complaint(raw);
  if (complaint !== undefined) {
    refuse(response, dialect, {
      ...parsed.problem,
      kind: complaint.kind ?? 'bad_request',
      model,
      complaint,
    });
    return true;
  }
  const request = readRequest(asQuestion(endpoint.texts(raw)), model);
  await play(
    response,
    request,
    dialect,
    { ...scenarioOf(named), reasons: false },
    once,
    parsed.problem,
    endpoint.pen(raw),
  );
  return true;
}
