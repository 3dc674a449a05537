import type { Refusal } from '../base/refusal.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { limitHeaders } from '../limits/limiter.ts';
import { mayFallBack } from '../routing/retry.ts';
import { admit, type Admission, type Fallback, fallbacksOf } from './admit.ts';
import { tryChannels } from './route.ts';
import type { ClientFormat, ApiRequest } from './api-request.ts';
import { finishRequest, reportRequest } from './finish.ts';
import { outputLimit } from './models/offers.ts';
import type { AttemptOutcome, RequestOutcome } from './outcome.ts';
import type { GatewayParts } from './parts.ts';
import { RequestProgress } from './progress.ts';
import { fundedFor, reserve, type FundedRequest } from './reserve.ts';
import { watchStream } from './stream-watchdog.ts';

/**
 * The life of a request: admit, reserve, try channels (an attempt streams), finish (which settles,
 * and then sends the last byte). Throws a Refusal (or LimitReached) while the client has seen
 * nothing; after that, `run` ends the response itself. Whatever happens, the reservation ends once
 * and the rate limiter gets the request's place back.
 */
export async function run(
  parts: GatewayParts,
  request: ApiRequest,
  response: ClientResponse,
  format: ClientFormat,
): Promise<void> {
  const startedMonotonicMs = parts.clock.monotonicMs();
  const admitting = admit(parts, request);
  const admitted = admitting instanceof Promise ? await admitting : admitting;
  let tokens = 0;
  try {
    limitHeaders(admitted.pass, response);
    sendOutputLimit(request, admitted, response);
    const fallbacks = fallbacksOf(parts, request, admitted);
    const unfunded = { parts, request, admitted, fallbacks, response, format, startedMonotonicMs };
    const reserving = reserve(unfunded);
    const funded = reserving instanceof Promise ? await reserving : reserving;
    if (funded === 'left') return;
    const progress = new RequestProgress(request);
    const outcome = await deliver(funded, progress);
    tokens = outcome.inputTokens + outcome.outputTokens;
    if (outcome.refusal !== undefined) refuseOrBreak(funded, progress, outcome.refusal);
  } finally {
    admitted.pass.finish(tokens);
  }
}

/**
 * When the client asks for more output than the model can write, a header reports the lower limit
 * that applies.
 */
function sendOutputLimit(
  request: ApiRequest,
  { offer }: Admission,
  response: ClientResponse,
): void {
  const limit = outputLimit(request, offer.model);
  const lower = limit !== undefined && limit !== request.outputTokensRequested;
  response.replaceHeader('x-tollgate-max-tokens', lower ? String(limit) : undefined);
}

function refuseOrBreak(
  { response, format, request }: FundedRequest,
  { stream }: RequestProgress,
  why: Refusal,
): void {
  if (!response.started) throw why;
  if (format.errorEvent === undefined) return response.destroy();
  const event = format.errorEvent(why, request.id, stream?.meter.nextEvent ?? 0);
  if (format.breaksAfterError === true) response.breakAfter(event);
  else response.endBroken(event);
}

async function deliver(funded: FundedRequest, progress: RequestProgress): Promise<RequestOutcome> {
  const { parts, response, request, funds } = funded;
  response.onLeave(progress.leave);
  if (request.stream) watchStream(funded, progress);
  let reservationEnded = false;
  const beforeAttempts = response.beforeAttempts ?? request.beforeAttempts;
  try {
    // A request with an Idempotency-Key claims the key here (src/api/idempotency.ts). A response in
    // the background is stored, and its client gets the id (src/api/responses-background.ts).
    // Neither is done for a client that has left and waits for no answer.
    if (beforeAttempts !== undefined && !progress.left) {
      parts.unattended.enter(progress);
      await beforeAttempts();
    }
    let answering = funded;
    let attempt = await tryChannels(funded, progress);
    if (funded.fallbacks !== undefined && goesOn(attempt)) {
      const other = await tryFallbacks(funded, funded.fallbacks, progress);
      if (other !== undefined) [answering, attempt] = other;
    }
    const outcome = await finishRequest(answering, progress, attempt);
    reservationEnded = outcome.reservationEnded;
    reportRequest(answering, progress, outcome);
    return outcome;
  } finally {
    if (!reservationEnded) funds.reservation.release();
    response.onLeave(undefined);
    if (beforeAttempts !== undefined) parts.unattended.exit(progress);
    if (progress.watchdog !== undefined) parts.watch.remove(progress.watchdog);
  }
}

/** Whether the request goes on to its next model. */
function goesOn({ result }: AttemptOutcome): boolean {
  // No channel of this model takes the request; one of the next model may.
  if (result.kind === 'own_refusal') return true;
  return result.kind === 'fault' && mayFallBack(result.stage);
}

/**
 * Asks the other models one after the other. Undefined: none can answer either, and the client
 * hears why its own model cannot.
 */
async function tryFallbacks(
  funded: FundedRequest,
  fallbacks: readonly Fallback[],
  progress: RequestProgress,
): Promise<readonly [FundedRequest, AttemptOutcome] | undefined> {
  for (const fallback of fallbacks) {
    const other = fundedFor(funded, fallback);
    sendOutputLimit(other.request, other.admitted, other.response);
    if (progress.watchdog !== undefined) {
      other.parts.watch.remove(progress.watchdog);
      progress.watchdog = undefined;
      watchStream(other, progress);
    }
    const attempt = await tryChannels(other, progress);
    if (!goesOn(attempt)) return [other, attempt];
  }
  return undefined;
}
