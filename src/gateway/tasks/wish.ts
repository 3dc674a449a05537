import type { Principal } from '../../accounts/principal.ts';
import { refuse } from '../../base/refusal.ts';
import type { Candidate, Offer } from '../../catalog/snapshot.ts';
import type { Misfit, TaskAdapter, VideoCall, VideoWish } from '../../providers/task-adapter.ts';
import { endpointFor, kindsFor } from '../kinds.ts';
import type { Lane, Lanes } from '../lanes.ts';

/** A submission as its endpoint understood it. */
export interface VideoRequest {
  /** Of the request. */
  readonly id: string;
  readonly taskId: string;
  readonly principal: Principal;
  readonly model: string;
  /** Undefined: the model's usual length. */
  readonly seconds: number | undefined;
  readonly wish: Omit<VideoWish, 'seconds'>;
  /** Lengths of models of which the catalogue names none. */
  readonly usualDurations: readonly number[];
  /** Lengths that this endpoint knows beside them. */
  readonly moreSeconds: readonly number[];
  /** What the client calls the parts of its wish. */
  readonly names: Readonly<Record<Misfit['param'], string>>;
  readonly idempotencyKey: string | undefined;
  /** Awaited before the task is written. What it throws ends the submission. */
  readonly begin: (() => Promise<void>) | undefined;
}

/** One channel whose model can make what is wished for. */
export interface Maker {
  readonly candidate: Candidate;
  readonly id: string;
  readonly priority: number;
  readonly weight: number;
  readonly lane: Lane;
  readonly adapter: TaskAdapter;
  readonly call: VideoCall;
}

const usualSeconds = 5;
const listed = (seconds: readonly number[]): string => seconds.toSorted((a, b) => a - b).join(', ');

/** The wish with its length. Throws the Refusal of what this model is not for, or does not make. */
export function wishOf(
  { model }: Offer,
  { wish, seconds, usualDurations, moreSeconds, names }: VideoRequest,
): VideoWish {
  if (!kindsFor.video.includes(model.kind))
    refuse('wrong_endpoint', {
      model: model.id,
      kind: model.kind,
      endpoint: endpointFor[model.kind],
      param: 'model',
    });
  const { modalities, durations = usualDurations } = model;
  if (wish.images.length > 0 && modalities !== undefined && !modalities.in.includes('image')) {
    const accepted = modalities.in.join(', ');
    refuse('unsupported_content', {
      model: model.id,
      content: 'image',
      param: names.image,
      accepted,
    });
  }
  if (seconds === undefined)
    return {
      ...wish,
      seconds: durations.includes(usualSeconds) ? usualSeconds : Math.min(...durations),
    };
  const allowed = [...new Set([...durations, ...moreSeconds])];
  if (!allowed.includes(seconds))
    refuse('invalid_value', {
      param: names.duration,
      why: `the model '${model.id}' makes videos of ${listed(allowed)} seconds.`,
    });
  return { ...wish, seconds };
}

/**
 * The channels that can make it. Throws the Refusal that tells what is allowed where none can, so
 * that nothing is ever silently shortened.
 */
export function makersOf(
  lanes: Lanes,
  { candidates, model }: Offer,
  request: VideoRequest,
  wish: VideoWish,
): readonly Maker[] {
  const makers: Maker[] = [];
  let misfit: Misfit | undefined;
  for (const candidate of candidates) {
    const lane = lanes.of(candidate.channel);
    const adapter = lane.taskAdapter('video');
    if (adapter === undefined) continue;
    const { id, priority, weight, upstreamModel } = candidate;
    const call = { wish, taskId: request.taskId, publicModel: model.id, upstreamModel };
    const unfit = tooLong(candidate, wish) ?? adapter.misfit?.(call);
    if (unfit === undefined) makers.push({ candidate, id, priority, weight, lane, adapter, call });
    else misfit ??= unfit;
  }
  if (makers.length === 0 && misfit !== undefined)
    refuse('invalid_value', { param: request.names[misfit.param], why: misfit.why });
  return makers;
}

function tooLong({ durations }: Candidate, { seconds }: VideoWish): Misfit | undefined {
  if (durations === undefined || durations.includes(seconds)) return undefined;
  return {
    param: 'duration',
    why: `it is not available for this model: it makes videos of ${listed(durations)} seconds.`,
  };
}
