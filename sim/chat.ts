import type { IncomingMessage, ServerResponse } from 'node:http';
import { bearerOf, isWrongKey, keyOf } from './api-key.ts';
import type { Complaint, Dialect, Problem } from './dialect.ts';
import { fastModel, sendFast } from './fast.ts';
import { objectIn, type Json, text } from './json.ts';
import { blankProblem } from './own-format.ts';
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
  route: Route,
  once: Once,
): Promise<void> {
  const { dialect } = route;
  const parsed = parseRequest(incoming, response, body, route);
  if (parsed === undefined) return;
  const request = readRequest(parsed.raw, parsed.model);
  const complaint = firstComplaint(dialect.rules, request);
  if (complaint !== undefined) return complain(response, dialect, parsed, complaint);
  const scenario = scenarioOf(parsed.named);
  return play(
    response,
    request,
    dialect,
    { ...scenario, reasons: scenario.reasons || dialect.reasons(request) },
    once,
    parsed.problem,
    {
      ...streamEnds(dialect),
      events: (answer) => streamEvents(answer, request, dialect),
      whole: (answer) => wholeBody(answer, request, dialect),
    },
  );
}

/** How the vendor's streams of chat and completions end, well and with an error. */
export const streamEnds = ({ style, refuse: refusal, refuseInStream }: Dialect) => ({
  ...eventStream,
  end: style.done ? 'data: [DONE]\n\n' : '',
  error:
    refuseInStream ?? ((problem: Problem) => `data: ${JSON.stringify(refusal(problem).body)}\n\n`),
});

interface ParsedRequest {
  /** With the model of the path, where the path names it. */
  readonly raw: Json;
  /** The model as the client named it, with its scenario. */
  readonly named: string;
  /** The model without its scenario. */
  readonly model: string;
  /** The facts for a refusal. */
  readonly problem: Problem;
}

/**
 * Checks the key and parses the JSON; undefined when it has sent the response. `body`: also the
 * fields of a form.
 */
export function parseRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer | Json,
  { dialect, deployment }: Pick<Route, 'dialect' | 'deployment'>,
): ParsedRequest | undefined {
  const problem = admit(incoming, response, dialect);
  if (problem === undefined) return undefined;
  const isBuffer = Buffer.isBuffer(body);
  if (
    isBuffer &&
    body.includes(`"${fastModel}"`) &&
    incoming.url?.includes('/chat/completions') === true
  ) {
    sendFast(response, body);
    return undefined;
  }
  const sent = isBuffer ? objectIn(body) : body;
  if (sent === undefined) {
    refuse(response, dialect, { ...problem, kind: 'bad_request', complaint: unreadable });
    return undefined;
  }
  const named = deployment ?? text(sent['model']) ?? '';
  const raw = deployment === undefined ? sent : { model: deployment, ...sent };
  return { raw, named, model: withoutScenarios(named), problem };
}

/** Checks the key; returns the facts for later refusals, or undefined when it has refused. */
export function admit(
  { headers, url }: IncomingMessage,
  response: ServerResponse,
  dialect: Dialect,
): Problem | undefined {
  const key = dialect.key === 'api-key' ? keyOf(headers, 'api-key') : bearerOf(headers);
  const problem: Problem = { ...blankProblem(url ?? ''), key: masked(key ?? '') };
  const kind =
    key === undefined
      ? dialect.key === 'optional'
        ? undefined
        : 'missing_key'
      : isWrongKey(key)
        ? 'wrong_key'
        : undefined;
  if (kind === undefined) return problem;
  refuse(response, dialect, { ...problem, kind });
  return undefined;
}

const unreadable: Complaint = {
  message:
    'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly.)',
};

export function refuse(response: ServerResponse, dialect: Dialect, problem: Problem): void {
  reply(response, dialect.refuse(problem));
}

/** Refuses a request because of a complaint about it. */
export function complain(
  response: ServerResponse,
  dialect: Dialect,
  { model, problem }: Pick<ParsedRequest, 'model' | 'problem'>,
  complaint: Complaint,
): void {
  const { kind = 'bad_request' } = complaint;
  refuse(response, dialect, { ...problem, kind, model, complaint });
}

function masked(key: string): string {
  return key.length <= 8 ? '****' : `${key.slice(0, 4)}****${key.slice(-4)}`;
}
