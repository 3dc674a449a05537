import { type Documented, textOf } from '../../../base/json.ts';
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
import { dataUrl } from '../../media-request.ts';
import { sanitizeVendorMessage } from '../../vendor-message.ts';
import { protocolFault } from '../fault.ts';
import { jsonRequest, getRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { maskMisfit } from './misfit.ts';
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

/** A prediction (replicate.com/docs/reference/http, 2026-11). */
interface ReplicatePrediction {
  readonly id: string;
  readonly status: string;
  readonly error: string;
  readonly output: readonly string[] | string;
}

interface Given {
  readonly name: string;
  readonly most: number;
  readonly list: boolean;
}

/** The member for input images by model: their schemas on replicate.com, 2026-11. */
const byIds: readonly (readonly [ids: RegExp, given: Given])[] = [
  [/flux-2|gpt-image/, { name: 'input_images', most: 8, list: true }],
  [/nano-banana|seedream/, { name: 'image_input', most: 10, list: true }],
  [/kontext/, { name: 'input_image', most: 1, list: false }],
  [/ultra|flux-1\.1/, { name: 'image_prompt', most: 1, list: false }],
];
const usual: Given = { name: 'image', most: 1, list: false };
const givenTo = ({ upstreamModel }: VendorCall): Given =>
  byIds.find(([ids]) => ids.test(upstreamModel))?.[1] ?? usual;
const masked = /fill|inpaint/;

const ratios = [
  '1:1',
  '16:9',
  '21:9',
  '3:2',
  '2:3',
  '4:5',
  '5:4',
  '3:4',
  '4:3',
  '9:16',
  '9:21',
] as const;

const known = {
  seed: 'number',
  negative_prompt: 'text',
  guidance: 'number',
  guidance_scale: 'number',
  num_inference_steps: 'number',
  prompt_strength: 'number',
  output_quality: 'number',
  safety_tolerance: 'number',
  megapixels: 'text',
  go_fast: 'flag',
  raw: 'flag',
} as const;

/**
 * replicate.com/docs/reference/http, 2026-11: errors are `{title, detail, status}`; 402 is an empty
 * account.
 */
const { fault, polled } = faultReaders();

/**
 * Any model on Replicate: a prediction, polled until it has succeeded. One image for each, since
 * most models make no more.
 */
export const replicateImages: ImageAdapter = {
  ask,
  split: (call) => splitByCount(call, 1),
  misfit,
  read: accepted,
  isAsync: () => true,
  fault,
};

/**
 * A model is `owner/name`, or `owner/name:version` if it is no official one. Without `Prefer: wait`
 * the reply comes at once with the id, so that a prediction can be cancelled when its client
 * leaves.
 */
function ask(call: VendorCall): VendorRequest {
  const [name = '', version] = call.upstreamModel.split(':');
  const input = inputOf(call);
  const request =
    version === undefined
      ? jsonRequest(`/models/${name}/predictions`, { input })
      : jsonRequest('/predictions', { version, input });
  return namingUnsent(request, call, known, ['size', 'output_format']);
}

function inputOf(call: VendorCall): Record<string, unknown> {
  const { prompt, size, images, mask } = imageRequestOf(call);
  const { name, list } = givenTo(call);
  const urls = images.map(dataUrl);
  const painted = mask && blackAndWhite(mask, 'white');
  const format = imageFormat(call);
  return {
    prompt,
    aspect_ratio: size && nearestRatio(size, ratios),
    ...(urls.length === 0 ? {} : { [name]: list ? urls : urls[0] }),
    mask: painted && dataUrl(painted),
    output_format: format === 'jpeg' ? 'jpg' : format,
    ...extraMembers(call, known),
  };
}

function misfit(call: VendorCall): ImageMisfit | undefined {
  const { images, mask } = imageRequestOf(call);
  const { most } = givenTo(call);
  if (images.length > most)
    return {
      param: 'image',
      why: `This model takes at most ${most === 1 ? 'one picture' : `${most} pictures`}.`,
    };
  return maskMisfit(mask, masked.test(call.upstreamModel));
}

const afterMs = 1_000;

function accepted(
  reply: Buffer,
  _: string,
  call: VendorCall,
): VendorAnswer | PendingAnswer | PendingFault {
  const body: Documented<ReplicatePrediction> | undefined = objectIn(reply);
  const id = textOf(body?.id);
  if (id === undefined) return protocolFault('an answer without the id of a prediction');
  const path = `/predictions/${encodeURIComponent(id)}`;
  const later: PendingAnswer = {
    poll: getRequest(path),
    afterMs,
    read: (told, _type, asked) => stateOf(told, id, asked, later),
    fault: polled,
    cancel: { ...getRequest(`${path}/cancel`), method: 'POST' },
  };
  return stateOf(reply, id, call, later);
}

function stateOf(
  reply: Buffer,
  id: string,
  call: VendorCall,
  later: PendingAnswer,
): VendorAnswer | PendingAnswer | PendingFault {
  const body: Documented<ReplicatePrediction> | undefined = objectIn(reply);
  const status = textOf(body?.status);
  if (status === 'starting' || status === 'processing') return later;
  if (status === 'failed') return failed(textOf(body?.error) ?? 'the prediction failed');
  if (status === 'canceled' || status === 'aborted')
    return finalFault({ kind: 'server_error', message: `the prediction was ${status}` });
  if (status !== 'succeeded') return protocolFault(`the status '${status}'`);
  const output = body?.output;
  const urls = Array.isArray(output) ? output : [output];
  // Small files may come as bytes (`data:`).
  const pictures = urls.flatMap((url) => (typeof url === 'string' ? pictureAt(url) : []));
  return finalAnswer(call, pictures, id);
}

/**
 * The texts with which models reject a request: E005 is "flagged as sensitive"
 * (replicate.com/docs/topics/predictions/error-codes, 2026-11).
 */
const disliked = /nsfw|sensitive|safety|moderat|E005/i;

const failed = (error: string): PendingFault =>
  disliked.test(error)
    ? moderationFault(sanitizeVendorMessage(error))
    : finalFault({ kind: 'server_error', message: sanitizeVendorMessage(error) });
