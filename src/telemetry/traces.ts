import type { IncomingHttpHeaders } from 'node:http';
import type { AccessLine } from './request-metrics.ts';

/** A request as it arrived. */
export interface TracedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** One attempt at a vendor, once it is over. */
export interface TracedAttempt {
  readonly provider: string;
  readonly channel: string;
  readonly upstreamModel: string;
  readonly capability: string;
  readonly stream: boolean;
  /** The URL of the vendor. */
  readonly url: string;
  /** Milliseconds of the process's steady clock. */
  readonly beganMonotonicMs: number;
  readonly endedMonotonicMs: number;
  /** Milliseconds to the first byte of a stream for the client. */
  readonly firstByteMs: number | undefined;
  /** The kind of the fault that ended the attempt, or `left`. */
  readonly error: string | undefined;
}

/**
 * Receives the events of traced requests, by request id. A running request never waits for it: the
 * client's `traceparent` says where its trace begins, and no vendor gets it.
 */
export interface Traces {
  /** `at`: wall clock, ms. */
  began(id: string, at: number, request: TracedRequest): void;
  attempted(id: string, attempt: TracedAttempt): void;
  finished(line: AccessLine): void;
  refused(id: string, status: number, refusal: string): void;
  /** The response has ended. */
  ended(id: string): void;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}
