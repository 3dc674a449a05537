import type { Candidate } from '../catalog/snapshot.ts';
import type { AttemptResult } from './attempt.ts';
import type { Exchange } from './exchange.ts';
import type { Lane } from './lanes.ts';

/** Tells of an attempt that is over. `begunMs`: since the exchange began. */
export function tellTrace(
  exchange: Exchange,
  candidate: Candidate,
  lane: Lane,
  result: AttemptResult,
  begunMs: number,
): void {
  const { parts, request, startedAtMs, firstByteMs } = exchange;
  parts.traces?.attempted(request.id, {
    provider: lane.provider,
    channel: candidate.channel.name,
    upstreamModel: candidate.upstreamModel,
    capability: request.capability,
    stream: request.stream,
    url: lane.upstream.urlOf(''),
    beganMs: startedAtMs + begunMs,
    endedMs: startedAtMs + exchange.elapsedMs(),
    firstByteMs:
      request.stream && firstByteMs !== undefined && result.kind !== 'outrun'
        ? firstByteMs - begunMs
        : undefined,
    error:
      result.kind === 'fault' ? result.fault.kind : isUnfinished(result) ? result.kind : undefined,
  });
}

const isUnfinished = ({ kind }: AttemptResult): boolean =>
  kind === 'left' || kind === 'refused' || kind === 'outrun';
