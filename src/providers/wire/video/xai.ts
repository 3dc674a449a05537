import type { Fault } from '../../../base/fault.ts';
import type { Ask } from '../../adapter.ts';
import type { Progress, TaskAdapter, VideoCall } from '../../task-adapter.ts';
import { type JsonObject, objectOf } from '../json.ts';
import type { FaultRule } from '../openai-chat-quirks.ts';
import { from, imageAs, type VideoRange } from './fit.ts';
import {
  acceptedIn,
  failed,
  fitting,
  get,
  isFaulty,
  objectIn,
  postJson,
  standing,
  type States,
  submittedIn,
  taskFault,
  type Told,
} from './task.ts';

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
const { made, misfit } = fitting([
  { ...imagine, models: /-1\.5/, resolutions: ['480p', '720p', '1080p'] },
  imagine,
]);

const states: States = {
  queued: ['pending'],
  running: ['processing'],
  completed: ['done'],
  failed: ['failed', 'expired'],
};

function submit(call: VideoCall): Ask {
  const { wish } = call;
  const { seconds, resolution, ratio } = made(call);
  const first = imageAs(wish, 'first');
  const references = wish.images
    .filter(({ role }) => role === 'reference')
    .map(({ url }) => ({ url }));
  return postJson('/videos/generations', {
    model: call.upstreamModel,
    prompt: wish.prompt,
    duration: seconds,
    resolution,
    aspect_ratio: ratio,
    image: first === undefined ? undefined : { url: first },
    reference_images: references.length > 0 ? references : undefined,
  });
}

function told({ status, error, video, progress }: JsonObject): Told {
  const { code, message } = objectOf(error) ?? {};
  // Waiting is told with a percentage that moves (recorded): a task at 1 % is being made.
  const word = status === 'pending' && progress !== 0 ? 'processing' : status;
  return {
    word,
    code: code ?? status,
    message: message ?? error,
    url: objectOf(video)?.['url'],
    percent: progress,
  };
}

export function xaiVideo({ faults }: { readonly faults: readonly FaultRule[] }): TaskAdapter {
  return {
    misfit,
    variants: (call) => [made(call).resolution],
    // Pictures that go in are sold one by one.
    worst: ({ wish }) => (wish.images.length > 0 ? { image: wish.images.length } : {}),
    submit,
    submitted: (reply) => submittedIn(acceptedIn(reply, faults), 'request_id'),
    poll: ({ upstreamId }) => get(`/videos/${encodeURIComponent(upstreamId)}`),
    polled(reply): Progress | Fault {
      const body = objectIn(reply);
      const blocked =
        !isFaulty(body) &&
        body['status'] === 'done' &&
        objectOf(body['video'])?.['respect_moderation'] === false;
      if (blocked)
        return failed({
          kind: 'content_policy',
          message: 'the video was blocked by content moderation',
        });
      return standing(body, states, faults, told);
    },
    fault: taskFault(faults),
  };
}
