import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Problem, Reply } from './dialect.ts';
import { type Pen, play, reply, type Player } from './play.ts';
import { type ChatRequest, readRequest } from './request.ts';
import { type Once, scenarioOf, withoutScenarios } from './scenario.ts';
import type { Json } from './json.ts';

/** A request as it came. */
export interface OwnCall {
  readonly method: string;
  /** What follows the vendor's prefix, as it was sent, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The whole URL as it was sent, for signatures. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * What a model is asked: the simulator's models read chat's words (`ChatRequest`), whatever their
 * vendor's clients write.
 */
export interface Asking {
  /** The request in chat's words, its scenario out of the model's name. */
  readonly request: ChatRequest;
  /** The model as the client named it, with its scenario. */
  readonly named: string;
  /** The model thinks first. */
  readonly reasons: boolean;
  readonly pen: Pen;
}

/**
 * A vendor whose format is not OpenAI's: it reads and checks its own requests and writes its own
 * answers.
 */
export interface OwnFormat extends Player {
  readonly vendor: string;
  /** What stands for its base URL's path; the first step is its alone. */
  readonly prefix: string;
  /** A key that is right, where not any is. */
  readonly key?: string;
  /** What is said at once (a refusal, a list, a count), or what the model is asked. */
  readonly take: (call: OwnCall) => Reply | Asking;
}

/**
 * `chat`: the request in the words of /chat/completions (model, messages, tools, stream, limits).
 */
export function asking(named: string, chat: Json, reasons: boolean, pen: Pen): Asking {
  return { named, request: readRequest(chat, withoutScenarios(named)), reasons, pen };
}

/** A problem of which nothing is known yet. */
export const blankProblem = (path: string): Problem => ({
  kind: 'bad_request',
  model: '',
  promptTokens: 0,
  key: '',
  path,
  complaint: undefined,
});

/** One request to such a vendor: what it says itself, else what the scenario has in store. */
export async function askOwn(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  format: OwnFormat,
  once: Once,
): Promise<void> {
  const { method = '', url = '', headers } = incoming;
  const [path = '', query = ''] = url.split('?');
  const taken = format.take({
    method,
    url,
    path: path.startsWith(format.prefix) ? path.slice(format.prefix.length) : '',
    query: new URLSearchParams(query),
    headers,
    body,
  });
  if ('status' in taken) return reply(response, taken);
  const { named, request, reasons, pen } = taken;
  const scenario = scenarioOf(named);
  return play(
    response,
    request,
    format,
    { ...scenario, reasons: scenario.reasons || reasons },
    once,
    blankProblem(url),
    pen,
  );
}
