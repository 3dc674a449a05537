import type { Fault } from '../../../base/fault.ts';
import { type Documented, objectOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { AcceptedTask, TaskAdapter, VideoCall } from '../../task-adapter.ts';
import { faultWithin, type FaultRule } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { from, imageAs, type VideoRange } from './fit.ts';
import {
  contentOf,
  acceptedReply,
  addressOf,
  taskFailure,
  rangeFitter,
  isFaulty,
  replyObject,
  progressOf,
  stateOf,
  type TaskStates,
  submissionOf,
  submissionIn,
  taskFault,
  type TaskReply,
  underWay,
} from './task.ts';

/** A task of the first version (platform.minimax.io, video-generation, 2026-08). */
interface HailuoTask {
  readonly status: string;
  readonly file_id: string;
  readonly base_resp: { readonly status_code: number; readonly status_msg: string };
}

/** The file of a video of the first version (same page). */
interface HailuoFile {
  readonly file: { readonly download_url: string };
}

/** A task of the second version (same page). */
interface SecondHailuoTask {
  readonly task: {
    readonly status: string;
    readonly error: { readonly code: string; readonly message: string };
    readonly content: { readonly url: string };
  };
}

const hailuo: VideoRange = {
  models: /./,
  seconds: [6, 10],
  secondsAt: { '1080p': [6] },
  resolutions: ['768p', '1080p'],
  usual: '768p',
  ratios: ['16:9'],
  images: { first: 1 },
  audio: 'never',
  promptMax: 2_000,
};

/** platform.minimax.io/docs/api-reference/video-generation, 2026-08. */
const { made, misfit } = rangeFitter([
  {
    ...hailuo,
    models: /^MiniMax-H\d/,
    seconds: from(5, 15),
    secondsAt: {},
    resolutions: ['2k'],
    usual: '2k',
    ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'],
    images: { first: 1, last: 1, reference: 9 },
    audio: 'always',
    promptMax: 7_000,
  },
  // 512p needs an image.
  {
    ...hailuo,
    models: /Hailuo-02/,
    of: 'picture',
    resolutions: ['512p', '768p', '1080p'],
    images: { first: 1, last: 1 },
  },
  { ...hailuo, models: /-Fast$/, needsImage: true },
  {
    ...hailuo,
    models: /^[TI]2V-01/,
    seconds: [6],
    secondsAt: {},
    resolutions: ['720p'],
    usual: '720p',
  },
  hailuo,
]);

/** H3 and later models have a second version of the interface. */
const isSecond = (model: string): boolean => /^MiniMax-H\d/.test(model);

function submit(call: VideoCall): VendorRequest {
  const { request, upstreamModel } = call;
  if (isSecond(upstreamModel)) return submitSecond(call);
  const { seconds, resolution } = made(call);
  return jsonRequest('/video_generation', {
    model: upstreamModel,
    prompt: request.prompt,
    duration: seconds,
    resolution: resolution.toUpperCase(),
    first_frame_image: imageAs(request, 'first'),
    last_frame_image: imageAs(request, 'last'),
  });
}

function submitSecond(call: VideoCall): VendorRequest {
  const { request } = call;
  const { seconds, resolution, ratio } = made(call);
  return jsonRequest('/../v2/video_generation', {
    model: call.upstreamModel,
    content: contentOf(request),
    resolution: resolution.toUpperCase(),
    duration: seconds,
    // The first frame sets the shape.
    ratio: imageAs(request, 'first') === undefined ? ratio : undefined,
  });
}

const states: TaskStates = {
  queued: ['Preparing', 'Queueing', 'queued'],
  running: ['Processing', 'running'],
  completed: ['Success', 'succeeded'],
  failed: ['Fail', 'failed', 'cancelled', 'expired'],
};

/** A video of the first version is a file with an id; this request returns its address. */
const fileAsk = (id: string): VendorRequest =>
  getRequest(`/files/retrieve?file_id=${encodeURIComponent(id)}`);

function secondReply(body: Documented<SecondHailuoTask>): TaskReply {
  const { status: word, error, content } = objectOf(body.task) ?? {};
  const { code, message } = objectOf(error) ?? {};
  return { word, code: code ?? word, message, url: objectOf(content)?.url };
}

export function minimaxVideo({ faults }: { readonly faults: readonly FaultRule[] }): TaskAdapter {
  const polledFirst: TaskAdapter['readPoll'] = (reply) => {
    const body: Documented<HailuoTask> | Fault = replyObject(reply);
    if (isFaulty(body)) return body;
    const state = stateOf(body.status, states);
    if (state === 'failed') {
      const { status_code: code, status_msg: message } = objectOf(body.base_resp) ?? {};
      return code === 0
        ? taskFailure(undefined, undefined, faults)
        : taskFailure(code, message, faults);
    }
    const fault = faultWithin(body, faults);
    if (fault !== undefined) return fault;
    if (state !== 'completed') return underWay(state);
    const file = submissionOf(body.file_id);
    return 'message' in file
      ? file
      : { state, file: { kind: 'request', request: fileAsk(file.upstreamId) } };
  };

  const polledSecond: TaskAdapter['readPoll'] = (reply) =>
    progressOf(acceptedReply(reply, faults), states, faults, secondReply);

  return {
    misfit,
    variants(call) {
      const { seconds, resolution } = made(call);
      return [`${resolution}/${seconds}`, resolution];
    },
    submit,
    readSubmission: (reply) => submissionIn(acceptedReply(reply, faults), 'task_id'),
    poll({ upstreamId, upstreamModel }: AcceptedTask) {
      const id = encodeURIComponent(upstreamId);
      return getRequest(
        isSecond(upstreamModel)
          ? `/../v2/query/video_generation/${id}`
          : `/query/video_generation?task_id=${id}`,
      );
    },
    readPoll: (reply, task) =>
      isSecond(task.upstreamModel) ? polledSecond(reply, task) : polledFirst(reply, task),
    readFileLocation(reply) {
      const body: Documented<HailuoFile> | Fault = acceptedReply(reply, faults);
      return isFaulty(body) ? body : addressOf(objectOf(body.file)?.download_url);
    },
    fault: taskFault(faults),
  };
}
