import { type Documented, listOf, numberOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { TaskAdapter, VideoCall } from '../../task-adapter.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest, getRequest, deleteRequest } from '../json-request.ts';
import { from, imageAs, type VideoRange } from './fit.ts';
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

/** A task (docs.dev.runwayml.com/api, tasks, 2026-08). */
interface RunwayTask {
  readonly status: string;
  readonly failureCode: string;
  readonly failure: string;
  readonly output: readonly string[];
  readonly progress: number;
}

/** docs.dev.runwayml.com/errors, 2026-08: `{error: "…"}` without codes. */
const faults: readonly FaultRule[] = [
  { openings: ['You do not have enough credits'], kind: 'quota' },
  { code: /^(?:INPUT_PREPROCESSING\.)?SAFETY\b/, kind: 'content_policy' },
  { text: /model (?:variant|access)|not available to your/i, kind: 'unknown_model' },
];

/** Sent with each request: the date selects the version (docs.dev.runwayml.com/api, 2026-08). */
const version = { 'x-runway-version': '2024-11-06' } as const;

const gen4: VideoRange = {
  models: /./,
  seconds: from(2, 10),
  resolutions: ['720p'],
  usual: '720p',
  ratios: ['16:9', '9:16', '4:3', '3:4', '1:1', '21:9'],
  images: { first: 1 },
  audio: 'never',
  promptMax: 1_000,
};

const { made, misfit } = rangeFitter([
  // From text alone, the model makes two shapes.
  { ...gen4, models: /^gen4\.5/, of: 'words', ratios: ['16:9', '9:16'] },
  { ...gen4, models: /^gen4\.5/ },
  { ...gen4, models: /^gen4_turbo/, seconds: [5, 10], needsImage: true },
  {
    ...gen4,
    models: /^veo3/,
    seconds: [4, 6, 8],
    resolutions: ['720p', '1080p'],
    ratios: ['16:9', '9:16'],
    images: { first: 1, last: 1 },
    audio: 'always',
  },
  { ...gen4, models: /^seedance2/, seconds: from(4, 15), audio: 'always' },
  gen4,
]);

/** The request names a shape as width and height of the frame. */
const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '720p': {
    '16:9': '1280:720',
    '9:16': '720:1280',
    '4:3': '1104:832',
    '3:4': '832:1104',
    '1:1': '960:960',
    '21:9': '1584:672',
  },
  '1080p': { '16:9': '1920:1080', '9:16': '1080:1920' },
};

function shapeOf(call: VideoCall): string | undefined {
  const { resolution, ratio } = made(call);
  return shapes[resolution]?.[ratio ?? '16:9'];
}

function submit(call: VideoCall): VendorRequest {
  const { request } = call;
  const [first, last] = [imageAs(request, 'first'), imageAs(request, 'last')];
  const frames =
    last === undefined
      ? first
      : [first, last].map((uri, at) => ({ uri, position: at === 0 ? 'first' : 'last' }));
  const body = {
    model: call.upstreamModel,
    promptText: request.prompt,
    promptImage: frames,
    ratio: shapeOf(call),
    duration: made(call).seconds,
    seed: request.seed,
  };
  return jsonRequest(
    first === undefined ? '/v1/text_to_video' : '/v1/image_to_video',
    body,
    version,
  );
}

const states: TaskStates = {
  queued: ['PENDING', 'THROTTLED'],
  running: ['RUNNING'],
  completed: ['SUCCEEDED'],
  failed: ['FAILED', 'CANCELLED'],
};

const taskPath = ({ upstreamId }: { readonly upstreamId: string }): string =>
  `/v1/tasks/${encodeURIComponent(upstreamId)}`;

const taskReply = ({
  status: word,
  failureCode,
  failure,
  output,
  progress,
}: Documented<RunwayTask>): TaskReply => ({
  word,
  code: failureCode ?? word,
  message: failure,
  url: listOf(output)[0],
  percent: (numberOf(progress) ?? 0) * 100,
});

export const runwayVideo: TaskAdapter = {
  misfit,
  variants: (call) => [made(call).resolution],
  size: (call) => shapeOf(call)?.replace(':', 'x'),
  submit,
  readSubmission: (reply) => submissionIn(acceptedReply(reply, faults), 'id'),
  poll: (task) => getRequest(taskPath(task), version),
  readPoll: (reply) => progressOf(replyObject(reply), states, faults, taskReply),
  cancel: (task) => deleteRequest(taskPath(task), version),
  fault: taskFault(faults),
};
