import type { IncomingMessage, ServerResponse } from 'node:http';
import { complain, parseRequest } from './chat.ts';
import { object } from './json.ts';
import { eventStream, play } from './play.ts';
import { readRequest } from './request.ts';
import { asChat } from './responses-request.ts';
import { responseBody, responseEvents } from './responses-write.ts';
import { responsesComplaint } from './rules/responses.ts';
import { type Once, scenarioOf } from './scenario.ts';
import type { Route } from './vendors.ts';

/**
 * One responses request as its vendor answers it: checks the key, then the request, then plays the
 * scenario.
 */
export async function responses(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  route: Route,
  once: Once,
): Promise<void> {
  const { dialect } = route;
  const parsed = parseRequest(incoming, response, body, route);
  if (parsed === undefined) return;
  const { raw, named, model, problem } = parsed;
  const request = readRequest(asChat(raw), model);
  const scenario = scenarioOf(named);
  const reasons = scenario.reasons || dialect.reasons(request);
  const complaint = responsesComplaint(raw, reasons, dialect);
  if (complaint !== undefined) return complain(response, dialect, parsed, complaint);
  return play(response, request, dialect, { ...scenario, reasons }, once, problem, {
    ...eventStream,
    events: (answer) => responseEvents(answer, raw, dialect),
    whole: (answer) => responseBody(answer, raw, dialect),
    error: (refused) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: 9, ...object(dialect.refuse(refused).body) })}\n\n`,
  });
}
