import type { Fault } from '../../../base/fault.ts';
import type { Ask } from '../../adapter.ts';
import type { Progress, TaskAdapter, VideoCall } from '../../task-adapter.ts';
import { objectOf } from '../json.ts';
import type { FaultRule } from '../openai-chat-quirks.ts';
import { from, imageAs, type VideoRange } from './fit.ts';
import {
  acceptedIn,
  failed,
  failureOf,
  finishedAt,
  fitting,
  get,
  isFaulty,
  objectIn,
  postJson,
  stateOf,
  type States,
  submittedAs,
  taskFault,
  underWay,
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
const { made, misfit } = fitting([{ ...imagine, models: /-1\.5/, resolutions: ['480p', '720p', '1080p'] }, imagine]);

const states: States = { queued: ['pending'], running: ['processing'], completed: ['done'], failed: ['failed', 'expired'] };

function submit(call: VideoCall): Ask {
  const { wish } = call;
  const { seconds, resolution, ratio } = made(call);
  const first = imageAs(wish, 'first');
  const references = wish.images.filter(({ role }) => role === 'reference').map(({ url }) => ({ url }));
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

export function xaiVideo({ faults }: { readonly faults: readonly FaultRule[] }): TaskAdapter {
  return {
    misfit,
    variants: (call) => [made(call).resolution],
    // Pictures that go in are sold one by one.
    worst: ({ wish }) => (wish.images.length > 0 ? { image: wish.images.length } : {}),
    submit,
    submitted(reply) {
      const body = acceptedIn(reply, faults);
      return isFaulty(body) ? body : submittedAs(body['request_id']);
    },
    poll: ({ upstreamId }) => get(`/videos/${encodeURIComponent(upstreamId)}`),
    polled(reply): Progress | Fault {
      const body = objectIn(reply);
      if (isFaulty(body)) return body;
      const state = stateOf(body['status'], states);
      const error = objectOf(body['error']);
      if (state === 'failed') return failureOf(error?.['code'] ?? body['status'], error?.['message'] ?? body['error'], faults);
      // Waiting is told with a percentage that moves (recorded): a task at 1 % is being made.
      if (state !== 'completed') return underWay(state === 'queued' && body['progress'] !== 0 ? 'running' : state, body['progress']);
      const video = objectOf(body['video']);
      if (video?.['respect_moderation'] === false)
        return failed({ kind: 'content_policy', message: 'the video was blocked by content moderation' });
      return finishedAt(video?.['url']);
    },
    fault: taskFault(faults),
  };
}
