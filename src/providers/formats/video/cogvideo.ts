import { type Documented, listOf, objectOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { TaskAdapter, VideoCall } from '../../task-adapter.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { imageAs, type VideoRange } from './fit.ts';
import {
  acceptedReply,
  rangeFitter,
  replyObject,
  progressOf,
  type TaskStates,
  submissionIn,
  taskFault,
  type TaskReply,
} from './task.ts';

/** A task (docs.bigmodel.cn/api-reference, async-result, 2026-08). */
interface CogVideoTask {
  readonly task_status: string;
  readonly error: { readonly code: string; readonly message: string };
  readonly video_result: readonly { readonly url: string }[];
}

const cogvideo: VideoRange = {
  models: /./,
  seconds: [5, 10],
  resolutions: ['720p', '1080p', '4k'],
  usual: '720p',
  ratios: ['16:9', '9:16', '1:1'],
  images: { first: 1, last: 1 },
  audio: 'either',
  promptMax: 512,
};

const { made, misfit } = rangeFitter([cogvideo]);

/** docs.bigmodel.cn/api-reference, videos/generations, 2026-08: the only sizes. */
const sizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '720p': { '16:9': '1280x720', '9:16': '720x1280', '1:1': '1024x1024' },
  '1080p': { '16:9': '1920x1080', '9:16': '1080x1920' },
  '4k': { '16:9': '3840x2160' },
};

const sizeOf = (call: VideoCall): string | undefined => {
  const { resolution, ratio } = made(call);
  return sizes[resolution]?.[ratio ?? '16:9'];
};

function submit(call: VideoCall): VendorRequest {
  const { request } = call;
  const [first, last] = [imageAs(request, 'first'), imageAs(request, 'last')];
  return jsonRequest('/videos/generations', {
    model: call.upstreamModel,
    prompt: request.prompt,
    image_url: last === undefined ? first : [first, last],
    size: sizeOf(call),
    duration: made(call).seconds,
    with_audio: request.audio,
    request_id: call.taskId,
  });
}

const states: TaskStates = {
  queued: [],
  running: ['PROCESSING'],
  completed: ['SUCCESS'],
  failed: ['FAIL'],
};

const taskReply = ({
  task_status: word,
  error,
  video_result: made,
}: Documented<CogVideoTask>): TaskReply => ({
  word,
  code: objectOf(error)?.code,
  message: objectOf(error)?.message,
  url: objectOf(listOf(made)[0])?.url,
});

export function cogVideo({ faults }: { readonly faults: readonly FaultRule[] }): TaskAdapter {
  return {
    misfit(call) {
      const wrong = misfit(call);
      if (wrong !== undefined || sizeOf(call) !== undefined) return wrong;
      const all = Object.values(sizes).flatMap((row) => Object.values(row));
      return { param: 'size', why: `allowed are ${all.join(', ')}` };
    },
    variants: (call) => [made(call).resolution],
    size: sizeOf,
    submit,
    readSubmission: (reply) => submissionIn(acceptedReply(reply, faults), 'id'),
    poll: ({ upstreamId }) => getRequest(`/async-result/${encodeURIComponent(upstreamId)}`),
    readPoll: (reply) => progressOf(replyObject(reply), states, faults, taskReply),
    fault: taskFault(faults),
  };
}
