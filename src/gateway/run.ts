import type { Refusal } from '../base/refusal.ts';
import type { Reply } from '../http/reply.ts';
import { admit, type Admitted, outputLimit } from './admit.ts';
import { tryChannels } from './channels.ts';
import type { ClientFormat } from './client-format.ts';
import { conclude } from './conclude.ts';
import { Exchange } from './exchange.ts';
import { type Outcome, report } from './outcome.ts';
import type { Parts } from './parts.ts';
import type { ClientRequest } from './request.ts';
import { reserve } from './reserve.ts';

/**
 * The life of a request: admit → reserve → attempt → pump → settle → last byte. Throws a Refusal
 * (or LimitReached) while the client has seen nothing; after that it ends the answer itself.
 * Whatever happens, the reservation ends once and the limits get their place back.
 */
export async function run(
  parts: Parts,
  request: ClientRequest,
  reply: Reply,
  format: ClientFormat,
): Promise<void> {
  const startedAtMs = parts.clock.monotonicMs();
  const admitting = admit(parts, request);
  const admitted = admitting instanceof Promise ? await admitting : admitting;
  let tokens = 0;
  try {
    format.limitHeaders(admitted.pass, reply);
    tellLimit(request, admitted, reply);
    const reserved = await reserve(parts, request, admitted, reply);
    if (reserved === 'left') return;
    const exchange = new Exchange(
      parts,
      request,
      reserved.admitted,
      reply,
      reserved.purse,
      format,
      startedAtMs,
      reserved.at,
    );
    const outcome = await deliver(exchange);
    tokens = outcome.inputTokens + outcome.outputTokens;
    report(exchange, outcome);
    if (outcome.refusal !== undefined) refuseOrBreak(exchange, outcome.refusal);
  } finally {
    admitted.pass.finish(tokens);
  }
}

/**
 * A client that asks for more output than the model can write gets the model's limit, and a header
 * that says so.
 */
function tellLimit(request: ClientRequest, { offer }: Admitted, reply: Reply): void {
  const limit = outputLimit(request, offer.model);
  if (limit !== undefined && limit !== request.outputTokensAsked)
    reply.header('x-tollgate-max-tokens', String(limit));
}

function refuseOrBreak({ reply, format, request, meter }: Exchange, why: Refusal): void {
  if (!reply.started) throw why;
  if (format.errorEvent === undefined) return reply.destroy();
  reply.endBroken(format.errorEvent(why, request.id, meter?.nextEvent ?? 0));
}

async function deliver(exchange: Exchange): Promise<Outcome> {
  const { parts, reply, request, purse } = exchange;
  reply.onLeave(exchange.leave);
  if (request.stream) parts.watch.add(exchange);
  let settled = false;
  try {
    const begin = reply.begin ?? request.begin;
    if (begin !== undefined) await begin();
    const outcome = await conclude(exchange, await tryChannels(exchange));
    settled = outcome.charged;
    return outcome;
  } finally {
    if (!settled) purse.reservation.release();
    reply.onLeave(undefined);
    parts.watch.remove(exchange);
  }
}
