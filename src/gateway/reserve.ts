import { refuse } from '../base/refusal.ts';
import type { Reply } from '../http/reply.ts';
import type { Reservation, ReserveAsk, ReserveRefusal } from '../ledger/contract.ts';
import { type Admitted, countedText, worstCaseOf } from './admit.ts';
import { outputMost } from './bound.ts';
import type { Parts } from './parts.ts';
import { firstSlice, Purse } from './purse.ts';
import type { ClientRequest } from './request.ts';
import { windowsOf } from './windows.ts';

/** An answer shorter than this makes no sense: below it a request is refused for lack of money. */
const outputTokensMin = 16;
/** A larger text is counted only for an account that could pay for it. */
const largeTextBytes = 262_144;
/** No token of o200k_base is longer, blanks and dashes included. */
const bytesPerTokenLongest = 128;
/** When the database is away, clients come back after this. */
export const unavailableRetryMs = 5_000;

export interface Reserved {
  /** The admission, its input counted when money was scarce enough to count. */
  readonly admitted: Admitted;
  readonly purse: Purse;
  /** Wall clock, ms: decides which windows of limits are charged. */
  readonly at: number;
}

/**
 * Sets the money aside: from memory in the common case, else by a draw, a call-in or a wait. Throws
 * a Refusal when there is none; `left` when the client went away meanwhile.
 */
export async function reserve(
  parts: Parts,
  request: ClientRequest,
  admitted: Admitted,
  reply: Reply,
): Promise<Reserved | 'left'> {
  const at = parts.clock.now();
  const ask = askFor(parts, request, admitted, at);
  const reservation = parts.till.tryReserve(ask);
  if (reservation !== undefined)
    return { admitted, purse: purseOf(request, admitted, reservation), at };
  return reserveSlowly(parts, request, admitted, reply, at);
}

async function reserveSlowly(
  parts: Parts,
  request: ClientRequest,
  admitted: Admitted,
  reply: Reply,
  at: number,
): Promise<Reserved | 'left'> {
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
    // The quick estimate is generous. Before anybody waits or is refused for it, the text is
    // counted.
    const counted = await countedText(admitted, request);
    const precise: Admitted = { ...admitted, textTokens: Math.min(counted, admitted.textTokens) };
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
  parts: Parts,
  request: ClientRequest,
  admitted: Admitted,
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
  const least: Admitted = { ...admitted, textTokens: Math.floor(textBytes / bytesPerTokenLongest) };
  const { minimum, ...ask } = askFor(parts, request, least, at);
  const got = await parts.till.reserve({ ...ask, want: minimum, minimum, once: true }, signal);
  if (typeof got !== 'string') got.release();
  return got === 'insufficient';
}

function reserved(
  got: Reservation | ReserveRefusal,
  request: ClientRequest,
  admitted: Admitted,
  at: number,
): Reserved | 'left' {
  if (got === 'left') return 'left';
  if (got === 'insufficient') refuse('insufficient_quota');
  if (typeof got === 'string')
    refuse('unavailable', { why: whyNot[got], id: request.id }, unavailableRetryMs);
  return { admitted, purse: purseOf(request, admitted, got), at };
}

const whyNot = {
  unavailable: 'accounts cannot be reached',
  crowded: 'too many requests of this account are waiting to begin',
} as const;

function askFor(parts: Parts, request: ClientRequest, admitted: Admitted, at: number): ReserveAsk {
  return {
    account: request.principal.userId,
    limits: windowsOf(request.principal, at, parts.limits.utcOffsetMinutes),
    want: worstCaseOf(admitted, tokensAtFirst(request, admitted)),
    minimum: worstCaseOf(admitted, Math.min(outputTokensMin, admitted.outputTokens)),
    shape: request.sized !== undefined ? 'fixed' : request.stream ? 'stream' : 'whole',
  };
}

function purseOf(request: ClientRequest, admitted: Admitted, reservation: Reservation): Purse {
  return new Purse(
    reservation,
    admitted,
    tokensAtFirst(request, admitted),
    outputMost(request, admitted),
  );
}

function tokensAtFirst(request: ClientRequest, admitted: Admitted): number {
  return request.stream ? firstSlice(admitted.outputTokens) : admitted.outputTokens;
}
