import type { Quantities } from '../base/quantities.ts';
import type { Refusal } from '../base/refusal.ts';
import type { Reply } from '../http/reply.ts';
import type { Pass } from '../limits/contract.ts';
import type { ClientRequest } from './request.ts';

/**
 * How the client's format ends a stream, breaks one, keeps one open, and tells of limits. api/
 * knows the shapes, the pipeline only when.
 */
export interface ClientFormat {
  /** The end mark: sent once the charge is committed. */
  readonly done: string;
  /** Sent while the model is silent. Empty: there is nothing that could be. */
  readonly keepAlive: string;
  /**
   * `nextEvent`: its number, in formats that number their events. Undefined: the connection breaks,
   * since bytes of sound say nothing of errors.
   */
  readonly errorEvent:
    | ((error: Refusal, requestId: string, nextEvent: number) => string)
    | undefined;
  /**
   * A whole answer as the end of a stream, for vendors that do not stream what clients may want
   * streamed. Latin1.
   */
  readonly wholeAsEvents?: (answer: Buffer) => string;
  limitHeaders(pass: Pass, reply: Reply): void;
  /**
   * For vendors that told no usage: our own count, in a whole answer and as an event (`created` in
   * Unix seconds) of a stream that was asked for it.
   */
  readonly counted?: {
    whole(answer: Buffer, quantities: Quantities): Buffer;
    event(request: ClientRequest, created: number, quantities: Quantities): string;
  };
}
