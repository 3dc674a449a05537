import { pause } from '../base/clock.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import type { ApiRequest } from '../gateway/api-request.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import { ClientResponse, NullResponse } from '../http/client-response.ts';
import type { ResponseStore, StoredResponse } from '../memory/responses.ts';
import { responseObject } from '../providers/bridges/response-object.ts';
import { isAway } from '../storage/database.ts';
import type { RequestBody } from './request-body.ts';
import { storedResponseOf } from './responses-conversation.ts';
import { responsesFormat } from './responses.ts';

/** How often a running response renews its lease, and learns whether it was cancelled. */
const renewEveryMs = 2_000;
const retryMs = 1_000;

/**
 * Answers that the response is queued as soon as its funds are reserved, then runs it. A refusal
 * before that is sent like any other, and nothing is stored. Resolves when the response has ended,
 * so that a draining node waits for it.
 *
 * The stored response is what its client gets, so one that ends without an answer costs nothing
 * (but the input where `bills_cancelled_input` is set): the transaction that ends it also pays its
 * charge back. This runner makes it (`finish`), or once the
 * runner is gone any node (`endInterrupted`).
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
  const wire = new NullResponse();
  response.onLeave(() => wire.destroy());
  const renew = (): void =>
    void store.renew(id, 'in_progress').then(
      (running) => running || wire.destroy(),
      // The database may come back before the lease ends.
      () => {},
    );
  let renewing: NodeJS.Timeout | undefined;
  const beforeAttempts = async (): Promise<void> => {
    await response.beforeAttempts?.();
    const stored = frame({ status: 'queued' });
    await store.begin(userId, stored);
    renewing = setInterval(renew, renewEveryMs);
    response.onLeave(undefined);
    response.whole(200, 'application/json', JSON.stringify(stored.body));
    await store.renew(id, 'in_progress');
  };
  const finish = (end: StoredResponse): Promise<void> =>
    whileAway(parts, () => store.finish(userId, end));
  const keepAnswer = async (last: Buffer): Promise<void> => {
    const answer = storedResponseOf(last, own);
    if (answer === undefined) throw new Error('the answer is no response');
    return finish(answer);
  };
  let kept: Promise<void> | undefined;
  const keep = (last: Buffer): Promise<void> => (kept = keepAnswer(last));
  try {
    await run(
      parts,
      { ...request, stream: false, beforeAttempts, keep },
      new ClientResponse(wire, []),
      responsesFormat,
    );
    // `run` has ended well even if the answer could not be kept.
    if (kept !== undefined) await kept;
    else if (renewing !== undefined) await whileAway(parts, () => store.leave(id));
  } catch (error) {
    if (renewing === undefined) throw error;
    await finish(frame({ status: 'failed', error: failureOf(error) }));
    if (!(error instanceof Refusal)) throw error;
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

function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Refusal))
    return {
      code: 'server_error',
      message: 'The server had an error while processing your request.',
    };
  return { code: refusals[error.refusal].code ?? 'server_error', message: error.message };
}
