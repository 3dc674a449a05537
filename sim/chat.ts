import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, compose, promptTokens } from './answer.ts';
import type { Complaint, Dialect, Problem, ProblemKind } from './dialect.ts';
import { fastModel, sendFast } from './fast.ts';
import { isJson, type Json, object } from './json.ts';
import { type ChatRequest, readRequest } from './request.ts';
import { firstComplaint } from './rules/parameters.ts';
import { type Once, type Scenario, scenarioOf, withoutScenarios } from './scenario.ts';
import { closed, sendJson, sendPage, sendStream, sendWhole } from './send.ts';
import type { Route } from './vendors.ts';
import { type StreamEvent, streamEvents, wholeBody } from './write.ts';

/** Keys with one of these words in them are wrong; any other is right. */
const wrongKey = /wrong|invalid|expired/i;

/** One chat request, as its vendor answers it: key, then the request itself, then what the scenario has in store. */
export async function chat(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { dialect, deployment }: Route,
  once: Once,
): Promise<void> {
  const door = atDoor(incoming, response, body, dialect);
  if (door === undefined) return;
  const { raw, problem } = door;
  const named = deployment ?? (typeof raw['model'] === 'string' ? raw['model'] : '');
  const request = readRequest(raw, withoutScenarios(named));
  const complaint = firstComplaint(dialect.rules, deployment === undefined ? request : { ...request, raw: { model: deployment, ...raw } });
  if (complaint !== undefined)
    return refuse(response, dialect, { ...problem, kind: complaint.kind ?? 'bad_request', model: request.model, complaint });
  return play(response, request, dialect, scenarioOf(named), once, problem, {
    done: dialect.style.done,
    events: (answer) => streamEvents(answer, request, dialect),
    whole: (answer) => wholeBody(answer, request, dialect),
    error: undefined,
  });
}

interface Door {
  readonly raw: Json;
  readonly problem: Problem;
}

/** The key and the JSON; undefined when the answer has been given. */
export function atDoor(incoming: IncomingMessage, response: ServerResponse, body: Buffer, dialect: Dialect): Door | undefined {
  const key = keyOf(incoming, dialect);
  const problem: Problem = {
    kind: 'missing_key',
    model: '',
    promptTokens: 0,
    key: masked(key ?? ''),
    path: incoming.url ?? '',
    complaint: undefined,
  };
  const say = (refused: Problem): undefined => {
    refuse(response, dialect, refused);
    return undefined;
  };
  if (key === undefined && dialect.key !== 'optional') return say(problem);
  if (key !== undefined && wrongKey.test(key)) return say({ ...problem, kind: 'wrong_key' });
  if (body.includes(`"${fastModel}"`)) {
    sendFast(response, body);
    return undefined;
  }
  const raw = parse(body);
  return raw === undefined ? say({ ...problem, kind: 'bad_request', complaint: unreadable }) : { raw, problem };
}

/** How an endpoint writes what the model answered. */
export interface Pen {
  /** The stream ends with `[DONE]`. */
  readonly done: boolean;
  readonly events: (answer: Answer) => Iterable<StreamEvent>;
  readonly whole: (answer: Answer) => Json;
  /** An error in mid-stream, where the vendor's own way is not the endpoint's. */
  readonly error: ((refused: Json) => string) | undefined;
}

export async function play(
  response: ServerResponse,
  request: ChatRequest,
  dialect: Dialect,
  scenario: Scenario,
  once: Once,
  blank: Problem,
  pen: Pen,
): Promise<void> {
  if (scenario.firstByteMs > 0) await wait(scenario.firstByteMs, undefined, { signal: closed(response) });
  if (scenario.hang) return;
  if (scenario.page !== undefined) return sendPage(response, scenario.page);
  const problem = (kind: ProblemKind): Problem => ({ ...blank, kind, model: request.model, promptTokens: promptTokens(request) });
  if (scenario.refuse !== undefined && (!scenario.once || once.first(JSON.stringify([request.model, request.raw['messages']])))) {
    return refuse(response, dialect, problem(scenario.refuse), scenario.retryAfterS);
  }
  const answer = compose(request, { ...scenario, reasons: scenario.reasons || dialect.reasons(request) }, dialect.callId);
  const { error: ofPen } = pen;
  const penError = ofPen && ((p: Problem) => ofPen(object(dialect.refuse(p).body)));
  const inStream = penError ?? dialect.refuseInStream ?? ((p: Problem) => `data: ${JSON.stringify(dialect.refuse(p).body)}\n\n`);
  const { pieceMs, trouble } = scenario;
  if (request.stream) {
    const error = () => inStream(problem('server'), answer);
    return sendStream(response, pen.events(answer), pen.done, { pieceMs, trouble, error });
  }
  const error = () => JSON.stringify(dialect.refuse(problem('server')).body);
  return sendWhole(response, JSON.stringify(pen.whole(answer)), { pieceMs, trouble, error });
}

const unreadable: Complaint = {
  message: 'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly.)',
};

export function refuse(response: ServerResponse, dialect: Dialect, problem: Problem, retryAfterS?: number): void {
  const { status, headers, body } = dialect.refuse(problem);
  const all = { ...headers, ...(retryAfterS !== undefined && { 'retry-after': String(retryAfterS) }) };
  if (typeof body !== 'string') return sendJson(response, status, JSON.stringify(body), all);
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...all }).end(body);
}

function keyOf({ headers }: IncomingMessage, dialect: Dialect): string | undefined {
  const own = dialect.key === 'api-key' ? headers['api-key'] : undefined;
  const key = typeof own === 'string' ? own : /^Bearer\s+(.+)$/i.exec(headers.authorization ?? '')?.[1];
  return key?.trim() || undefined;
}

function masked(key: string): string {
  return key.length <= 8 ? '****' : `${key.slice(0, 4)}****${key.slice(-4)}`;
}

function parse(body: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
