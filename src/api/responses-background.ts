import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Refusal, refusals, refuse } from '../base/refusal.ts';
import type { Parts } from '../gateway/parts.ts';
import type { ClientRequest } from '../gateway/request.ts';
import { run } from '../gateway/run.ts';
import { Reply } from '../http/reply.ts';
import { responseFrame } from '../providers/bridges/response-frame.ts';
import type { KeptResponse, ResponseMemory } from '../recall/responses.ts';
import type { Body } from './check.ts';
import { responsesFormat } from './responses.ts';
import { keptFrom } from './responses-recall.ts';

/** How often a running response tells that it runs, and hears whether it was cancelled. */
const renewEveryMs = 2_000;

/** Answers at once that the response is queued, and runs it. Resolves when it has ended, so that a node which is drained waits for it. */
export async function runInBackground(
  parts: Parts,
  memory: ResponseMemory,
  request: ClientRequest,
  own: readonly Body[],
  reply: Reply,
): Promise<void> {
  const { principal, model, answerId, body } = request;
  if (parts.catalog().offer(principal.group, model) === undefined) refuse('model_not_found', { model });
  const frame = (rest: Pick<Parameters<typeof responseFrame>[1], 'status' | 'error'>): KeptResponse => ({
    id: answerId,
    status: rest.status,
    previous: typeof body['previous_response_id'] === 'string' ? body['previous_response_id'] : undefined,
    input: own,
    body: responseFrame({ answerId, created: Math.floor(createdAt / 1_000), publicModel: model, body }, { output: [], ...rest }),
  });
  const createdAt = parts.clock.now();
  const queued = frame({ status: 'queued' });
  await memory.begin(principal.userId, queued);
  reply.whole(200, 'application/json', JSON.stringify(queued.body));
  try {
    await deliver(parts, memory, request, own);
  } catch (error) {
    await memory.finish(principal.userId, frame({ status: 'failed', error: failureOf(error) }));
    if (!(error instanceof Refusal)) throw error;
  }
}

async function deliver(parts: Parts, memory: ResponseMemory, request: ClientRequest, own: readonly Body[]): Promise<void> {
  const { userId } = request.principal;
  const socket = new Socket();
  const response = new ServerResponse(new IncomingMessage(socket));
  const renewing = setInterval(() => {
    void memory.renew(request.answerId, 'in_progress').then(
      (running) => running || abandon(response, socket),
      // The database may come back before the lease ends.
      () => {},
    );
  }, renewEveryMs);
  const keep = async (last: Buffer): Promise<void> => {
    const kept = keptFrom(last, own);
    if (kept) await memory.finish(userId, kept);
  };
  try {
    await memory.renew(request.answerId, 'in_progress');
    await run(parts, { ...request, stream: false, keep }, new Reply(response, []), responsesFormat);
  } finally {
    clearInterval(renewing);
  }
}

/** As if the client had left: the vendor stops. */
function abandon(response: ServerResponse, socket: Socket): void {
  socket.destroy();
  response.emit('close');
}

function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Refusal)) return { code: 'server_error', message: 'The server had an error while processing your request.' };
  return { code: refusals[error.refusal].code ?? 'server_error', message: error.message };
}
