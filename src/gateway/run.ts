import type { Refusal } from '../base/refusal.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { limitHeaders } from '../limits/limiter.ts';
import { admit, type Admission, outputLimit } from './admit.ts';
import { tryChannels } from './route.ts';
import type { ClientFormat, ApiRequest } from './accept.ts';
import { finishRequest, type RequestOutcome, reportRequest } from './finish.ts';
import { Exchange } from './exchange.ts';
import type { GatewayParts } from './parts.ts';
import { reserve } from './reserve.ts';

/**
 * The life of a request: admit, reserve money, try channels, stream, settle, send the last byte.
 * Throws a Refusal (or LimitReached) while the client has seen nothing; after that, `run` ends the
 * response itself. Whatever happens, the reservation ends once and the limits get their place back.
 */
export async function run(
  parts: GatewayParts,
  request: ApiRequest,
  reply: ClientResponse,
  format: ClientFormat,
): Promise<void> {
  const startedAtMs = parts.clock.monotonicMs();
  const admitting = admit(parts, request);
  const admitted = admitting instanceof Promise ? await admitting : admitting;
  let tokens = 0;
  try {
    limitHeaders(admitted.pass, reply);
    sendOutputLimit(request, admitted, reply);
    const reserved = await reserve(parts, request, admitted, reply);
    if (reserved === 'left') return;
    const exchange = new Exchange(
      parts,
      request,
      reserved.admitted,
      reply,
      reserved.funds,
      format,
      startedAtMs,
      reserved.at,
    );
    const outcome = await deliver(exchange);
    tokens = outcome.inputTokens + outcome.outputTokens;
    reportRequest(exchange, outcome);
    if (outcome.refusal !== undefined) refuseOrBreak(exchange, outcome.refusal);
  } finally {
    admitted.pass.finish(tokens);
  }
}

/**
 * When the client asks for more output than the model can write, a header reports the lower limit
 * that applies.
 */
function sendOutputLimit(request: ApiRequest, { offer }: Admission, reply: ClientResponse): void {
  const limit = outputLimit(request, offer.model);
  if (limit !== undefined && limit !== request.outputTokensRequested)
    reply.header('x-tollgate-max-tokens', String(limit));
}

function refuseOrBreak({ reply, format, request, meter }: Exchange, why: Refusal): void {
  if (!reply.started) throw why;
  if (format.errorEvent === undefined) return reply.destroy();
  reply.endBroken(format.errorEvent(why, request.id, meter?.nextEvent ?? 0));
}

async function deliver(exchange: Exchange): Promise<RequestOutcome> {
  const { reply, request, funds } = exchange;
  reply.onLeave(exchange.leave);
  if (request.stream) exchange.watch();
  let settled = false;
  try {
    const begin = reply.begin ?? request.begin;
    if (begin !== undefined) await begin();
    const outcome = await finishRequest(exchange, await tryChannels(exchange));
    settled = outcome.charged;
    return outcome;
  } finally {
    if (!settled) funds.reservation.release();
    reply.onLeave(undefined);
    exchange.unwatch();
  }
}
