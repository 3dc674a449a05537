import type { IncomingMessage, ServerResponse } from 'node:http';
import { bearerOf, isWrongKey, keyOf } from './api-key.ts';
import type { Complaint, Dialect, Problem } from './dialect.ts';
import { fastModel, sendFast } from './fast.ts';
import { objectIn, type Json } from './json.ts';
import { eventStream, play, reply } from './play.ts';
import { readRequest } from './request.ts';
import { firstComplaint } from './rules/parameters.ts';
import { type Once, scenarioOf, withoutScenarios } from './scenario.ts';
import type { Route } from './vendors.ts';
import { streamEvents, wholeBody } from './write.ts';

/**
 * One chat request as its vendor answers it: checks the key, then the request, then plays the
 * scenario.
 */
export async function chat(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { dialect, deployment }: Route,
  once: Once,
): Promise<void> {
  const parsed = parseRequest(incoming, response, body, dialect);
  if (parsed === undefined) return;
  const { raw, problem } = parsed;
  const named = deployment ?? (typeof raw['model'] === 'string' ? raw['model'] : '');
  const request = readRequest(raw, withoutScenarios(named));
  const complaint = firstComplaint(
    dialect.rules,
    deployment === undefined ? request : { ...request, raw: { model: deployment, ...raw } },
  );
  if (complaint !== undefined)
    return refuse(response, dialect, {
      ...problem,
      kind: complaint.kind ?? 'bad_request',
      model: request.model,
      complaint,
    });
  const scenario = scenarioOf(named);
  const inStream =
    dialect.refuseInStream ??
    ((refused) => `data: ${JSON.stringify(dialect.refuse(refused).body)}\n\n`);
  return play(
    response,
    request,
    dialect,
    { ...scenario, reasons: scenario.reasons || dialect.reasons(request) },
    once,
    problem,
    {
      ...eventStream,
      end: dialect.style.done ? 'data: [DONE]\n\n' : '',
      events: (answer) => streamEvents(answer, request, dialect),
      whole: (answer) => wholeBody(answer, request, dialect),
      error: inStream,
    },
  );
}

interface ParsedRequest {
  readonly raw: Json;
  readonly problem: Problem;
}

/** Checks the key and parses the JSON; undefined when it has sent the response. */
export function parseRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  dialect: Dialect,
): ParsedRequest | undefined {
  const { headers } = incoming;
  const key = dialect.key === 'api-key' ? keyOf(headers, 'api-key') : bearerOf(headers);
  const problem: Problem = {
    kind: 'missing_key',
    model: '',
    promptTokens: 0,
    key: masked(key ?? ''),
    path: incoming.url ?? '',
    complaint: undefined,
  };
  const refuseWith = (refused: Problem): undefined => {
    refuse(response, dialect, refused);
    return undefined;
  };
  if (key === undefined && dialect.key !== 'optional') return refuseWith(problem);
  if (key !== undefined && isWrongKey(key)) return refuseWith({ ...problem, kind: 'wrong_key' });
  if (body.includes(`"${fastModel}"`) && incoming.url?.includes('/chat/completions') === true) {
    sendFast(response, body);
    return undefined;
  }
  const raw = objectIn(body);
  return raw === undefined
    ? refuseWith({ ...problem, kind: 'bad_request', complaint: unreadable })
    : { raw, problem };
}

const unreadable: Complaint = {
  message:
    'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly.)',
};

export function refuse(response: ServerResponse, dialect: Dialect, problem: Problem): void {
  reply(response, dialect.refuse(problem));
}

function masked(key: string): string {
  return key.length <= 8 ? '****' : `${key.slice(0, 4)}****${key.slice(-4)}`;
}
