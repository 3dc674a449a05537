import type { Fault } from '../../../base/fault.ts';
import { type Documented, isObject, listOf, objectOf, parse, textOf } from '../../../base/json.ts';
import type { VendorRequest } from '../../adapter.ts';
import type { VideoMisfit } from '../../media-request.ts';
import type {
  AcceptedTask,
  VendorTaskProgress,
  TaskAdapter,
  TaskFile,
  VideoCall,
} from '../../task-adapter.ts';
import { protocolFault } from '../fault.ts';
import { geminiFault, geminiFaultWithin } from '../gemini/fault.ts';
import type { GoogleStatus } from '../gemini/types.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imageAs, type VideoRange } from './fit.ts';
import {
  dataParts,
  failed,
  taskFailure,
  rangeFitter,
  isFaulty,
  replyObject,
  submissionOf,
  underWay,
} from './task.ts';

/** An operation (ai.google.dev/gemini-api/docs/video, 2026-08). */
interface VeoOperation {
  readonly name: string;
  readonly done: boolean;
  readonly error: GoogleStatus;
  readonly response: VeoResponse;
}

/** The videos on Vertex; those of the Gemini API lie one member deeper (same page). */
interface VeoResponse extends FilteredVideos {
  readonly videos: readonly { readonly bytesBase64Encoded: string }[];
  readonly generateVideoResponse: GeneratedVideos;
}

/** The videos on the Gemini API (same page). */
interface GeneratedVideos extends FilteredVideos {
  readonly generatedSamples: readonly { readonly video: { readonly uri: string } }[];
}

/** How many videos were filtered, and why (same page). */
interface FilteredVideos {
  readonly raiMediaFilteredCount: number;
  readonly raiMediaFilteredReasons: readonly string[];
}

const veo3: VideoRange = {
  models: /./,
  seconds: [4, 6, 8],
  secondsAt: { '1080p': [8], '4k': [8] },
  resolutions: ['720p', '1080p', '4k'],
  usual: '720p',
  ratios: ['16:9', '9:16'],
  images: { first: 1, last: 1, reference: 3 },
  audio: 'always',
  promptMax: 4_000,
};

/**
 * ai.google.dev/gemini-api/docs/video, 2026-08: resolutions above 720p and videos with reference
 * images have a length of 8 seconds.
 */
const ranges = [
  {
    ...veo3,
    models: /^veo-2/,
    seconds: [5, 6, 7, 8],
    secondsAt: {},
    resolutions: ['720p'],
    images: { first: 1, last: 1 },
    audio: 'never',
  },
  { ...veo3, models: /^veo-3\.0/, resolutions: ['720p', '1080p'], images: { first: 1 } },
  { ...veo3, models: /-lite/, resolutions: ['720p', '1080p'], images: { first: 1, last: 1 } },
  veo3,
] as const satisfies readonly VideoRange[];

/**
 * docs.cloud.google.com/gemini-enterprise-agent-platform/models/video, 2026-08: on Vertex, sound is
 * optional.
 */
const vertexRanges = ranges.map((range) =>
  range.audio === 'always' ? { ...range, audio: 'either' as const } : range,
);

const gemini = rangeFitter(ranges);
const vertex = rangeFitter([vertexRanges[0] ?? veo3, ...vertexRanges.slice(1)]);

const pathOf = (model: string, method: string): string =>
  `/models/${encodeURIComponent(model)}:${method}`;

function misfitOf(call: VideoCall, { misfit, made }: typeof gemini): VideoMisfit | undefined {
  const wrong = misfit(call);
  const { images } = call.request;
  if (wrong !== undefined || !images.some(({ role }) => role === 'reference')) return wrong;
  if (images.some(({ role }) => role !== 'reference'))
    return { param: 'image', why: 'frames and reference images exclude each other' };
  return made(call).seconds === 8
    ? undefined
    : { param: 'duration', why: 'allowed with reference images are 8 seconds' };
}

/**
 * The vendor takes an image as bytes, or from Google's own storage, to which a client has no
 * access.
 */
function picture(url = ''): object | undefined {
  const parts = dataParts(url);
  return parts && { bytesBase64Encoded: parts.base64, mimeType: parts.type };
}

function submit(call: VideoCall, { made }: typeof gemini, more: object): VendorRequest {
  const { request } = call;
  const { seconds, resolution, ratio } = made(call);
  const examples = request.images.filter(({ role }) => role === 'reference');
  const instance = {
    prompt: request.prompt,
    image: picture(imageAs(request, 'first')),
    lastFrame: picture(imageAs(request, 'last')),
    referenceImages:
      examples.length > 0
        ? examples.map(({ url }) => ({ image: picture(url), referenceType: 'asset' }))
        : undefined,
  };
  const parameters = {
    sampleCount: 1,
    aspectRatio: ratio,
    resolution: call.upstreamModel.startsWith('veo-2') ? undefined : resolution,
    durationSeconds: seconds,
    negativePrompt: request.negativePrompt,
    seed: request.seed,
    ...more,
  };
  return jsonRequest(pathOf(call.upstreamModel, 'predictLongRunning'), {
    instances: [instance],
    parameters,
  });
}

/** The numbers of google.rpc.Code: the error of an operation has no status name. */
const codes: Readonly<Record<number, string>> = {
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
};

/**
 * Reads an operation. `done` is absent until it is true (recorded). `found`: finds the video in a
 * response.
 */
function operation(
  reply: Buffer,
  found: (response: Documented<VeoResponse>) => TaskFile | undefined,
): VendorTaskProgress | Fault {
  const body: Documented<VeoOperation> | Fault = replyObject(reply);
  if (isFaulty(body)) return body;
  const error = objectOf(body.error);
  if (error !== undefined && body.name === undefined)
    return geminiFaultWithin(body) ?? protocolFault('an error without words');
  if (body.done !== true) return underWay(typeof body.name === 'string' ? 'running' : 'unknown');
  if (error !== undefined) return taskFailure(codes[Number(error.code)], error.message, []);
  const response = objectOf(body.response) ?? {};
  const file = found(response);
  if (file !== undefined) return { state: 'completed', file };
  const inside = objectOf(response.generateVideoResponse) ?? response;
  if (
    Number(inside.raiMediaFilteredCount) > 0 ||
    listOf(inside.raiMediaFilteredReasons).length > 0
  ) {
    const reasons = listOf(inside.raiMediaFilteredReasons).filter(
      (reason) => typeof reason === 'string',
    );
    return failed({
      kind: 'content_policy',
      message: reasons.join(' ') || 'blocked by content moderation',
    });
  }
  return protocolFault('an operation that is done, without its video');
}

function operationName(reply: Buffer): string | undefined {
  const body: Documented<VeoOperation> | undefined = objectIn(reply);
  return textOf(body?.name);
}

function fault(
  ...[status, headers, reply]: Parameters<TaskAdapter['fault']>
): ReturnType<TaskAdapter['fault']> {
  const fault = geminiFault(status, headers, reply);
  return status === 404 && isObject(parse(reply)) ? { ...fault, gone: true } : fault;
}

const shared = {
  variants: (call: VideoCall) => [gemini.made(call).resolution],
  needsBytes: () => true,
  fault,
} as const;

/**
 * Veo on the Gemini API. Google keeps the file for two days and requires the operator's key for it.
 */
export const geminiVideo: TaskAdapter = {
  ...shared,
  misfit: (call) => misfitOf(call, gemini),
  submit: (call) => submit(call, gemini, {}),
  readSubmission(reply) {
    const name = operationName(reply);
    return submissionOf(
      name !== undefined && /^models\/[\w.-]+\/operations\/[\w-]+$/.test(name) ? name : undefined,
    );
  },
  poll: ({ upstreamId }) => getRequest(`/${upstreamId}`),
  readPoll: (reply) =>
    operation(reply, (response) => {
      const [sample] = listOf(objectOf(response.generateVideoResponse)?.generatedSamples);
      const uri = textOf(objectOf(objectOf(sample)?.video)?.uri) ?? '';
      const path = /\/files\/[\w-]+:download(?:\?[\w=&]*)?$/.exec(uri)?.[0];
      return path === undefined ? undefined : { kind: 'path', path };
    }),
};

/**
 * Veo on Vertex: polled by the operation's name. The answer holds the video itself, since the
 * request names no bucket.
 */
export const vertexVideo: TaskAdapter = {
  ...shared,
  variants: (call) => [vertex.made(call).resolution],
  misfit: (call) => misfitOf(call, vertex),
  submit: (call) => submit(call, vertex, { generateAudio: call.request.audio }),
  readSubmission(reply) {
    const name = operationName(reply);
    return submissionOf(
      name !== undefined && /^projects\/[\w/.:@-]+\/operations\/[\w-]+$/.test(name)
        ? name
        : undefined,
    );
  },
  poll: ({ upstreamId, upstreamModel }: AcceptedTask) =>
    jsonRequest(pathOf(upstreamModel, 'fetchPredictOperation'), { operationName: upstreamId }),
  readPoll: (reply) =>
    operation(reply, (response) => {
      const base64 = textOf(objectOf(listOf(response.videos)[0])?.bytesBase64Encoded);
      return base64 === undefined || base64 === ''
        ? undefined
        : { kind: 'bytes', bytes: Buffer.from(base64, 'base64') };
    }),
};
