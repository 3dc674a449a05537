import type { Fault } from '../../../base/fault.ts';
import { type Documented, objectOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { VendorTaskProgress, TaskAdapter, VideoCall } from '../../task-adapter.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { from, imageAs, type VideoRange } from './fit.ts';
import {
  acceptedReply,
  failed,
  rangeFitter,
  isFaulty,
  replyObject,
  progressOf,
  type TaskStates,
  submissionIn,
  taskFault,
  type TaskReply,
} from './task.ts';

/** A task (docs.x.ai/docs/guides/video-generations, 2026-08). */
interface GrokVideoTask {
  readonly status: string;
  readonly progress: number;
  readonly error: { readonly code: string; readonly message: string } | string;
  readonly video: { readonly url: string; readonly respect_moderation: boolean };
}

const imagine: VideoRange = {
  models: /./,
  seconds: from(1, 15),
  resolutions: ['480p', '720p'],
  usual: '720p',
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'],
  images: { first: 1, reference: 7 },
  audio: 'always',
  promptMax: 32_000,
};

/** docs.x.ai/docs/guides/video-generations, 2026-08. */
const { made, misfit } = rangeFitter([
  { ...imagine, models: /-1\.5/, resolutions: ['480p', '720p', '1080p'] },
  imagine,
]);

const states: TaskStates = {
  queued: ['pending'],
  running: ['processing'],
  completed: ['done'],
  failed: ['failed', 'expired'],
};

function submit(call: VideoCall): VendorRequest {
  const { request } = call;
  const { seconds, resolution, ratio } = made(call);
  const first = imageAs(request, 'first');
  const references = request.images
    .filter(({ role }) => role === 'reference')
    .map(({ url }) => ({ url }));
  return jsonRequest('/videos/generations', {
    model: call.upstreamModel,
    prompt: request.prompt,
    duration: seconds,
    resolution,
    aspect_ratio: ratio,
    image: first === undefined ? undefined : { url: first },
    reference_images: references.length > 0 ? references : undefined,
  });
}

function taskReply({ status, error, video, progress }: Documented<GrokVideoTask>): TaskReply {
  const { code, message } = objectOf(error) ?? {};
  // `pending` comes with a percentage that moves (recorded): a task at 1 % is being made.
  const word = status === 'pending' && progress !== 0 ? 'processing' : status;
  return {
    word,
    code: code ?? status,
    message: message ?? error,
    url: objectOf(video)?.url,
    percent: progress,
  };
}

export function xaiVideo({ faults }: { readonly faults: readonly FaultRule[] }): TaskAdapter {
  return {
    misfit,
    variants: (call) => [made(call).resolution],
    // Each input image has a price.
    quantitiesMax: ({ request }) =>
      request.images.length > 0 ? { image: request.images.length } : {},
    submit,
    readSubmission: (reply) => submissionIn(acceptedReply(reply, faults), 'request_id'),
    poll: ({ upstreamId }) => getRequest(`/videos/${encodeURIComponent(upstreamId)}`),
    readPoll(reply): VendorTaskProgress | Fault {
      const body: Documented<GrokVideoTask> | Fault = replyObject(reply);
      const blocked =
        !isFaulty(body) &&
        body.status === 'done' &&
        objectOf(body.video)?.respect_moderation === false;
      if (blocked)
        return failed({
          kind: 'content_policy',
          message: 'the video was blocked by content moderation',
        });
      return progressOf(body, states, faults, taskReply);
    },
    fault: taskFault(faults),
  };
}
