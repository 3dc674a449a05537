import { pause } from '../base/clock.ts';
import { isObject, parse, utf8 } from '../base/json.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import type { ApiRequest } from '../gateway/api-request.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import { ClientResponse, NullWriter } from '../http/client-response.ts';
import type { ResponseStore, StoredResponse } from '../memory/responses.ts';
import { responseObject } from '../providers/bridges/response-object.ts';
import { isAway } from '../storage/database.ts';
import type { RequestBody } from './request-body.ts';
import { BackgroundStream } from './background-events.ts';
import { storedResponseOf } from './responses-conversation.ts';
import { responsesFormat } from './responses.ts';

/** How often a running response renews its lease, and learns whether it was cancelled. */
const renewEveryMs = 2_000;
const retryMs = 1_000;

/**
 * Answers that the response is queued as soon as its funds are reserved, then runs it; one with
 * `stream` is answered with its events, which go on when the client leaves. A refusal before that is
 * sent like any other, and nothing is stored. Resolves when the response has ended, so that a
 * draining node waits for it.
 *
 * The stored response is what its client gets, so one that ends without an answer costs nothing
 * (but the input where `bills_cancelled_input` is set): the transaction that ends it also pays its
 * charge back. This runner makes it (`finish`), or once the runner is gone any node
 * (`endInterrupted`). What a stream has delivered is charged, unless its node stops or dies.
 */
export async function runInBackground(
  parts: GatewayParts,
  store: ResponseStore,
  request: ApiRequest,
  own: readonly RequestBody[],
  response: ClientResponse,
): Promise<void> {
  const { userId } = request.principal;
  const { answerId: id } = request;
  const frame = frameOf(request, own, parts.clock.now());
  const writer = new NullWriter();
  const events = request.stream
    ? new BackgroundStream(response, (part) => store.keepEvents(id, part))
    : undefined;
  const stop = (): void => (events === undefined ? writer.destroy() : events.stop());
  if (events === undefined) response.onLeave(stop);
  const renew = async (): Promise<void> => {
    if (await store.renew(id, 'in_progress')) await events?.store();
    else stop();
  };
  let renewing: NodeJS.Timeout | undefined;
  const beforeAttempts = async (): Promise<void> => {
    await response.beforeAttempts?.();
    const stored = frame({ status: 'queued' });
    await store.begin(userId, stored, events !== undefined);
    // The database may come back before the lease ends.
    renewing = setInterval(() => void renew().catch(() => undefined), renewEveryMs);
    if (events === undefined) {
      response.onLeave(undefined);
      response.whole(200, 'application/json', JSON.stringify(stored.body));
    }
    await store.renew(id, 'in_progress');
  };
  const finish = async (end: StoredResponse, last = ''): Promise<void> => {
    const rest = await events?.close(last);
    await whileAway(parts, () => store.finish(userId, end, rest));
  };
  const keepAnswer = async (last: Buffer): Promise<void> => {
    const answer = storedResponseOf(last, own);
    if (answer === undefined) throw new Error('the answer is no response');
    return finish(answer, last.toString('latin1'));
  };
  let kept: Promise<void> | undefined;
  const keep = (last: Buffer): Promise<void> => (kept = keepAnswer(last));
  try {
    await run(
      parts,
      { ...request, beforeAttempts, keep },
      events ?? new ClientResponse(writer, []),
      responsesFormat,
    );
    // `run` has ended well even if the answer could not be kept.
    if (kept !== undefined) await kept;
    else if (events?.brokenBy !== undefined)
      await finish(frame({ status: 'failed', error: errorIn(events.brokenBy) }), events.brokenBy);
    else if (renewing !== undefined) {
      const rest = await events?.close('');
      await whileAway(parts, () => store.leave(id, rest));
      events?.endCancelled();
    }
  } catch (error) {
    if (renewing === undefined) throw error;
    await finish(frame({ status: 'failed', error: failureOf(error) }));
    // The client of a stream has not been answered yet.
    if (events !== undefined || !(error instanceof Refusal)) throw error;
  } finally {
    clearInterval(renewing);
  }
}

/**
 * Stores the end of a response, which its client may have paid for by now, as soon as the database
 * is back. What it refuses is thrown. A node that stops leaves the response to the others, which
 * give it up.
 */
async function whileAway(
  { timers, unattended }: Pick<GatewayParts, 'timers' | 'unattended'>,
  store: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (!isAway(error)) throw error;
    }
    if (unattended.stopped) return;
    await pause(timers, retryMs);
  }
}

type Frame = (
  rest: Pick<Parameters<typeof responseObject>[1], 'status' | 'error'>,
) => StoredResponse;

/** The stored response while it has no answer. */
function frameOf(
  { answerId, model, body }: ApiRequest,
  own: readonly RequestBody[],
  createdAt: number,
): Frame {
  const previous = body['previous_response_id'];
  const created = Math.floor(createdAt / 1_000);
  return (rest) => ({
    id: answerId,
    status: rest.status,
    previous: typeof previous === 'string' ? previous : undefined,
    input: own,
    body: responseObject({ answerId, created, publicModel: model, body }, { output: [], ...rest }),
  });
}

/** What the last event of a stream says that was broken off. */
function errorIn(event: string): Failure {
  const data = parse(utf8(event.slice(event.indexOf('{'))));
  const { code, message } = isObject(data) ? data : {};
  return typeof message === 'string'
    ? { code: typeof code === 'string' ? code : serverError.code, message }
    : serverError;
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

const serverError: Failure = {
  code: 'server_error',
  message: 'The server had an error while processing your request.',
};

function failureOf(error: unknown): Failure {
  if (!(error instanceof Refusal)) return serverError;
  return { code: refusals[error.refusal].code ?? serverError.code, message: error.message };
}
