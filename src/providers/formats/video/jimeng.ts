import type { Fault } from '../../../base/fault.ts';
import { type Documented, objectOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { VendorTaskProgress, TaskAdapter, VideoCall } from '../../task-adapter.ts';
import { faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { jsonRequest } from '../json-request.ts';
import type { VideoRange } from './fit.ts';
import {
  dataParts,
  failed,
  rangeFitter,
  isFaulty,
  replyObject,
  progressOf,
  type TaskStates,
  submissionIn,
  taskFault,
} from './task.ts';

/** A reply (volcengine.com/docs/85621/1544774, 2026-08). */
interface JimengReply {
  readonly code: number;
  readonly message: string;
  readonly data: JimengTask;
}

/** A task (same page). */
interface JimengTask {
  readonly task_id: string;
  readonly status: string;
  readonly video_url: string;
}

/** volcengine.com/docs/85621/1544774, error codes, 2026-08. */
const faults: readonly FaultRule[] = [
  { code: /^50(?:41[1-3]|51[1-9]|52\d)$/, kind: 'content_policy' },
  { code: /^(?:50429|50430)$/, kind: 'rate_limited' },
  {
    code: /^(?:InvalidAccessKey|InvalidCredential|SignatureDoesNotMatch|AccessDenied|50400)$/,
    kind: 'credentials',
  },
  { code: /^505\d\d$/, kind: 'server_error' },
];

const v30: VideoRange = {
  models: /./,
  seconds: [5, 10],
  resolutions: ['720p'],
  usual: '720p',
  ratios: ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'],
  images: { first: 1 },
  audio: 'never',
  promptMax: 800,
};
const fullHd = { resolutions: ['1080p'], usual: '1080p' } as const;

/** A model has one resolution, and takes either text or images (same pages). */
const { made, misfit } = rangeFitter([
  { ...v30, models: /^jimeng_ti2v/, ...fullHd },
  { ...v30, models: /^jimeng_t2v.*1080/, ...fullHd, images: {} },
  { ...v30, models: /^jimeng_t2v/, images: {} },
  {
    ...v30,
    models: /^jimeng_i2v_first_tail.*1080/,
    ...fullHd,
    images: { first: 1, last: 1 },
    needsImage: true,
  },
  { ...v30, models: /^jimeng_i2v_first_tail/, images: { first: 1, last: 1 }, needsImage: true },
  { ...v30, models: /^jimeng_i2v.*1080/, ...fullHd, needsImage: true },
  { ...v30, models: /^jimeng_i2v/, needsImage: true },
  v30,
]);

const at = (action: string): string => `/?Action=${action}&Version=2022-08-31`;
const framesPerSecond = 24;

function submit(call: VideoCall): VendorRequest {
  const { request } = call;
  const { seconds, ratio } = made(call);
  const pictures = request.images.flatMap(({ url }) => dataParts(url)?.base64 ?? []);
  return jsonRequest(at('CVSync2AsyncSubmitTask'), {
    req_key: call.upstreamModel,
    prompt: request.prompt,
    binary_data_base64: pictures.length > 0 ? pictures : undefined,
    seed: request.seed,
    frames: seconds * framesPerSecond + 1,
    aspect_ratio: ratio,
  });
}

const good = 10_000;

/** Every reply has a code, and only one code means success. */
function dataIn(reply: Buffer): Documented<JimengTask> | Fault {
  const body: Documented<JimengReply> | Fault = replyObject(reply);
  if (isFaulty(body)) return body;
  const { code, message } = body;
  if (code === good) return objectOf(body.data) ?? {};
  return (
    faultWithin({ error: { code, message } }, faults) ?? protocolFault('an answer without a code')
  );
}

/**
 * The vendor reports `not_found` for tasks that are half a day old, and for tasks that it does not
 * know yet.
 */
const states: TaskStates = {
  queued: ['in_queue'],
  running: ['generating'],
  completed: ['done'],
  failed: ['expired'],
};

function polled(reply: Buffer): VendorTaskProgress | Fault {
  const data = dataIn(reply);
  // A video that the vendor made and holds back is reported by its code alone.
  if (isFaulty(data) && data.kind === 'content_policy') return failed(data);
  return progressOf(
    data,
    states,
    faults,
    ({ status: word, video_url: url }: Documented<JimengTask>) => ({
      word,
      code: word,
      message: '',
      url,
    }),
  );
}

export const jimengVideo: TaskAdapter = {
  misfit,
  variants: (call) => [made(call).resolution],
  needsBytes: () => true,
  submit,
  readSubmission: (reply) => submissionIn(dataIn(reply), 'task_id'),
  poll: ({ upstreamId, upstreamModel }) =>
    jsonRequest(at('CVSync2AsyncGetResult'), { req_key: upstreamModel, task_id: upstreamId }),
  readPoll: polled,
  fault: taskFault(faults),
};
