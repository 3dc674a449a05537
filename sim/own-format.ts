import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Problem, Reply } from './dialect.ts';
import { type Writer, play, reply, type Player } from './play.ts';
import { type ChatRequest, readRequest } from './request.ts';
import { type Once, scenarioOf, withoutScenarios } from './scenario.ts';
import type { Json } from './json.ts';

/** An incoming request. */
export interface OwnCall {
  readonly method: string;
  /** The path after the vendor's prefix, as sent, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The whole URL as sent, for signatures. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * A request to a model. The simulator's models read chat requests (`ChatRequest`), whatever format
 * the vendor's clients write.
 */
export interface ModelRequest {
  /** As a chat request, without the scenario in the model's name. */
  readonly request: ChatRequest;
  /** The model as the client named it, with its scenario. */
  readonly named: string;
  /** The model thinks first. */
  readonly reasons: boolean;
  readonly writer: Writer;
}

/**
 * A vendor whose format is not OpenAI's: it parses and checks its own requests, and writes its own
 * responses.
 */
export interface OwnFormat extends Player {
  readonly vendor: string;
  /** The path of its base URL; no other vendor shares the first step. */
  readonly prefix: string;
  /** A key that it accepts, where it does not accept any. */
  readonly key?: string;
  /** A direct response (a refusal, a list, a count), or a request to the model. */
  readonly take: (call: OwnCall) => Reply | ModelRequest;
}

/**
 * `chat`: the request in the format of /chat/completions (model, messages, tools, stream, limits).
 */
export function modelRequest(
  named: string,
  chat: Json,
  reasons: boolean,
  writer: Writer,
): ModelRequest {
  return { named, request: readRequest(chat, withoutScenarios(named)), reasons, writer };
}

/** A problem without any facts yet. */
export const blankProblem = (path: string): Problem => ({
  kind: 'bad_request',
  model: '',
  promptTokens: 0,
  key: '',
  path,
  complaint: undefined,
});

/** One request to such a vendor: its direct response, else the scenario and the model's answer. */
export async function answerOwn(
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
  const { named, request, reasons, writer } = taken;
  const scenario = scenarioOf(named);
  return play(
    response,
    request,
    format,
    { ...scenario, reasons: scenario.reasons || reasons },
    once,
    blankProblem(url),
    writer,
  );
}
