import type { Fault } from '../../../base/fault.ts';
import { type Documented, objectOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { TaskAdapter, VideoCall } from '../../task-adapter.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { from, imageAs, type VideoRange } from './fit.ts';
import {
  imageRoles,
  rangeFitter,
  isFaulty,
  replyObject,
  progressOf,
  type TaskStates,
  submissionIn,
  taskFault,
  type TaskReply,
} from './task.ts';

/** A task (help.aliyun.com/zh/model-studio, text-to-video, 2026-08). */
interface WanTask {
  readonly task_id: string;
  readonly task_status: string;
  readonly code: string;
  readonly message: string;
  readonly video_url: string;
}

const wan: VideoRange = {
  models: /./,
  seconds: [5, 10, 15],
  resolutions: ['720p', '1080p'],
  usual: '720p',
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
  images: {},
  audio: 'always',
  promptMax: 1_500,
};
const begins = { images: { first: 1 }, needsImage: true } as const;

/**
 * help.aliyun.com/zh/model-studio, text-to-video, image-to-video and reference-to-video, 2026-08.
 */
const { made, misfit } = rangeFitter([
  {
    ...wan,
    models: /^wan2\.7.*-i2v/,
    seconds: from(2, 15),
    images: { first: 1, last: 1 },
    needsImage: true,
    promptMax: 5_000,
  },
  {
    ...wan,
    models: /^wan2\.7.*-r2v/,
    seconds: from(2, 10),
    images: { reference: 5 },
    needsImage: true,
    promptMax: 5_000,
  },
  { ...wan, models: /^wan2\.7/, seconds: from(2, 15), promptMax: 5_000 },
  { ...wan, models: /^happyhorse.*-t2v/, seconds: from(3, 15), promptMax: 2_500 },
  { ...wan, models: /^happyhorse/, seconds: from(3, 15), ...begins, promptMax: 2_500 },
  { ...wan, models: /-i2v-flash/, ...begins, audio: 'either' },
  { ...wan, models: /-i2v/, ...begins },
  wan,
]);

/** Before wan2.7, the size sets resolution and shape together. */
const sizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '720p': {
    '16:9': '1280*720',
    '9:16': '720*1280',
    '1:1': '960*960',
    '4:3': '1088*832',
    '3:4': '832*1088',
  },
  '1080p': {
    '16:9': '1920*1080',
    '9:16': '1080*1920',
    '1:1': '1440*1440',
    '4:3': '1632*1248',
    '3:4': '1248*1632',
  },
};

/**
 * From wan2.7 on, images are a list with a role each, and the shape has a member of its own (same
 * pages).
 */
const isLater = ({ upstreamModel }: VideoCall): boolean =>
  /^(?:wan2\.7|happyhorse)/.test(upstreamModel);

function inputOf(call: VideoCall): object {
  const { request } = call;
  const words = { prompt: request.prompt, negative_prompt: request.negativePrompt };
  if (!isLater(call)) return { ...words, img_url: imageAs(request, 'first') };
  const media = request.images.map(({ role, url }) => ({ type: imageRoles[role], url }));
  return { ...words, media: media.length > 0 ? media : undefined };
}

/** Undefined: the vendor gets a resolution, and decides about the size. */
function sizeOf(call: VideoCall): string | undefined {
  if (isLater(call) || imageAs(call.request, 'first') !== undefined) return undefined;
  const { resolution, ratio } = made(call);
  return sizes[resolution]?.[ratio ?? '16:9'];
}

function shapeOf(call: VideoCall): object {
  const { resolution, ratio } = made(call);
  const begun = imageAs(call.request, 'first') !== undefined;
  if (!isLater(call) && !begun) return { size: sizeOf(call) };
  return { resolution: resolution.toUpperCase(), ratio: begun ? undefined : ratio };
}

function submit(call: VideoCall): VendorRequest {
  const { request, upstreamModel } = call;
  const parameters = {
    ...shapeOf(call),
    duration: made(call).seconds,
    seed: request.seed,
    audio: upstreamModel.includes('-i2v-flash') ? request.audio : undefined,
  };
  // Without the header, the vendor replies "current user api does not support synchronous calls".
  return jsonRequest(
    '/../../api/v1/services/aigc/video-generation/video-synthesis',
    { model: upstreamModel, input: inputOf(call), parameters },
    { 'x-dashscope-async': 'enable' },
  );
}

/** The vendor reports `UNKNOWN` for tasks older than a day, which Tollgate no longer polls. */
const states: TaskStates = {
  queued: ['PENDING'],
  running: ['RUNNING', 'SUSPENDED'],
  completed: ['SUCCEEDED'],
  failed: ['FAILED', 'CANCELED', 'CANCELLED'],
};

const taskPath = ({ upstreamId }: { readonly upstreamId: string }): string =>
  `/../../api/v1/tasks/${encodeURIComponent(upstreamId)}`;

function outputIn(reply: Buffer): Documented<WanTask> | Fault {
  const body: Documented<{ readonly output: WanTask }> | Fault = replyObject(reply);
  return isFaulty(body) ? body : (objectOf(body.output) ?? {});
}

const taskReply = ({
  task_status: word,
  code,
  message,
  video_url: url,
}: Documented<WanTask>): TaskReply => ({
  word,
  code: code ?? word,
  message,
  url,
});

/** The vendor's own interface, which lies beside the one for chat. */
export function wanVideo({ faults }: { readonly faults: readonly FaultRule[] }): TaskAdapter {
  return {
    misfit,
    variants: (call) => [made(call).resolution],
    size: (call) => sizeOf(call)?.replace('*', 'x'),
    submit,
    readSubmission: (reply) => submissionIn(outputIn(reply), 'task_id'),
    poll: (task) => getRequest(taskPath(task)),
    readPoll: (reply) => progressOf(outputIn(reply), states, faults, taskReply),
    // The vendor cancels a task that waits and refuses once it runs.
    cancel: (task) => jsonRequest(`${taskPath(task)}/cancel`, {}),
    fault: taskFault(faults),
  };
}
