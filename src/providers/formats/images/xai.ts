import type { JsonObject } from '../../../base/json.ts';
import { type ImageAdapter, imageRequestOf } from '../../adapter.ts';
import { type ImageSize, dataUrl, imageResolutionOf } from '../../media-request.ts';
import type { FaultRule } from '../fault.ts';
import { jsonRequest } from '../json-request.ts';
import { imagesMisfit, maskMisfit } from './misfit.ts';
import { type ImagesQuirks, openaiImages } from './openai.ts';
import { extraMembers, nearestRatio, namingUnsent } from './request.ts';
import { splitByCount } from './response.ts';

/**
 * docs.x.ai/developers/models/grok-imagine-image, 2026-08: a ratio and one of two resolutions, no
 * sizes in pixels.
 */
const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2'] as const;
const referencesMax = 3;

const shape = (size: ImageSize): JsonObject => ({
  aspect_ratio: nearestRatio(size, ratios),
  ...(imageResolutionOf(size) === '1K' ? {} : { resolution: '2k' }),
});

/** The second generation has two qualities, other models have none (same page). */
const quality = (name: string, model: string): string | undefined => {
  if (!/-[2-9]\.\d/.test(model)) return undefined;
  return name === 'auto' ? undefined : name === 'low' ? 'low' : 'medium';
};

const quirks = {
  size: shape,
  quality,
  // "Argument not supported" (same page). The price depends on `resolution`, so the size tells it.
  drop: [
    'size',
    'style',
    'background',
    'output_format',
    'output_compression',
    'moderation',
    'resolution',
  ],
} satisfies ImagesQuirks;

export const xaiImages = (faults: readonly FaultRule[]): ImageAdapter =>
  openaiImages({ ...quirks, faults });

const known = { aspect_ratio: 'text', user: 'text' } as const;

/** `/images/edits`, which takes JSON here (recorded 2026-08). */
export function xaiEdits(faults: readonly FaultRule[]): ImageAdapter {
  const { read, fault } = openaiImages({ ...quirks, faults });
  return {
    ask: (call) => {
      const { prompt, n, images, size, returns, quality: requested } = imageRequestOf(call);
      const named = requested === undefined ? undefined : quality(requested, call.upstreamModel);
      return namingUnsent(
        jsonRequest('/images/edits', {
          model: call.upstreamModel,
          prompt,
          images: images.map((image) => ({ type: 'image_url', url: dataUrl(image) })),
          n: n === 1 ? undefined : n,
          ...(size === undefined ? {} : shape(size)),
          quality: named,
          response_format: returns === 'url' ? 'url' : 'b64_json',
          ...extraMembers(call, known),
        }),
        call,
        known,
        ['size', named !== undefined && 'quality'],
      );
    },
    split: (call) => splitByCount(call, 10),
    misfit: (call) => {
      const { images, mask } = imageRequestOf(call);
      return maskMisfit(mask, false) ?? imagesMisfit(images, referencesMax);
    },
    read,
    fault,
  };
}
