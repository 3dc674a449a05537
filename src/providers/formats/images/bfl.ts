import { type Documented, type JsonObject, objectOf, textOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorRequest,
  type VendorCall,
  type PendingAnswer,
  type PendingFault,
  type ImageAdapter,
  type ImageMisfit,
  imageRequestOf,
} from '../../adapter.ts';
import type { InputImage } from '../../media-request.ts';
import { protocolFault } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { imagesMisfit, imageNeeded, maskMisfit } from './misfit.ts';
import { blackAndWhite } from './mask.ts';
import { extraMembers, imageFormat, fittedSize, nearestRatio, namingUnsent } from './request.ts';
import {
  finalFault,
  faultReaders,
  imagesAnswer,
  moderationFault,
  splitByCount,
} from './response.ts';

/** An accepted task (api.bfl.ai/openapi.json 0.0.1, AsyncResponse, 2026-08). */
interface BflTask {
  readonly id: string;
  readonly polling_url: string;
}

/** The state of a task (same file, ResultResponse). */
interface BflResult {
  readonly status: string;
  readonly details: BflDetails;
  readonly result: { readonly sample: string };
}

/** Why a task was held back (same file). */
interface BflDetails {
  readonly 'Moderation Reasons': readonly string[];
}

/** What a family of models takes: api.bfl.ai/openapi.json 0.0.1, as of 2026-08. */
interface Family {
  readonly ids: RegExp;
  /** How a request sets the image's shape: by sides, by their ratio, or by the input image. */
  readonly shape: 'free' | 'small' | 'ratio' | 'given';
  /**
   * Where input images go: the first under this name, others under `…_2`. Absent: the family takes
   * none.
   */
  readonly image?: { readonly name: string; readonly most: number };
  readonly masks?: true;
}

const families: readonly Family[] = [
  { ids: /^flux-2-klein/, shape: 'free', image: { name: 'input_image', most: 4 } },
  { ids: /^flux-2/, shape: 'free', image: { name: 'input_image', most: 8 } },
  { ids: /^flux-kontext/, shape: 'ratio', image: { name: 'input_image', most: 4 } },
  { ids: /fill/, shape: 'given', image: { name: 'image', most: 1 }, masks: true },
  { ids: /ultra/, shape: 'ratio', image: { name: 'image_prompt', most: 1 } },
  { ids: /(?:)/, shape: 'small' },
];
const familyOf = ({ upstreamModel }: VendorCall): Family =>
  families.find(({ ids }) => ids.test(upstreamModel)) ?? { ids: /(?:)/, shape: 'small' };

/** The vendor takes ratios from 21:9 to 9:21 and makes images in these. */
const ratios = ['1:1', '21:9', '16:9', '3:2', '4:3', '3:4', '2:3', '9:16', '9:21'] as const;
const small = { step: 32, least: 256, most: 1_440 } as const;
const free = { step: 16, least: 64, most: 2_048, pixels: 4_194_304 } as const;

const known = {
  seed: 'number',
  steps: 'number',
  guidance: 'number',
  safety_tolerance: 'number',
  prompt_upsampling: 'flag',
  raw: 'flag',
  image_prompt_strength: 'number',
} as const;

/**
 * api.bfl.ai/openapi.json 0.0.1 and black-forest-labs/skills, 2026-08: 402 is an empty account, 403
 * a wrong key, 429 too many tasks at once.
 */
const { fault, polled } = faultReaders();

/**
 * FLUX from Black Forest Labs: a task that is submitted, polled at the address in the reply, and
 * whose image can be downloaded for ten minutes.
 */
export const bflImages: ImageAdapter = {
  ask,
  split: (call) => splitByCount(call, 1),
  misfit,
  read: accepted,
  fault,
};

/** The models that take a number of steps. */
const stepped = /dev|flex/;

function ask(call: VendorCall): VendorRequest {
  const { prompt, images, mask, quality } = imageRequestOf(call);
  const family = familyOf(call);
  const given = Object.fromEntries(
    images.map((image, i) => [
      `${family.image?.name ?? ''}${i === 0 ? '' : `_${i + 1}`}`,
      base64(image),
    ]),
  );
  const painted = mask && blackAndWhite(mask, 'white');
  return namingUnsent(
    jsonRequest(`/${call.upstreamModel}`, {
      prompt,
      ...shapeOf(call, family),
      // A better quality means more steps, for models that take them (the most that openapi.json
      // allows).
      ...(quality === 'hd' && stepped.test(call.upstreamModel) ? { steps: 50 } : {}),
      ...given,
      mask: painted && base64(painted),
      output_format: imageFormat(call),
      ...extraMembers(call, known),
    }),
    call,
    known,
    [
      'output_format',
      family.shape !== 'given' && 'size',
      stepped.test(call.upstreamModel) && 'quality',
    ],
  );
}

const base64 = ({ bytes }: InputImage): string => bytes.toString('base64');

function shapeOf(call: VendorCall, { shape }: Family): JsonObject {
  const { size } = imageRequestOf(call);
  if (shape === 'given' || size === undefined) return {};
  if (shape === 'ratio') return { aspect_ratio: nearestRatio(size, ratios) };
  return { ...fittedSize(size, shape === 'small' ? small : free) };
}

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images, mask } = imageRequestOf(call);
  const { image, masks = false, shape } = familyOf(call);
  if (shape === 'given' && images.length === 0) return imageNeeded;
  return imagesMisfit(images, image?.most ?? 0) ?? maskMisfit(mask, masks);
}

const afterMs = 500;

function accepted(reply: Buffer): PendingAnswer | PendingFault {
  const body: Documented<BflTask> | undefined = objectIn(reply);
  const id = textOf(body?.id);
  if (body === undefined || id === undefined)
    return protocolFault('an answer without the id of a task');
  const url = textOf(body.polling_url);
  // Only the cluster that accepted the task knows it, and `polling_url` leads there
  // (black-forest-labs/skills, 2026-08).
  const question = {
    ...getRequest(`/get_result?id=${encodeURIComponent(id)}`),
    ...(url === undefined ? {} : { url }),
  };
  const later: PendingAnswer = {
    poll: question,
    afterMs,
    read: (answer, _, call) => ready(answer, id, call, later),
    fault: polled,
  };
  return later;
}

function ready(
  reply: Buffer,
  id: string,
  call: VendorCall,
  later: PendingAnswer,
): VendorAnswer | PendingAnswer | PendingFault {
  const body: Documented<BflResult> | undefined = objectIn(reply);
  const status = textOf(body?.status);
  const details = objectOf(body?.details);
  if (status === 'Pending') return later;
  if (status === 'Task not found') return { kind: 'unknown_model', message: status, gone: true };
  if (status === 'Request Moderated' || status === 'Content Moderated')
    return moderationFault(reasons(details));
  if (status === 'Error' || status === 'Failed')
    return finalFault({
      kind: 'server_error',
      message: `the task failed ${JSON.stringify(details ?? {})}`,
    });
  if (status !== 'Ready') return protocolFault(`the status '${status}'`);
  const url = textOf(objectOf(body?.result)?.sample);
  return url === undefined
    ? protocolFault('an answer without its picture')
    : imagesAnswer(call, [{ from: { url } }], id);
}

function reasons(details: Documented<BflDetails> | undefined): string {
  const moderation = details?.['Moderation Reasons'];
  return Array.isArray(moderation) ? `Reasons: ${moderation.join(', ')}.` : '';
}
