import { type Refusal, unavailable } from '../base/refusal.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { DownloadedMedium } from '../media/downloads.ts';
import type { StreamTranslator, VendorCall } from '../providers/adapter.ts';
import type { Fallback } from './admit.ts';
import type { ApiRequest } from './api-request.ts';
import type { AttemptResult } from './attempt.ts';
import type { Hedge } from './parts.ts';
import { elapsedMs, type FundedRequest } from './reserve.ts';
import type { PeriodicCheck } from './periodic-checks.ts';

/** What ends early when the client leaves: an attempt, or what is fetched for one. */
export interface Work {
  abort(result: AttemptResult): void;
}

/** The work of attempts that are made at once. */
export interface SharedWork extends Work {
  enter(work: Work): void;
  exit(work: Work): void;
}

/** The state of one run: what has happened to a funded request so far. */
export class RequestProgress {
  /** As the client sent it. A fallback model gets another one. */
  readonly request: ApiRequest;
  /** Milliseconds from the start to the first byte for the client, once that byte has left. */
  firstByteMs: number | undefined;
  attempts = 0;
  /** Milliseconds from the start to the first attempt, once there is one. */
  beforeMs: number | undefined;
  /** Milliseconds for which an attempt was under way. */
  vendorMs = 0;
  /** The channel of the running or answering attempt. */
  candidate: Candidate | undefined;
  #work: Work | undefined;
  /** While a hedge lasts, all work belongs to it. */
  shared: SharedWork | undefined;
  /** The streamed call of the last attempt, until the next begins; of a hedge, the winner's. */
  call: VendorCall | undefined;
  /** The client's members that the running or answering attempt does not send to its vendor. */
  dropped: readonly string[] | undefined;
  /** The outcome of a hedge, once a second channel has been called. */
  hedge: Hedge | undefined;
  /** The vendor's stream that the client gets, as it is or collected into a whole answer. */
  stream: Pick<StreamTranslator, 'meter' | 'type'> | undefined;
  /** Media downloaded for one channel, kept for the next. */
  downloaded: ReadonlyMap<string, DownloadedMedium> | undefined;
  /** Checks the stream once a second, once there is one. */
  watchdog: PeriodicCheck | undefined;
  /** Something was written since the last check. */
  wrote = false;
  left = false;
  /** What the client is told when the node stopped, and ended a request that goes on without it. */
  stopped: Refusal | undefined;

  constructor(request: ApiRequest) {
    this.request = request;
  }

  /** The client went away: no fault is recorded, and the vendor stops at once. */
  readonly leave = (): void => {
    this.left = true;
    this.breakOff({ kind: 'left' });
  };

  /** The node stops, and the request with it (unattended.ts). */
  stop(): void {
    this.stopped = unavailable(this.request.id, 'this node is shutting down');
    this.leave();
  }

  breakOff(result: AttemptResult): void {
    (this.shared ?? this.#work)?.abort(result);
  }

  startWork(work: Work): void {
    if (this.shared === undefined) this.#work = work;
    else this.shared.enter(work);
  }

  /** Work of a hedge that was broken off may end when the next attempt is already at work. */
  endWork(work: Work): void {
    this.shared?.exit(work);
    if (this.#work === work) this.#work = undefined;
  }

  begin(candidate: Candidate): void {
    this.attempts += 1;
    this.candidate = candidate;
    // The failed attempt's translation may be megabytes.
    this.call = undefined;
  }

  /** The adapter refused the request, and the vendor was not called: this was no attempt. */
  takeBack(): void {
    this.attempts -= 1;
    this.candidate = undefined;
    this.#work = undefined;
  }
}

/**
 * The first bytes for the client have arrived: its stream begins. No vendor gets the request from
 * here on.
 */
export function beginStream(funded: FundedRequest, progress: RequestProgress): void {
  progress.firstByteMs ??= elapsedMs(funded);
  forgetBytes(progress, funded.fallbacks);
  if (progress.downloaded !== undefined) progress.downloaded = undefined;
  sendDroppedHeader(funded, progress);
  funded.response.startStream(progress.stream?.type);
}

const noBytes = Buffer.alloc(0);

/**
 * The bytes of a request may be megabytes, and its answer may last for minutes. The request to each
 * model has them, and the call with each of its translations.
 */
function forgetBytes(
  { request, call }: RequestProgress,
  fallbacks: readonly Fallback[] | undefined,
): void {
  forgetBytesOf(request);
  if (fallbacks !== undefined) for (const fallback of fallbacks) forgetBytesOf(fallback.request);
  for (let sent = call; sent !== undefined; sent = sent.translated) forgetBytesOf(sent);
}

function forgetBytesOf(sent: Pick<ApiRequest, 'bytes' | 'skeleton'>): void {
  sent.bytes = noBytes;
  if (sent.skeleton !== undefined) sent.skeleton = undefined;
}

/** Longest header value, however many members are dropped. */
export const droppedCharsMax = 1_024;
const moreDropped = ', ...';

/**
 * Names the members that were not sent to the vendor in a header, before the response begins: those
 * whose values mean "not set", and those that the answering vendor does not take.
 */
export function sendDroppedHeader(
  { response, request: { dropped: unset } }: FundedRequest,
  { dropped: notTaken }: RequestProgress,
): void {
  if ((unset === undefined && notTaken === undefined) || response.started) return;
  const dropped = [...(unset ?? []), ...(notTaken ?? [])];
  if (dropped.length > 0) response.header('x-tollgate-dropped', droppedText(dropped));
}

/**
 * Each path once, in alphabetical order. A path may hold a name that the client chose: characters
 * that a header cannot carry become `?`.
 */
export function droppedText(dropped: readonly string[]): string {
  const paths = [...new Set(dropped.map((path) => path.replace(/[^\x21-\x7e]|,/g, '?')))].sort();
  const text = paths.join(', ');
  if (text.length <= droppedCharsMax) return text;
  const end = text.lastIndexOf(', ', droppedCharsMax - moreDropped.length);
  return `${text.slice(0, Math.max(0, end))}${moreDropped}`;
}
