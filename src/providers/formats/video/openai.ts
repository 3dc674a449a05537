import type { Fault } from '../../../base/fault.ts';
import { type Documented, isObject, objectOf, textOf } from '../../../base/json.ts';
import type { VideoMisfit, VideoRequest } from '../../media-request.ts';
import type {
  AcceptedTask,
  VendorTaskProgress,
  TaskAdapter,
  TaskFile,
  VideoCall,
} from '../../task-adapter.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest, getRequest, deleteRequest } from '../json-request.ts';
import { pixelsOf } from './fit.ts';
import {
  acceptedReply,
  taskFailure,
  isFaulty,
  replyObject,
  type TaskStates,
  stateOf,
  submissionOf,
  taskFault,
  underWay,
} from './task.ts';

/**
 * A video, bare or in `data` (developers.openai.com/api/reference/videos, 2026-08). Other servers
 * of this format have the members after `error`.
 */
interface VideoReply {
  readonly id: string;
  readonly status: string;
  readonly progress: number | string;
  readonly error: { readonly code: string; readonly message: string } | string;
  readonly code: string;
  readonly task_id: string;
  readonly data: VideoReply;
  readonly fail_reason: string;
  readonly metadata: { readonly url: string };
  readonly video_url: string;
  readonly result_url: string;
  readonly url: string;
}

/** How servers of this format differ. */
export interface VideosQuirks {
  /**
   * The server takes what its own format has no member for, under the ecosystem's names:
   * `duration`, `image`, `images`, `metadata`.
   */
  readonly ownWords?: true;
}

/** The states of all servers of this format: most of them pass on their vendor's own state. */
const states: TaskStates = {
  queued: [
    'queued',
    'QUEUED',
    'pending',
    'PENDING',
    'submitted',
    'SUBMITTED',
    'created',
    'NOT_START',
    'IN_QUEUE',
    'in_queue',
    'starting',
  ],
  running: [
    'in_progress',
    'IN_PROGRESS',
    'processing',
    'PROCESSING',
    'running',
    'RUNNING',
    'generating',
  ],
  completed: [
    'completed',
    'COMPLETED',
    'succeeded',
    'SUCCEEDED',
    'succeed',
    'success',
    'SUCCESS',
    'done',
    'finished',
  ],
  failed: [
    'failed',
    'FAILED',
    'FAILURE',
    'failure',
    'error',
    'cancelled',
    'CANCELLED',
    'canceled',
    'CANCELED',
    'expired',
  ],
};

const faults: readonly FaultRule[] = [
  // new-api, relay/relay_task.go and service/error.go, 2026-08: its own codes for an empty account
  // of the operator.
  {
    code: /^(quota_not_enough|insufficient_user_quota|pre_consume_token_quota_failed)$/,
    kind: 'quota',
  },
];
const goneCodes = /^(task_not_exist|task_not_found|video_not_found|not_found)$/;

const gone = (body: Documented<VideoReply>): boolean =>
  goneCodes.test(textOf(body.code) ?? textOf(objectOf(body.error)?.code) ?? '');

/**
 * `POST /videos`, `GET /videos/{id}` and `/content`: OpenAI's video format
 * (developers.openai.com/api/reference/videos, 2026-08) and the servers that adopted it, new-api
 * first among them.
 */
export function openAiVideos(quirks: VideosQuirks = {}): TaskAdapter {
  return {
    misfit: ({ request }) => misfit(request, quirks),
    variants: ({ request }) =>
      variants(quirks.ownWords ? request : { ...request, size: sizeOf(request) }),
    size: ({ request }) => (quirks.ownWords ? undefined : (sizeOf(request) ?? usualSize)),
    submit: (call) => jsonRequest('/videos', quirks.ownWords ? commonBody(call) : openAiBody(call)),
    readSubmission(reply) {
      const body: Documented<VideoReply> | Fault = acceptedReply(reply, faults);
      return isFaulty(body)
        ? body
        : submissionOf(body.id ?? body.task_id ?? objectOf(body.data)?.task_id);
    },
    poll: ({ upstreamId }) => getRequest(`/videos/${encodeURIComponent(upstreamId)}`),
    readPoll: polled,
    cancel: ({ upstreamId }) => deleteRequest(`/videos/${encodeURIComponent(upstreamId)}`),
    fault: taskFault(faults, gone),
  };
}

/** The format has `size` alone, and makes this one without it (the page above). */
const usualSize = '720x1280';
const sizesOfRatios: ReadonlyMap<string, string> = new Map([
  ['9:16', usualSize],
  ['16:9', '1280x720'],
]);

/**
 * The server gets the client's length and size, and refuses them itself. A shape for which the
 * format has no size is refused here.
 */
function misfit(
  { images, size, resolution = '720p', aspectRatio = '9:16' }: VideoRequest,
  quirks: VideosQuirks,
): VideoMisfit | undefined {
  if (quirks.ownWords) return undefined;
  if (images.length > 1 || images.some(({ role }) => role === 'last'))
    return { param: 'image', why: 'one image is allowed, to begin with' };
  if (size !== undefined) return undefined;
  const why = 'a size tells it for this model, such as 1280x720';
  if (resolution !== '720p') return { param: 'resolution', why };
  return sizesOfRatios.has(aspectRatio) ? undefined : { param: 'aspect_ratio', why };
}

const otherNames: Readonly<Record<number, string>> = { 1440: '2k', 2160: '4k' };

const sizeOf = ({ size, aspectRatio }: VideoRequest): string | undefined =>
  size ?? sizesOfRatios.get(aspectRatio ?? '');

/** The names of the resolution that is made: the size decides where there is one. */
function resolutionsOf(request: VideoRequest): readonly string[] {
  const pixels = pixelsOf(request);
  if (pixels === undefined) return [request.resolution ?? '720p'];
  const shorter = Math.min(pixels.width, pixels.height);
  const other = otherNames[shorter];
  return other === undefined ? [`${shorter}p`] : [`${shorter}p`, other];
}

function variants(request: VideoRequest): readonly string[] {
  const { size, seconds, audio } = request;
  return [
    ...(size === undefined ? [] : [size]),
    ...resolutionsOf(request).flatMap((resolution) => [
      `${resolution}/${seconds}`,
      ...(audio === true ? [`${resolution}+audio`] : []),
      resolution,
    ]),
  ];
}

/**
 * The body for OpenAI's own format. Other members of the client's request are left out: a number of
 * videos would cost more, and a callback address would show clients which vendor the operator uses.
 * `seconds` is text. An image is sent as its address, or as a data URL.
 */
function openAiBody({ request, upstreamModel }: VideoCall): object {
  const { prompt, seconds, images } = request;
  const size = sizeOf(request);
  const [image] = images;
  return {
    model: upstreamModel,
    prompt,
    seconds: String(seconds),
    size,
    ...(image === undefined ? {} : { input_reference: { image_url: image.url } }),
  };
}

/**
 * The members of a submission that new-api reads (relay/common/relay_info.go TaskSubmitReq,
 * 2026-08), and `metadata` for the rest, which it passes to its vendors.
 */
function commonBody(call: VideoCall): object {
  const { negativePrompt, aspectRatio, resolution, audio, seed, images, seconds, size, prompt } =
    call.request;
  const said = {
    negative_prompt: negativePrompt,
    aspect_ratio: aspectRatio,
    // One that the size contradicts has not the price of this request.
    resolution: resolutionsOf(call.request).some((name) => name === resolution)
      ? resolution
      : undefined,
    generate_audio: audio,
    seed,
  };
  const metadata = Object.fromEntries(
    Object.entries(said).filter(([, value]) => value !== undefined),
  );
  const [image] = images;
  return {
    model: call.upstreamModel,
    prompt,
    seconds: String(seconds),
    duration: seconds,
    size,
    ...(image === undefined ? {} : { image: image.url, images: images.map(({ url }) => url) }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/** Reads the video object, bare or in an envelope of `code` and `data`. */
function polled(reply: Buffer, task: AcceptedTask): VendorTaskProgress | Fault {
  const answer: Documented<VideoReply> | Fault = replyObject(reply);
  if (isFaulty(answer)) return answer;
  const body = objectOf(answer.data) ?? answer;
  const state = stateOf(body.status, states);
  if (state === 'failed') return failure(body);
  if (state === 'completed') return { state, file: fileOf(body, task) };
  // An error without a state means that the poll failed, not the task.
  const refused = body.status === undefined ? acceptedReply(reply, faults) : body;
  return isFaulty(refused) ? refused : underWay(state, percentOf(body.progress));
}

function failure(body: Documented<VideoReply>): VendorTaskProgress {
  const { error } = body;
  if (isObject(error)) return taskFailure(error.code, error.message, faults);
  return taskFailure(undefined, error ?? body.fail_reason, faults);
}

const percentOf = (progress: unknown): unknown =>
  typeof progress === 'string' ? Number.parseInt(progress, 10) : progress;

/**
 * The file of a finished video. OpenAI's own `/content` requires the operator's key; other servers
 * also name an address that needs none.
 */
function fileOf(body: Documented<VideoReply>, { upstreamId }: AcceptedTask): TaskFile {
  const metadata = objectOf(body.metadata);
  const url = [metadata?.url, body.video_url, body.result_url, body.url]
    .map(textOf)
    .find((text) => /^https?:\/\//.test(text ?? ''));
  if (url !== undefined && !/\/content(?:\?|$)/.test(url)) return { kind: 'address', url };
  return { kind: 'path', path: `/videos/${encodeURIComponent(upstreamId)}/content` };
}
