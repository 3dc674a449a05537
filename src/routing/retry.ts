import type { FaultKind } from '../base/fault.ts';
import type { Stage } from './candidates.ts';

/**
 * What a retry may cost. `text`: chat, embeddings, transcription. `media`: image and video, which
 * may be charged although no answer came.
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
 * Whether a request goes on to its next channel, by the fault and how far the attempt had come.
 * `failures` counts the attempts of this request that ended with this fault, the present one
 * included.
 */
export function mayRetry(
  fault: FaultKind,
  stage: Stage,
  failures: number,
  capability: CapabilityClass,
): boolean {
  if (stage === 'connecting') return true;
  if (stage === 'streaming' || (capability === 'media' && maybeTaken.includes(fault))) return false;
  return failures <= (forgiven[fault] ?? 0);
}
