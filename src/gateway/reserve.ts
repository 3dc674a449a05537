import { refuse } from '../base/refusal.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type { Reservation, ReserveRequest, ReserveRefusal } from '../ledger/contract.ts';
import { type Admission, countText, worstCaseOf } from './admit.ts';
import { outputMost } from './pricing/bound.ts';
import type { GatewayParts } from './parts.ts';
import { firstSlice, ReservedFunds } from './pricing/reserved-funds.ts';
import type { ApiRequest } from './accept.ts';
import { limitWindowsOf } from './pricing/key-limits.ts';

/** A shorter answer makes no sense: a request that cannot pay for this much is refused. */
const outputTokensMin = 16;
/** A larger text is counted only for an account that could pay for it. */
const largeTextBytes = 262_144;
/** No token of o200k_base is longer, blanks and dashes included. */
const bytesPerTokenLongest = 128;
/** Retry delay for clients when the database cannot be reached. */
export const unavailableRetryMs = 5_000;

export interface FundedRequest {
  /** The admission; its input is counted when money was too short for the estimate. */
  readonly admitted: Admission;
  readonly funds: ReservedFunds;
  /** Wall clock, ms: decides which limit windows are charged. */
  readonly at: number;
}

/**
 * Reserves the money: from memory in the common case, else through the database or by waiting.
 * Throws a Refusal when there is none. Returns `left` when the client went away in the meantime.
 */
export async function reserve(
  parts: GatewayParts,
  request: ApiRequest,
  admitted: Admission,
  reply: ClientResponse,
): Promise<FundedRequest | 'left'> {
  const at = parts.clock.now();
  const ask = askFor(parts, request, admitted, at);
  const reservation = parts.till.tryReserve(ask);
  if (reservation !== undefined)
    return { admitted, funds: fundsFor(request, admitted, reservation), at };
  return reserveSlowly(parts, request, admitted, reply, at);
}

async function reserveSlowly(
  parts: GatewayParts,
  request: ApiRequest,
  admitted: Admission,
  reply: ClientResponse,
  at: number,
): Promise<FundedRequest | 'left'> {
  const leaving = new AbortController();
  reply.onLeave(() => leaving.abort());
  const sinceMs = parts.clock.monotonicMs();
  try {
    const got = await parts.till.reserve(
      { ...askFor(parts, request, admitted, at), once: true },
      leaving.signal,
    );
    if (got !== 'insufficient') return reserved(got, request, admitted, at);
    if (await isHopeless(parts, request, admitted, at, leaving.signal))
      refuse('insufficient_quota');
    // The quick estimate is generous, so the text is counted before a request waits or is refused
    // for it.
    const counted = await countText(admitted, request);
    const precise: Admission = { ...admitted, textTokens: Math.min(counted, admitted.textTokens) };
    const again = {
      ...askFor(parts, request, precise, at),
      askedMsAgo: parts.clock.monotonicMs() - sinceMs,
    };
    return reserved(await parts.till.reserve(again, leaving.signal), request, precise, at);
  } finally {
    reply.onLeave(undefined);
  }
}

/**
 * Whether the account cannot pay for a large text even at the fewest tokens that its bytes can be.
 * Such a text is not counted.
 */
async function isHopeless(
  parts: GatewayParts,
  request: ApiRequest,
  admitted: Admission,
  at: number,
  signal: AbortSignal,
): Promise<boolean> {
  const textBytes = request.bytes.length - request.mediaBytes;
  if (
    textBytes <= largeTextBytes ||
    request.sized !== undefined ||
    request.textTokensMax !== undefined
  )
    return false;
  const least: Admission = {
    ...admitted,
    textTokens: Math.floor(textBytes / bytesPerTokenLongest),
  };
  const { minimum, ...ask } = askFor(parts, request, least, at);
  const got = await parts.till.reserve({ ...ask, want: minimum, minimum, once: true }, signal);
  if (typeof got !== 'string') got.release();
  return got === 'insufficient';
}

function reserved(
  got: Reservation | ReserveRefusal,
  request: ApiRequest,
  admitted: Admission,
  at: number,
): FundedRequest | 'left' {
  if (got === 'left') return 'left';
  if (got === 'insufficient') refuse('insufficient_quota');
  if (typeof got === 'string')
    refuse('unavailable', { why: whyNot[got], id: request.id }, unavailableRetryMs);
  return { admitted, funds: fundsFor(request, admitted, got), at };
}

const whyNot = {
  unavailable: 'accounts cannot be reached',
  crowded: 'too many requests of this account are waiting to begin',
} as const;

function askFor(
  parts: GatewayParts,
  request: ApiRequest,
  admitted: Admission,
  at: number,
): ReserveRequest {
  return {
    account: request.principal.userId,
    limits: limitWindowsOf(request.principal, at, parts.limits.utcOffsetMinutes),
    want: worstCaseOf(admitted, tokensAtFirst(request, admitted)),
    minimum: worstCaseOf(admitted, Math.min(outputTokensMin, admitted.outputTokens)),
    shape: request.sized !== undefined ? 'fixed' : request.stream ? 'stream' : 'whole',
  };
}

function fundsFor(
  request: ApiRequest,
  admitted: Admission,
  reservation: Reservation,
): ReservedFunds {
  return new ReservedFunds(
    reservation,
    admitted,
    tokensAtFirst(request, admitted),
    outputMost(request, admitted),
  );
}

function tokensAtFirst(request: ApiRequest, admitted: Admission): number {
  return request.stream ? firstSlice(admitted.outputTokens) : admitted.outputTokens;
}
