import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, objectOf, parse, textOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type PendingAnswer,
  type PendingFault,
  type GeneratedImage,
  type ImageAdapter,
  type ImageMisfit,
  imageRequestOf,
} from '../../adapter.ts';
import { dataUrl } from '../../media-request.ts';
import { type FaultHeaders, protocolFault } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit, maskMisfit } from './misfit.ts';
import { blackAndWhite } from './mask.ts';
import { extraMembers, imageFormat, nearestRatio, namingUnsent } from './request.ts';
import {
  finalAnswer,
  pictureAt,
  finalFault,
  faultReaders,
  moderationFault,
  splitByCount,
} from './response.ts';

/** An error (docs.fal.ai/documentation/model-apis/errors, 2026-11). */
interface FalError {
  readonly detail: readonly { readonly type: string }[] | string;
}

/** A request in the queue (docs.fal.ai/documentation/model-apis/inference/queue, 2026-11). */
interface QueuedRequest {
  readonly request_id: string;
  readonly status_url: string;
  readonly response_url: string;
}

/** The members that the answers of image models share (the models' pages on fal.ai, 2026-11). */
interface FalAnswer {
  readonly images: readonly FalImage[];
  readonly image: FalImage;
  readonly has_nsfw_concepts: readonly boolean[];
}

/** An image: the address may hold its bytes (same pages). */
interface FalImage {
  readonly url: string;
}

/**
 * Models with a page of their own on fal.ai (2026-11): those that take a ratio instead of sides, a
 * list of images, or a mask.
 */
const byRatio = /kontext|ultra|imagen|nano-banana|gemini|grok|ideogram\/v2/;
const manyPictures =
  /(?:flux-2|nano-banana|gemini|seedream|qwen-image-edit-plus|kontext\/(?:max\/)?multi|grok)/;
const masked = /fill|inpaint/;
/** These models change images; the same app makes images from text at another path. */
const changesOnly = /flux-pro\/kontext(?:\/max)?(?:\+|$)/;
const ratios = [
  '1:1',
  '21:9',
  '16:9',
  '3:2',
  '4:3',
  '5:4',
  '4:5',
  '3:4',
  '2:3',
  '9:16',
  '9:21',
] as const;
const picturesAtOnce = 4;

const known = {
  seed: 'number',
  negative_prompt: 'text',
  num_inference_steps: 'number',
  guidance_scale: 'number',
  strength: 'number',
  safety_tolerance: 'text',
  enable_safety_checker: 'flag',
  loras: 'any',
  style: 'text',
} as const;

/**
 * docs.fal.ai/documentation/model-apis/errors, 2026-11: 422 lists the errors, each with its type.
 */
const { fault, polled } = faultReaders([
  { status: 403, text: /exhausted balance/i, kind: 'quota' },
  { status: 422, code: /content_policy_violation/, kind: 'content_policy' },
]);

/**
 * Any model of fal's queue: Tollgate submits the request, polls its state, then fetches the answer.
 */
export const falImages: ImageAdapter = {
  ask,
  split: (call) => splitByCount(call, picturesAtOnce),
  misfit,
  read: accepted,
  isAsync: () => true,
  fault: refused,
};

function ask(call: VendorCall): VendorRequest {
  const { prompt, n, size, images, mask } = imageRequestOf(call);
  const model = call.upstreamModel;
  const shape =
    size &&
    (byRatio.test(model)
      ? { aspect_ratio: nearestRatio(size, ratios) }
      : { image_size: { width: size.width, height: size.height } });
  const [first] = images;
  const given =
    first &&
    (manyPictures.test(model)
      ? { image_urls: images.map(dataUrl) }
      : { image_url: dataUrl(first) });
  const painted = mask && blackAndWhite(mask, 'white');
  return namingUnsent(
    jsonRequest(
      `/${model}${first === undefined && changesOnly.test(model) ? '/text-to-image' : ''}`,
      {
        prompt,
        num_images: n,
        ...shape,
        ...given,
        mask_url: painted && dataUrl(painted),
        output_format: imageFormat(call),
        ...extraMembers(call, known),
      },
    ),
    call,
    known,
    ['size', 'output_format'],
  );
}

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images, mask } = imageRequestOf(call);
  const most = manyPictures.test(call.upstreamModel) ? Infinity : 1;
  return imagesMisfit(images, most) ?? maskMisfit(mask, masked.test(call.upstreamModel));
}

/**
 * The fault for an error status: of a 422, `detail[].type` names the reason; its message alone
 * proves nothing.
 */
function refused(status: number, headers: FaultHeaders, reply: string): Fault {
  const body: Documented<FalError> | undefined = objectOf(parse(reply));
  const told = listOf(body?.detail).map((one) => textOf(objectOf(one)?.type));
  return told.includes('content_policy_violation')
    ? moderationFault('')
    : fault(status, headers, reply);
}

const afterMs = 500;

/**
 * The app of a model id: its first two steps. The rest is a path inside the app (`@fal-ai/client`
 * 1.x, parseEndpointId).
 */
const appOf = ({ upstreamModel }: VendorCall): string =>
  upstreamModel.split('/').slice(0, 2).join('/');

function accepted(reply: Buffer, _: string, call: VendorCall): PendingAnswer | PendingFault {
  const body: Documented<QueuedRequest> | undefined = objectIn(reply);
  const id = textOf(body?.request_id);
  if (body === undefined || id === undefined)
    return protocolFault('an answer without the id of a request');
  const path = `/${appOf(call)}/requests/${encodeURIComponent(id)}`;
  const cancel: VendorRequest = { ...getRequest(`${path}/cancel`), method: 'PUT' };
  const answer: PendingAnswer = {
    poll: { ...getRequest(path), ...urlIn(body, 'response_url') },
    afterMs: 0,
    read: (told, _type, asked) => answered(told, id, asked),
    fault: unanswered,
    cancel,
  };
  const state: PendingAnswer = {
    poll: { ...getRequest(`${path}/status`), ...urlIn(body, 'status_url') },
    afterMs,
    read: (told) => stateIn(told, state, answer),
    fault: polled,
    cancel,
  };
  return state;
}

function urlIn(
  body: Documented<QueuedRequest>,
  name: 'response_url' | 'status_url',
): { readonly url?: string } {
  const url = textOf(body[name]);
  return url === undefined ? {} : { url };
}

function stateIn(
  reply: Buffer,
  state: PendingAnswer,
  answer: PendingAnswer,
): PendingAnswer | PendingFault {
  const body: Documented<{ readonly status: string }> | undefined = objectIn(reply);
  const status = textOf(body?.status);
  if (status === 'IN_QUEUE' || status === 'IN_PROGRESS') return state;
  // The status is the same for failed work: the answer reports the failure.
  return status === 'COMPLETED' ? answer : protocolFault(`the status '${status}'`);
}

/**
 * The fault for an answer with an error status. With an error of the work itself, it is final;
 * otherwise a gateway on the way failed and polling goes on.
 */
function unanswered(status: number, headers: FaultHeaders, reply: string): PendingFault {
  const body: Documented<FalError> | undefined = objectOf(parse(reply));
  const detail = body?.detail;
  if (
    detail === undefined ||
    status === 401 ||
    status === 403 ||
    status === 429 ||
    detail === 'Request is still in progress'
  )
    return polled(status, headers, reply);
  return finalFault(refused(status, headers, reply));
}

function answered(reply: Buffer, id: string, call: VendorCall): VendorAnswer | PendingFault {
  const body: Documented<FalAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const images = Array.isArray(body.images) ? listOf(body.images) : [body.image];
  const unsafe = listOf(body.has_nsfw_concepts);
  const pictures = images.flatMap((image, i): GeneratedImage[] => {
    const url = textOf(objectOf(image)?.url);
    // Models with `sync_mode` put the bytes into the address.
    return url === undefined || unsafe[i] === true ? [] : [pictureAt(url)];
  });
  if (pictures.length === 0 && unsafe.includes(true)) return moderationFault('');
  return finalAnswer(call, pictures, id);
}
