import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, objectOf, textOf } from '../../../base/json.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type ImageAdapter,
  imageRequestOf,
} from '../../adapter.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { jsonRequest } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { extraMembers, nearestRatio, namingUnsent } from './request.ts';
import { imagesAnswer, moderationFault, splitByCount } from './response.ts';

/** An answer (platform.minimaxi.com/document/image-generation, 2026-08). */
interface MinimaxImages {
  readonly id: string;
  readonly data: {
    readonly image_urls: readonly string[];
    readonly image_base64: readonly string[];
  };
  readonly metadata: { readonly failed_count: number };
}

/** platform.minimaxi.com/document/image-generation, 2026-08. */
const ratios = ['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9'] as const;
const picturesAtOnce = 9;
const known = {
  seed: 'number',
  prompt_optimizer: 'flag',
  subject_reference: 'any',
  style: 'any',
  aigc_watermark: 'flag',
} as const;

/**
 * Makes images from text. The vendor's only use of an input image is a face to keep
 * (`subject_reference`), which is no edit.
 */
export function minimaxImages(faults: readonly FaultRule[]): ImageAdapter {
  return {
    ask: (call) => {
      const { prompt, n, size, returns } = imageRequestOf(call);
      return namingUnsent(
        jsonRequest('/image_generation', {
          model: call.upstreamModel,
          prompt,
          n,
          aspect_ratio: size && nearestRatio(size, ratios),
          response_format: returns === 'url' ? 'url' : 'base64',
          ...extraMembers(call, known),
        }),
        call,
        known,
        ['size'],
      );
    },
    split: (call) => splitByCount(call, picturesAtOnce),
    read: (reply, _, call) => read(reply, call, faults),
    fault: faultReader(faults),
  };
}

function read(reply: Buffer, call: VendorCall, faults: readonly FaultRule[]): VendorAnswer | Fault {
  const body: Documented<MinimaxImages> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const fault = faultWithin(body, faults);
  if (fault !== undefined) return fault;
  const data = objectOf(body.data);
  const pictures = [
    ...listOf(data?.image_urls).flatMap((url) =>
      typeof url === 'string' ? [{ from: { url } }] : [],
    ),
    ...listOf(data?.image_base64).flatMap((base64) =>
      typeof base64 === 'string' ? [{ from: { base64 } }] : [],
    ),
  ];
  // `failed_count` counts rejected images (same page).
  if (pictures.length === 0 && Number(objectOf(body.metadata)?.failed_count) > 0)
    return moderationFault('');
  return imagesAnswer(call, pictures, textOf(body.id));
}
