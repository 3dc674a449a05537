import { Refusal, refusals } from '../base/refusal.ts';
import type { Parts } from '../gateway/parts.ts';
import type { ClientRequest } from '../gateway/request.ts';
import { run } from '../gateway/run.ts';
import { Reply } from '../http/reply.ts';
import { Unheard } from '../http/unheard.ts';
import { responseFrame } from '../providers/bridges/response-frame.ts';
import type { KeptResponse, ResponseMemory } from '../recall/responses.ts';
import type { Body } from './check.ts';
import { responsesFormat } from './responses.ts';
import { keptFrom } from './responses-recall.ts';

/** How often a running response tells that it runs, and hears whether it was cancelled. */
const renewEveryMs = 2_000;

/**
 * Answers that the response is queued as soon as its money is set aside, and runs it. What is
 * refused before that is refused like any other request, and nothing of it is remembered. Resolves
 * when it has ended, so that a node which is drained waits for it.
 */
export async function runInBackground(
  parts: Parts,
  memory: ResponseMemory,
  request: ClientRequest,
  own: readonly Body[],
  reply: Reply,
): Promise<void> {
  const { principal, model, answerId, body } = request;
  const createdAt = parts.clock.now();
  const frame = (
    rest: Pick<Parameters<typeof responseFrame>[1], 'status' | 'error'>,
  ): KeptResponse => ({
    id: answerId,
    status: rest.status,
    previous:
      typeof body['previous_response_id'] === 'string' ? body['previous_response_id'] : undefined,
    input: own,
    body: responseFrame(
      { answerId, created: Math.floor(createdAt / 1_000), publicModel: model, body },
      { output: [], ...rest },
    ),
  });
  let queued = false;
  const queue = async (): Promise<void> => {
    await reply.begin?.();
    const response = frame({ status: 'queued' });
    await memory.begin(principal.userId, response);
    queued = true;
    reply.onLeave(undefined);
    reply.whole(200, 'application/json', JSON.stringify(response.body));
  };
  try {
    await deliver(parts, memory, request, own, reply, queue);
  } catch (error) {
    if (!queued) throw error;
    await memory.finish(principal.userId, frame({ status: 'failed', error: failureOf(error) }));
    if (!(error instanceof Refusal)) throw error;
  }
}

async function deliver(
  parts: Parts,
  memory: ResponseMemory,
  request: ClientRequest,
  own: readonly Body[],
  client: Reply,
  queue: () => Promise<void>,
): Promise<void> {
  const { userId } = request.principal;
  const wire = new Unheard();
  client.onLeave(() => wire.destroy());
  let renewing: NodeJS.Timeout | undefined;
  const begin = async (): Promise<void> => {
    await queue();
    renewing = setInterval(() => {
      void memory.renew(request.answerId, 'in_progress').then(
        (running) => running || wire.destroy(),
        // The database may come back before the lease ends.
        () => {},
      );
    }, renewEveryMs);
    await memory.renew(request.answerId, 'in_progress');
  };
  const keep = async (last: Buffer): Promise<void> => {
    const kept = keptFrom(last, own);
    if (kept) await memory.finish(userId, kept);
  };
  try {
    await run(
      parts,
      { ...request, stream: false, begin, keep },
      new Reply(wire, []),
      responsesFormat,
    );
  } finally {
    clearInterval(renewing);
  }
}

function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Refusal))
    return {
      code: 'server_error',
      message: 'The server had an error while processing your request.',
    };
  return { code: refusals[error.refusal].code ?? 'server_error', message: error.message };
}
