import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseRequest, refuse } from './chat.ts';
import { object } from './json.ts';
import { eventStream, play } from './play.ts';
import { readRequest } from './request.ts';
import { asChat } from './responses-request.ts';
import { responseBody, responseEvents } from './responses-write.ts';
import { responsesComplaint } from './rules/responses.ts';
import { type Once, scenarioOf, withoutScenarios } from './scenario.ts';
import type { Route } from './vendors.ts';

/**
 * One responses request as its vendor answers it: checks the key, then the request, then plays the
 * scenario.
 */
export async function responses(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { dialect }: Route,
  once: Once,
): Promise<void> {
  const parsed = parseRequest(incoming, response, body, dialect);
  if (parsed === undefined) return;
  const { raw, problem } = parsed;
  const named = typeof raw['model'] === 'string' ? raw['model'] : '';
  const request = readRequest(asChat(raw), withoutScenarios(named));
  const scenario = scenarioOf(named);
  const reasons = scenario.reasons || dialect.reasons(request);
  const complaint = responsesComplaint(raw, reasons, dialect);
  if (complaint !== undefined)
    return refuse(response, dialect, {
      ...problem,
      kind: complaint.kind ?? 'bad_request',
      model: request.model,
      complaint,
    });
  return play(response, request, dialect, { ...scenario, reasons }, once, problem, {
    ...eventStream,
    events: (answer) => responseEvents(answer, raw, dialect),
    whole: (answer) => responseBody(answer, raw, dialect),
    error: (refused) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: 9, ...object(dialect.refuse(refused).body) })}\n\n`,
  });
}
