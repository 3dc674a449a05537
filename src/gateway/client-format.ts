import type { Refusal } from '../base/refusal.ts';
import type { Reply } from '../http/reply.ts';
import type { Pass } from '../limits/contract.ts';

/** How the client's format ends a stream, breaks one, and tells of limits. api/ knows the shapes, the pipeline only when. */
export interface ClientFormat {
  readonly done: string;
  errorEvent(error: Refusal): string;
  limitHeaders(pass: Pass, reply: Reply): void;
}
