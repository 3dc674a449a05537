import type { Principal } from '../accounts/principal.ts';
import {
  bytesPerTokenEver,
  bytesPerTokenLongest,
  bytesPerTokenMax,
  bytesPerTokenReserved,
} from '../base/bytes-per-token.ts';
import { dayOf, monthOf } from '../base/calendar.ts';
import type { Nano } from '../base/money.ts';
import { refuse, unavailable } from '../base/refusal.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type {
  Reservation,
  ReserveRequest,
  ReserveRefusal,
  LimitWindow,
} from '../ledger/contract.ts';
import type { ApiRequest, ClientFormat } from './api-request.ts';
import {
  type Admission,
  affordableTokens,
  countText,
  type Fallback,
  worstCaseOf,
} from './admit.ts';
import type { GatewayParts } from './parts.ts';
import { outputTokensMaxOf } from './pricing/bound.ts';

/*
 * Three parts, in this order: `reserve` takes the money for a request; `limitWindowsOf` names the
 * limits of its key that are charged, too; `ReservedFunds` is the money while the answer runs. One
 * file holds them, since each file that a small chat passes is counted (test/request-path.test.ts).
 */

/** A shorter answer makes no sense: a request that cannot pay for this much is refused. */
const outputTokensMin = 16;
/** A larger text is counted only for an account that could pay for it. */
const largeTextBytes = 262_144;

/** A request that was admitted, and where its answer goes. */
export interface AdmittedRequest {
  readonly parts: GatewayParts;
  readonly request: ApiRequest;
  readonly admitted: Admission;
  /** The other models that may answer, in their order. */
  readonly fallbacks?: readonly Fallback[] | undefined;
  readonly response: ClientResponse;
  readonly format: ClientFormat;
  /** Monotonic clock, ms. */
  readonly startedMonotonicMs: number;
}

/**
 * A request with the money for it: all that the later steps know of it. What happens to it from
 * here on is in `RequestProgress` (progress.ts). Where money was too short for the estimate,
 * `admitted` holds the counted input.
 */
export interface FundedRequest extends AdmittedRequest {
  readonly funds: ReservedFunds;
  /** Wall clock, ms: decides which limit windows are charged. */
  readonly reservedAt: number;
}

/** Milliseconds since the request began. */
export const elapsedMs = ({ parts, startedMonotonicMs }: FundedRequest): number =>
  parts.clock.monotonicMs() - startedMonotonicMs;

/**
 * Reserves the money: from memory in the common case, else through the database or by waiting.
 * Throws a Refusal when there is none. Returns `left` when the client went away in the meantime.
 */
export function reserve(
  unfunded: AdmittedRequest,
): FundedRequest | Promise<FundedRequest | 'left'> {
  const { clock, till } = unfunded.parts;
  const at = clock.now();
  const reservation = till.tryReserve(reserveRequestFor(unfunded, at));
  return reservation === undefined
    ? reserveSlowly(unfunded, at)
    : fundedBy(reservation, unfunded, at);
}

async function reserveSlowly(
  unfunded: AdmittedRequest,
  at: number,
): Promise<FundedRequest | 'left'> {
  const { parts, request, admitted, response } = unfunded;
  const leaving = new AbortController();
  response.onLeave(() => leaving.abort());
  const sinceMs = parts.clock.monotonicMs();
  try {
    const got = await parts.till.reserve(
      { ...reserveRequestFor(unfunded, at), once: true },
      leaving.signal,
    );
    if (got !== 'insufficient') return reserved(got, unfunded, at);
    const refusal = await refusedAtLeast(unfunded, at, sinceMs, leaving.signal);
    if (refusal !== undefined) return reserved(refusal, unfunded, at);
    // The quick estimate is generous, so the text is counted before a request waits or is refused
    // for it.
    const counted = await countText(admitted, request);
    const precise = withText(unfunded, Math.min(counted, admitted.textTokens));
    const again = {
      ...reserveRequestFor(precise, at),
      requestedMsAgo: parts.clock.monotonicMs() - sinceMs,
    };
    return reserved(await parts.till.reserve(again, leaving.signal), precise, at);
  } finally {
    response.onLeave(undefined);
  }
}

const withText = (unfunded: AdmittedRequest, textTokens: number): AdmittedRequest => ({
  ...unfunded,
  admitted: { ...unfunded.admitted, textTokens },
  fallbacks: unfunded.fallbacks?.map(({ request, admitted }) => ({
    request,
    admitted: { ...admitted, textTokens },
  })),
});

/**
 * The refusal of a large text even at the fewest tokens that its bytes can be: such a text is not
 * counted. Money that other requests hold is waited for, as for any request.
 */
async function refusedAtLeast(
  unfunded: AdmittedRequest,
  at: number,
  sinceMs: number,
  signal: AbortSignal,
): Promise<ReserveRefusal | undefined> {
  const { parts, request } = unfunded;
  const { textBytes } = request;
  if (
    textBytes <= largeTextBytes ||
    request.sized !== undefined ||
    request.textTokensMax !== undefined
  )
    return undefined;
  const least = withText(unfunded, Math.floor(textBytes / bytesPerTokenLongest));
  const { minimum, ...rest } = reserveRequestFor(least, at);
  const requestedMsAgo = parts.clock.monotonicMs() - sinceMs;
  const got = await parts.till.reserve({ ...rest, want: minimum, minimum, requestedMsAgo }, signal);
  if (typeof got === 'string') return got;
  got.release();
  return undefined;
}

function reserved(
  got: Reservation | ReserveRefusal,
  unfunded: AdmittedRequest,
  at: number,
): FundedRequest | 'left' {
  if (got === 'left') return 'left';
  if (got === 'insufficient') refuse('insufficient_quota');
  if (typeof got === 'string') throw unavailable(unfunded.request.id, whyNot[got]);
  return fundedBy(got, unfunded, at);
}

const whyNot = {
  unavailable: 'accounts cannot be reached',
  crowded: 'too many requests of this account are waiting to begin',
} as const;

/** Enough for the dearest of the models that may answer. */
function reserveRequestFor(
  { parts, request, admitted, fallbacks }: AdmittedRequest,
  at: number,
): ReserveRequest {
  let want = wantedFor(request, admitted);
  let minimum = minimumFor(admitted);
  if (fallbacks !== undefined)
    for (const other of fallbacks) {
      want = greater(want, wantedFor(other.request, other.admitted));
      minimum = greater(minimum, minimumFor(other.admitted));
    }
  return {
    account: request.principal.userId,
    limits: limitWindowsOf(request.principal, at, parts.limits.utcOffsetMinutes),
    want,
    minimum,
    shape: request.sized !== undefined ? 'fixed' : request.stream ? 'stream' : 'whole',
  };
}

const wantedFor = (request: ApiRequest, admitted: Admission): Nano =>
  worstCaseOf(admitted, tokensAtFirst(request, admitted));
const minimumFor = (admitted: Admission): Nano =>
  worstCaseOf(admitted, Math.min(outputTokensMin, admitted.outputTokens));
const greater = (a: Nano, b: Nano): Nano => (a > b ? a : b);

/** The same money for the same request to another model. */
export const fundedFor = (funded: FundedRequest, { request, admitted }: Fallback): FundedRequest =>
  fundedBy(funded.funds.reservation, { ...funded, request, admitted }, funded.reservedAt);

function fundedBy(
  reservation: Reservation,
  { parts, request, admitted, fallbacks, response, format, startedMonotonicMs }: AdmittedRequest,
  reservedAt: number,
): FundedRequest {
  const funds = new ReservedFunds(
    reservation,
    admitted,
    tokensAtFirst(request, admitted),
    outputTokensMaxOf(request, admitted),
  );
  return {
    parts,
    request,
    admitted,
    fallbacks,
    response,
    format,
    startedMonotonicMs,
    funds,
    reservedAt,
  };
}

function tokensAtFirst(request: ApiRequest, admitted: Admission): number {
  const { outputTokens } = admitted;
  return request.stream ? Math.min(sliceFirst, outputTokens) : outputTokens;
}

const none: readonly LimitWindow[] = [];

/** What a key may spend. */
type KeyLimits = Pick<Principal, 'keyId' | 'limit' | 'dailyLimit' | 'monthlyLimit'>;

/**
 * The limit windows charged by a request that reserves its money at `at` (wall clock, ms). The
 * first draw makes their accounts in the ledger.
 */
export function limitWindowsOf(
  { keyId, limit, dailyLimit, monthlyLimit }: KeyLimits,
  at: number,
  offsetMinutes: number,
): readonly LimitWindow[] {
  if (limit === undefined && dailyLimit === undefined && monthlyLimit === undefined) return none;
  const windows: LimitWindow[] = [];
  if (limit !== undefined) windows.push({ id: `key:${keyId}:total`, amount: limit });
  if (dailyLimit !== undefined)
    windows.push({ id: `key:${keyId}:day:${dayOf(at, offsetMinutes).name}`, amount: dailyLimit });
  if (monthlyLimit !== undefined)
    windows.push({
      id: `key:${keyId}:month:${monthOf(at, offsetMinutes).name}`,
      amount: monthlyLimit,
    });
  return windows;
}

/** Output tokens reserved at first for a streamed answer, and the most reserved at a time. */
const sliceFirst = 256;
const sliceMax = 4_096;
/** Tokens of blanks or dashes in one answer, which have more bytes than `bytesPerTokenEver`. */
const tokensOfBlanks = 1_024;

/**
 * The money behind one running answer. Knows how far the answer may go, and takes the next slice
 * before it is needed. The common path compares each piece with `nextLookBytes` only.
 */
export class ReservedFunds {
  nextLookBytes: number;
  readonly #reservation: Reservation;
  readonly #admitted: Admission;
  /** The most output tokens that can be charged (bound.ts). */
  readonly outputTokensMax: number;
  /** The most thinking tokens that can be charged beside them. */
  thinkingTokensMax = 0;
  /**
   * Set once a model that reads more than the request holds has been called: it searches the web by
   * itself.
   */
  readsBeyond = false;
  /** The reserved output limit. Without a limit, a usual one, until the answer exceeds it. */
  #reservedTokensMax: number;
  #coveredTokens: number;
  #slice = sliceFirst;
  #extending: Promise<boolean> | undefined;

  /**
   * `tokensAtFirst`: how much of the answer the first reservation was to cover; it may cover less.
   */
  constructor(
    reservation: Reservation,
    admitted: Admission,
    tokensAtFirst: number,
    outputTokensMax: number,
  ) {
    this.#reservation = reservation;
    this.#admitted = admitted;
    this.outputTokensMax = outputTokensMax;
    this.#reservedTokensMax = admitted.outputTokens;
    this.#coveredTokens =
      reservation.amount >= worstCaseOf(admitted, tokensAtFirst)
        ? tokensAtFirst
        : affordableTokens(admitted, reservation.amount);
    this.nextLookBytes = this.#lookAt();
  }

  get reservation(): Reservation {
    return this.#reservation;
  }

  /** Called for a channel whose models think beyond the output limit. */
  allowThinking(tokens: number): void {
    this.thinkingTokensMax = tokens;
    this.nextLookBytes = this.#lookAt();
  }

  /**
   * Whether the answer is longer than any answer within the limits: its vendor ignores them, or
   * sends without end.
   */
  isPast(bytes: number): boolean {
    return bytes > this.#endBytes;
  }

  get #endBytes(): number {
    return (this.outputTokensMax + this.thinkingTokensMax + tokensOfBlanks) * bytesPerTokenEver;
  }

  /**
   * The byte count of the next check: half a slice before the reserved money ends. When the money
   * covers the longest answer, the next check is at its end.
   */
  #lookAt(): number {
    if (this.#admitted.most !== undefined) return Infinity;
    if (!this.isPartlyCovered())
      return this.#reservedTokensMax < this.outputTokensMax
        ? this.#reservedTokensMax * bytesPerTokenMax
        : this.#endBytes;
    return Math.max(0, this.#coveredTokens - Math.ceil(this.#slice / 2)) * bytesPerTokenReserved;
  }

  /** Raises the reserved limit once the money covers all of it and the answer goes beyond it. */
  raiseLimitFor(bytes: number): void {
    if (
      this.isPartlyCovered() ||
      this.#reservedTokensMax >= this.outputTokensMax ||
      bytes <= this.#reservedTokensMax * bytesPerTokenMax
    )
      return;
    this.#reservedTokensMax = Math.min(
      this.outputTokensMax,
      Math.ceil(bytes / bytesPerTokenReserved) + sliceFirst,
    );
  }

  /** Whether an answer of this many bytes is longer than the money covers. */
  isBeyondCovered(bytes: number): boolean {
    return this.isPartlyCovered() && bytes > this.#coveredTokens * bytesPerTokenReserved;
  }

  /**
   * Whether the reservation covers so many output tokens. The watchdog asks for those that a model
   * which thinks unseen could have written by now.
   */
  coversTokens(tokens: number): boolean {
    return tokens <= this.#coveredTokens;
  }

  /** Takes the next slice if it is free at once. */
  grow(): void {
    if (!this.isPartlyCovered()) return;
    const target = this.#target();
    const missing = worstCaseOf(this.#admitted, target) - this.#reservation.amount;
    if (missing <= 0n || this.#reservation.extend(missing) >= missing) this.#covered(target);
  }

  /** Whether the money covers less than the limit of this answer. */
  isPartlyCovered(): boolean {
    return this.#coveredTokens < this.#reservedTokensMax;
  }

  /**
   * Waits for the next slice; false when the account has no money for it in time. Concurrent
   * callers share one wait.
   */
  growOrWait(waitMs: number): Promise<boolean> {
    this.#extending ??= this.#extend(waitMs).finally(() => {
      this.#extending = undefined;
    });
    return this.#extending;
  }

  async #extend(waitMs: number): Promise<boolean> {
    const target = this.#target();
    const missing = worstCaseOf(this.#admitted, target) - this.#reservation.amount;
    if (missing > 0n) {
      const one =
        worstCaseOf(this.#admitted, this.#coveredTokens + 1) -
        worstCaseOf(this.#admitted, this.#coveredTokens);
      const got = await this.#reservation.extendOrWait(
        missing,
        missing < one ? missing : one,
        waitMs,
      );
      if (got === 0n) return false;
      if (got < missing) {
        const affordable = affordableTokens(this.#admitted, this.#reservation.amount);
        if (affordable <= this.#coveredTokens) return false;
        this.#covered(affordable);
        return true;
      }
    }
    this.#covered(target);
    return true;
  }

  #target(): number {
    return Math.min(this.#reservedTokensMax, this.#coveredTokens + this.#slice);
  }

  #covered(tokens: number): void {
    this.#coveredTokens = Math.max(this.#coveredTokens, tokens);
    this.#slice = Math.min(sliceMax, this.#slice * 2);
    this.nextLookBytes = this.#lookAt();
  }
}
