import type { Fault } from '../../../base/fault.ts';
import { type Documented, type JsonObject, listOf, objectOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { VendorTaskProgress, TaskAdapter, VideoCall } from '../../task-adapter.ts';
import { faultWithin, type FaultRule } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { from, imageAs, type VideoRange } from './fit.ts';
import {
  dataParts,
  rangeFitter,
  isFaulty,
  replyObject,
  progressOf,
  type TaskStates,
  submissionOf,
  taskFault,
} from './task.ts';

/** A reply (app.klingai.com/global/dev/document-api/apiReference/commonInfo, 2026-08). */
interface KlingReply {
  readonly code: number;
  readonly message: string;
  readonly data: KlingTask;
}

/** A task (same pages). */
interface KlingTask {
  readonly task_id: string;
  readonly task_status: string;
  readonly task_status_msg: string;
  readonly task_result: { readonly videos: readonly { readonly url: string }[] };
}

/** app.klingai.com/global/dev/document-api/apiReference/commonInfo, 2026-08. */
const faults: readonly FaultRule[] = [
  { code: /^100[0-4]$/, kind: 'credentials' },
  { code: /^110[0-2]$/, kind: 'quota' },
  { code: /^(1103|1202|1203)$/, kind: 'unknown_model' },
  { code: /^120[01]$/, kind: 'bad_request' },
  { code: /^130[01]$/, kind: 'content_policy' },
  // 1303: more tasks at once than the account allows.
  { code: /^130[234]$/, kind: 'rate_limited' },
  { code: /^5000$/, kind: 'server_error' },
  { code: /^5001$/, kind: 'overloaded' },
  { code: /^5002$/, kind: 'timeout' },
];

const older: VideoRange = {
  models: /./,
  seconds: [5, 10],
  resolutions: ['720p', '1080p'],
  usual: '720p',
  ratios: ['16:9', '9:16', '1:1'],
  images: { first: 1, last: 1 },
  audio: 'never',
  promptMax: 2_500,
};

const { made, misfit } = rangeFitter([
  { ...older, models: /^kling-v3/, seconds: from(3, 15), audio: 'either' },
  { ...older, models: /^kling-v2-6/, audio: 'either' },
  older,
]);

/** `std` makes 720p, `pro` 1080p; only `pro` of kling-v2-6 has sound (same pages). */
function modeOf(call: VideoCall): 'std' | 'pro' {
  const { more, audio } = call.request;
  if (more['mode'] === 'pro' || made(call).resolution === '1080p') return 'pro';
  return audio === true && call.upstreamModel.startsWith('kling-v2-6') ? 'pro' : 'std';
}

/** The names of the price: by mode, as Kling sells, or by the mode's resolution. */
function variants(call: VideoCall): readonly string[] {
  const mode = modeOf(call);
  const names = [mode, mode === 'pro' ? '1080p' : '720p'];
  return call.request.audio === true ? [...names.map((name) => `${name}+audio`), ...names] : names;
}

/** The base64 of a data URL without its head. */
const written = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : (dataParts(url)?.base64 ?? url);

const actions = { words: 'text2video', picture: 'image2video' } as const;

function submit(call: VideoCall): VendorRequest {
  const { request } = call;
  const { seconds, ratio } = made(call);
  const begins = imageAs(request, 'first') !== undefined;
  const body = {
    model_name: call.upstreamModel,
    prompt: request.prompt,
    negative_prompt: request.negativePrompt,
    mode: modeOf(call),
    sound: request.audio === undefined ? undefined : request.audio ? 'on' : 'off',
    duration: String(seconds),
    external_task_id: call.taskId,
    ...(begins
      ? { image: written(imageAs(request, 'first')), image_tail: written(imageAs(request, 'last')) }
      : { aspect_ratio: ratio }),
  };
  return jsonRequest(`/v1/videos/${begins ? actions.picture : actions.words}`, body);
}

/** Every reply has a code, and only 0 means success. */
function dataIn(reply: Buffer): JsonObject | Fault {
  const body: Documented<KlingReply> | Fault = replyObject(reply);
  if (isFaulty(body)) return body;
  if (body.code === 0) return objectOf(body.data) ?? {};
  const { code, message } = body;
  return faultWithin({ error: { code, message } }, faults) ?? body;
}

const states: TaskStates = {
  queued: ['submitted'],
  running: ['processing'],
  completed: ['succeed'],
  failed: ['failed'],
};

function polled(reply: Buffer): VendorTaskProgress | Fault {
  return progressOf(
    dataIn(reply),
    states,
    faults,
    ({
      task_status: word,
      task_status_msg: message,
      task_result: result,
    }: Documented<KlingTask>) => ({
      word,
      code: undefined,
      message,
      url: objectOf(listOf(objectOf(result)?.videos)[0])?.url,
    }),
  );
}

/** A task is polled at the path where it was submitted: its id carries the name of that path. */
export const klingVideo: TaskAdapter = {
  misfit,
  variants,
  submit,
  readSubmission(reply, { request }) {
    const data: Documented<KlingTask> | Fault = dataIn(reply);
    if (isFaulty(data)) return data;
    const action = imageAs(request, 'first') === undefined ? actions.words : actions.picture;
    return submissionOf(data.task_id, (id) => `${action}/${encodeURIComponent(id)}`);
  },
  poll: ({ upstreamId }) => getRequest(`/v1/videos/${upstreamId}`),
  readPoll: polled,
  fault: taskFault(faults, ({ code }: Documented<KlingReply>) => code === 1203),
};
