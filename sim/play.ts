import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, compose, promptTokens } from './answer.ts';
import type { Problem, ProblemKind, Reply } from './dialect.ts';
import type { Json } from './json.ts';
import type { ChatRequest } from './request.ts';
import type { Once, Scenario } from './scenario.ts';
import { closed, sendJson, sendPage, sendStream, sendWhole } from './send.ts';
import type { StreamEvent } from './write.ts';

/** The writer of an endpoint's responses. */
export interface Writer {
  readonly events: (answer: Answer) => Iterable<StreamEvent>;
  readonly whole: (answer: Answer) => Json;
  /** Sent after the last event. */
  readonly end: string;
  /** The bytes of an error in mid-stream. */
  readonly error: (problem: Problem, answer: Answer) => string | Buffer;
  /** An event that no client can parse. */
  readonly broken: string | Buffer;
  readonly streamType: string;
  /** Headers of its responses and streams besides the content type. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Shared by most streams. */
export const eventStream = {
  end: '',
  broken: 'data: {"id":"chatcmpl-1","choices":[{"delta":{"content":\n\n',
  streamType: 'text/event-stream; charset=utf-8',
};

/** The vendor of a response: its refusals, and the ids of its calls. */
export interface Player {
  readonly refuse: (problem: Problem) => Reply;
  readonly callId: () => string;
  /** The refusal's text says when to retry; there is no header. */
  readonly retryInBody?: true;
}

/** Plays a valid request: the scenario first, then the answer. `blank`: the facts for a refusal. */
export async function play(
  response: ServerResponse,
  request: ChatRequest,
  player: Player,
  scenario: Scenario,
  once: Once,
  blank: Problem,
  writer: Writer,
): Promise<void> {
  if (scenario.firstByteMs > 0)
    await wait(scenario.firstByteMs, undefined, { signal: closed(response) });
  if (scenario.hang) return;
  if (scenario.page !== undefined) return sendPage(response, scenario.page);
  const problem = (kind: ProblemKind): Problem => ({
    ...blank,
    kind,
    model: request.model,
    promptTokens: promptTokens(request),
    retryAfterS: scenario.retryAfterS,
  });
  if (
    scenario.refuse !== undefined &&
    (!scenario.once || once.first(JSON.stringify([request.model, request.raw['messages']])))
  ) {
    return reply(
      response,
      player.refuse(problem(scenario.refuse)),
      player.retryInBody ? undefined : scenario.retryAfterS,
    );
  }
  const answer = compose(request, scenario, player.callId);
  const { pieceMs, trouble } = scenario;
  if (request.stream) {
    const error = () => writer.error(problem('server'), answer);
    return sendStream(response, writer, writer.events(answer), { pieceMs, trouble, error });
  }
  const error = () => JSON.stringify(player.refuse(problem('server')).body);
  return sendWhole(
    response,
    JSON.stringify(writer.whole(answer)),
    { pieceMs, trouble, error },
    writer.headers,
  );
}

/** Sends a response that needs no model. */
export function reply(
  response: ServerResponse,
  { status, headers, body }: Reply,
  retryAfterS?: number,
): void {
  const all = {
    ...headers,
    ...(retryAfterS !== undefined && { 'retry-after': String(retryAfterS) }),
  };
  if (typeof body !== 'string') return sendJson(response, status, JSON.stringify(body), all);
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...all }).end(body);
}
