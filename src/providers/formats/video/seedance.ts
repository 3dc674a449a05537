import { type Documented, countOf, objectOf } from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { TaskAdapter, VideoCall } from '../../task-adapter.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest, getRequest, deleteRequest } from '../json-request.ts';
import { from, type VideoRange } from './fit.ts';
import {
  contentOf,
  acceptedReply,
  rangeFitter,
  replyObject,
  progressOf,
  type TaskStates,
  submissionIn,
  taskFault,
  type TaskReply,
} from './task.ts';

/** A task (volcengine.com/docs/82379/1520757, 2026-08). */
interface SeedanceTask {
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string };
  readonly content: { readonly video_url: string };
  readonly usage: { readonly completion_tokens: number };
}

const endpoint: VideoRange = {
  models: /./,
  seconds: from(4, 15),
  resolutions: ['480p', '720p', '1080p'],
  usual: '720p',
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'],
  images: { first: 1, last: 1, reference: 9 },
  audio: 'either',
  promptMax: 4_000,
};

/**
 * volcengine.com/docs/82379/1520757, 2026-08. The id of an endpoint (`ep-…`) does not name its
 * model.
 */
const { made, misfit } = rangeFitter([
  { ...endpoint, models: /seedance-2-5/, seconds: from(4, 30), resolutions: ['480p', '720p'] },
  { ...endpoint, models: /seedance-2-0-(?:fast|mini)/, resolutions: ['480p', '720p'] },
  { ...endpoint, models: /seedance-2-0/, resolutions: ['480p', '720p', '1080p', '4k'] },
  { ...endpoint, models: /seedance-1-5/, seconds: from(4, 12), images: { first: 1, last: 1 } },
  {
    ...endpoint,
    models: /seedance-1-0/,
    seconds: from(2, 12),
    images: { first: 1, last: 1 },
    audio: 'never',
  },
  endpoint,
]);

function submit(call: VideoCall): VendorRequest {
  const { request } = call;
  const { seconds, resolution, ratio } = made(call);
  return jsonRequest('/contents/generations/tasks', {
    model: call.upstreamModel,
    content: contentOf(request),
    resolution,
    ratio,
    duration: seconds,
    seed: request.seed,
    generate_audio: request.audio,
  });
}

/** The most pixels of a frame by resolution, in any shape (same page). */
const pixels: Readonly<Record<string, number>> = {
  '480p': 432_000,
  '720p': 931_000,
  '1080p': 2_090_000,
  '4k': 8_450_000,
};
const framesPerSecond = 24;

/**
 * The most tokens that a video can cost: width × height × frames / 1024; a video has one frame more
 * than its seconds times the frame rate.
 */
function worst(call: VideoCall): Quantities {
  const { seconds, resolution } = made(call);
  return {
    output: Math.ceil(((pixels[resolution] ?? 0) * (seconds * framesPerSecond + 1)) / 1024),
  };
}

const states: TaskStates = {
  queued: ['queued'],
  running: ['running'],
  completed: ['succeeded'],
  failed: ['failed', 'cancelled', 'expired'],
};

const taskPath = ({ upstreamId }: { readonly upstreamId: string }): string =>
  `/contents/generations/tasks/${encodeURIComponent(upstreamId)}`;

function taskReply({ status: word, error, content, usage }: Documented<SeedanceTask>): TaskReply {
  const { code, message } = objectOf(error) ?? {};
  const output = countOf(objectOf(usage)?.completion_tokens);
  const quantities = output === undefined ? undefined : { output };
  return { word, code: code ?? word, message, url: objectOf(content)?.video_url, quantities };
}

export function seedanceVideo({ faults }: { readonly faults: readonly FaultRule[] }): TaskAdapter {
  return {
    misfit(call) {
      const roleSet = new Set(call.request.images.map(({ role }) => role));
      if (roleSet.has('reference') && roleSet.size > 1)
        return { param: 'image', why: 'frames and reference images exclude each other' };
      return misfit(call);
    },
    variants(call) {
      const { resolution } = made(call);
      return call.request.audio === false
        ? [`${resolution}+silent`, 'silent', resolution]
        : [resolution];
    },
    quantitiesMax: worst,
    submit,
    readSubmission: (reply) => submissionIn(acceptedReply(reply, faults), 'id'),
    poll: (task) => getRequest(taskPath(task)),
    readPoll: (reply) => progressOf(replyObject(reply), states, faults, taskReply),
    // The vendor cancels a task that waits; it refuses once the task runs.
    cancel: (task) => deleteRequest(taskPath(task)),
    fault: taskFault(faults),
  };
}
