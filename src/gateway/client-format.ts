import type { Refusal } from '../base/refusal.ts';
import type { Reply } from '../http/reply.ts';
import type { Pass } from '../limits/contract.ts';

/** How the client's format ends a stream, breaks one, keeps one open, and tells of limits. api/ knows the shapes, the pipeline only when. */
export interface ClientFormat {
  /** The end mark: sent once the charge is committed. */
  readonly done: string;
  /** Sent while the model is silent. */
  readonly keepAlive: string;
  /** `nextEvent`: its number, in formats that number their events. */
  errorEvent(error: Refusal, requestId: string, nextEvent: number): string;
  limitHeaders(pass: Pass, reply: Reply): void;
}
