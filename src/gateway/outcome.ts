import type { Nano } from '../base/money.ts';
import type { Refusal } from '../base/refusal.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { AttemptResult } from './attempt.ts';
import type { StreamReceiver } from './stream.ts';

/*
 * How attempts and requests end. `AttemptResult` (attempt.ts) is how one call ended; the attempt
 * loop (route.ts) makes a `ChannelOutcome` of it, and hands on the `AttemptOutcome` that decides;
 * finish.ts makes the `RequestOutcome` of that.
 */

/** How the last attempt ended, and what took its stream, where it had one. */
export interface AttemptOutcome {
  readonly result: AttemptResult;
  readonly receiver?: StreamReceiver | undefined;
  /** Whose result it is; undefined where no channel was called. */
  readonly candidate?: Candidate | undefined;
}

export interface ChannelOutcome extends AttemptOutcome {
  readonly candidate: Candidate;
  /**
   * It decides the request: the channel delivered, the client left, or no other channel may be
   * called.
   */
  readonly decides: boolean;
}

/** How a request ended: the fields of the access line, and what the client has yet to get. */
export interface RequestOutcome {
  /**
   * The reservation has ended, with a charge or without one: the till has it no longer, and the
   * caller has nothing to release.
   */
  readonly reservationEnded: boolean;
  readonly cost: Nano;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The status that the client was sent, or is to be sent with `refusal`. 499: it left first. */
  readonly status: number;
  /** The `outcome` of the access line and of the metrics: `ok`, `left`, `fault:timeout`, … */
  readonly label: string;
  /** Not yet sent to the client: a refusal when nothing has been sent, else an error event. */
  readonly refusal: Refusal | undefined;
}
