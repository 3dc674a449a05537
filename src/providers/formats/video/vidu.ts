import { type Documented, listOf, objectOf, parse } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { TaskAdapter, VideoCall } from '../../task-adapter.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
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

/** The names of an error (platform.vidu.com/docs, error codes, 2026-08). */
interface ViduError {
  readonly reason: string;
  readonly type: string;
}

/** A task (platform.vidu.com/docs, 2026-08). */
interface ViduTask {
  readonly state: string;
  readonly err_code: string;
  readonly creations: readonly { readonly url: string }[];
}

/** platform.vidu.com/docs, error codes, 2026-08: a name in `reason` or `err_code`. */
const faults: readonly FaultRule[] = [
  { code: /CreditInsufficient|QuotaExceeded/, kind: 'quota' },
  { code: /AuditSubmitIllegal|CreationPolicyViolation|Audit/, kind: 'content_policy' },
  { text: /AuditSubmitIllegal|CreationPolicyViolation/, kind: 'content_policy' },
  { code: /SystemThrottling|TooManyRequests/, kind: 'rate_limited' },
];

const q3: VideoRange = {
  models: /./,
  seconds: from(1, 16),
  resolutions: ['540p', '720p', '1080p'],
  usual: '720p',
  ratios: ['16:9', '9:16', '4:3', '3:4', '1:1'],
  images: { first: 1, last: 1, reference: 7 },
  audio: 'either',
  promptMax: 2_000,
};

const { made, misfit } = rangeFitter([
  { ...q3, models: /^viduq3/, images: { first: 1, last: 1 } },
  {
    ...q3,
    models: /^viduq2-(?:pro|turbo)/,
    seconds: from(1, 10),
    audio: 'never',
    images: { first: 1, last: 1 },
    needsImage: true,
  },
  { ...q3, models: /^viduq2/, seconds: from(1, 10), audio: 'never' },
  q3,
]);

function placeOf({ request }: VideoCall): string {
  if (request.images.some(({ role }) => role === 'reference')) return 'reference2video';
  if (imageAs(request, 'last') !== undefined) return 'start-end2video';
  return imageAs(request, 'first') === undefined ? 'text2video' : 'img2video';
}

function submit(call: VideoCall): VendorRequest {
  const { request } = call;
  const { seconds, resolution, ratio } = made(call);
  const place = placeOf(call);
  // The frames in their order: first, then last.
  const images = request.images
    .toSorted((a, b) => a.role.localeCompare(b.role))
    .map(({ url }) => url);
  return jsonRequest(`/ent/v2/${place}`, {
    model: call.upstreamModel,
    prompt: request.prompt,
    images: images.length > 0 ? images : undefined,
    duration: seconds,
    resolution,
    aspect_ratio: place === 'text2video' || place === 'reference2video' ? ratio : undefined,
    seed: request.seed,
    audio: request.audio,
    payload: call.taskId,
  });
}

const states: TaskStates = {
  queued: ['created', 'queueing'],
  running: ['processing'],
  completed: ['success'],
  failed: ['failed'],
};

const taskPath = ({ upstreamId }: { readonly upstreamId: string }): string =>
  `/ent/v2/tasks/${encodeURIComponent(upstreamId)}`;

const plainFault = taskFault(faults);

/** Errors are `{code: 400, reason: "…", message: "…"}`; the rules read the reason as the type. */
const fault: TaskAdapter['fault'] = (status, headers, reply) => {
  const body: Documented<ViduError> | undefined = objectOf(parse(reply));
  return plainFault(
    status,
    headers,
    body === undefined ? reply : JSON.stringify({ ...body, type: body.reason ?? body.type }),
  );
};

const taskReply = ({
  state: word,
  err_code: code,
  creations,
}: Documented<ViduTask>): TaskReply => ({
  word,
  code: code || undefined,
  message: code,
  url: objectOf(listOf(creations)[0])?.url,
});

export const viduVideo: TaskAdapter = {
  misfit,
  variants: (call) => [made(call).resolution],
  submit,
  readSubmission: (reply) => submissionIn(acceptedReply(reply, faults), 'task_id'),
  poll: (task) => getRequest(`${taskPath(task)}/creations`),
  readPoll: (reply) => progressOf(replyObject(reply), states, faults, taskReply),
  cancel: (task) => jsonRequest(`${taskPath(task)}/cancel`, { id: task.upstreamId }),
  fault,
};
