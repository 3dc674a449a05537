import type { IncomingMessage, ServerResponse } from 'node:http';
import { atDoor, refuse } from '../chat.ts';
import { play } from '../play.ts';
import { readRequest } from '../request.ts';
import { type Once, scenarioOf, withoutScenarios } from '../scenario.ts';
import type { Route } from '../vendors.ts';
import { deskAt } from './desk.ts';
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
  const desk = deskAt(path, besideChat[dialect.vendor] ?? {});
  if (desk === undefined) return false;
  const door = atDoor(incoming, response, body, dialect);
  if (door === undefined) return true;
  const raw = deployment === undefined ? door.raw : { model: deployment, ...door.raw };
  const named = deployment ?? (typeof raw['model'] === 'string' ? raw['model'] : '');
  const model = withoutScenarios(named);
  const complaint = desk.complaint(raw);
  if (complaint !== undefined) {
    refuse(response, dialect, {
      ...door.problem,
      kind: complaint.kind ?? 'bad_request',
      model,
      complaint,
    });
    return true;
  }
  const request = readRequest(asQuestion(desk.texts(raw)), model);
  await play(
    response,
    request,
    dialect,
    { ...scenarioOf(named), reasons: false },
    once,
    door.problem,
    desk.pen(raw),
  );
  return true;
}
