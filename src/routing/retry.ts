import type { FaultKind } from '../base/fault.ts';
import type { CallStage } from '../http/upstream.ts';

/**
 * What a retry may cost. `text`: everything but images. `media`: images, which may be charged
 * although no answer came. Videos have `maySubmitElsewhere`.
 */
export type CapabilityClass = 'text' | 'media';

/**
 * How many attempts of one request may fail with this fault and still be followed by another.
 * Absent: the vendor blames the request, and so would the next vendor.
 */
const forgiven: Readonly<Partial<Record<FaultKind, number>>> = {
  unknown_model: Infinity,
  credentials: Infinity,
  quota: Infinity,
  rate_limited: Infinity,
  overloaded: Infinity,
  network: Infinity,
  timeout: Infinity,
  server_error: 1,
  protocol: 1,
};

/** Faults after which the vendor may still be at work; all other faults say that it is not. */
const maybeTaken: readonly FaultKind[] = ['network', 'timeout', 'server_error', 'protocol'];

/**
 * Whether another attempt may follow, by the fault and how far the attempt had come. `failures`
 * counts the attempts of this request to its present model that ended with this fault, the present
 * one included.
 */
export function mayRetry(
  fault: FaultKind,
  stage: CallStage,
  failures: number,
  capability: CapabilityClass,
): boolean {
  if (stage === 'connecting') return true;
  if (stage === 'streaming' || (capability === 'media' && maybeTaken.includes(fault))) return false;
  return failures <= (forgiven[fault] ?? 0);
}

/**
 * Whether the channel that failed may be the next one, too. A vendor may close an idle connection
 * in the instant in which it is used: the first time, that says nothing of the channel.
 */
export const mayRetrySameChannel = (
  fault: FaultKind,
  stage: CallStage,
  failures: number,
): boolean => fault === 'network' && stage === 'waiting' && failures === 1;

/**
 * Whether another model may answer, once no channel of the first can: the client must have nothing
 * of an answer. `failedAt`: how far the last attempt had come.
 */
export const mayFallBack = (failedAt: CallStage): boolean => failedAt !== 'streaming';

/** Faults by which a vendor refuses a video's task. */
const refusesTask: ReadonlySet<FaultKind> = new Set([
  'rate_limited',
  'overloaded',
  'quota',
  'credentials',
  'unknown_model',
]);

/**
 * Whether the submission of a video goes on to its next channel: only when the vendor certainly has
 * no task, since every task is made and charged. `reached`: the request may have reached the
 * vendor.
 */
export const maySubmitElsewhere = (fault: FaultKind, reached: boolean): boolean =>
  !reached || refusesTask.has(fault);
