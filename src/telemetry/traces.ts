import type { IncomingHttpHeaders } from 'node:http';
import type { AccessLine } from './access-log.ts';

/** A request as it came in. */
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
  /** The vendor's address. */
  readonly url: string;
  /** Milliseconds of the process's steady clock. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** Milliseconds to the first byte of a stream for the client. */
  readonly firstByteMs: number | undefined;
  /** The kind of the fault in which it ended, or `left`. */
  readonly error: string | undefined;
}

/**
 * Who is told of requests, by their ids, where they are traced. Nothing is asked of it while a
 * request runs: the client's `traceparent` says where its trace begins, and no vendor hears of it.
 */
export interface Traces {
  /** `at`: wall clock, ms. */
  began(id: string, at: number, request: TracedRequest): void;
  attempted(id: string, attempt: TracedAttempt): void;
  finished(line: AccessLine): void;
  refused(id: string, status: number, refusal: string): void;
  /** Its answer is over. */
  ended(id: string): void;
  /** Sends what is still here. */
  close(): Promise<void>;
}
