import type { ImageMisfit } from '../../adapter.ts';
import type { InputImage } from '../../media-request.ts';
import { blackAndWhite, maskRule } from './mask.ts';

/** Why a request has more input images than a model takes. */
export function imagesMisfit(
  { length }: readonly InputImage[],
  most: number,
): ImageMisfit | undefined {
  if (length <= most) return undefined;
  const taken =
    most === 0 ? 'no pictures' : most === 1 ? 'one picture' : `at most ${most} pictures`;
  return { param: 'image', why: `This model takes ${taken}.` };
}

/** Why a request for an image from words alone does not fit a model that changes images. */
export const imageNeeded: ImageMisfit = {
  param: 'image',
  why: 'This model changes a picture: send one to /v1/images/edits.',
};

/** Why a mask does not fit: the model takes none, or it cannot be turned into black and white. */
export function maskMisfit(
  mask: InputImage | undefined,
  takesMasks: boolean,
): ImageMisfit | undefined {
  if (mask === undefined) return undefined;
  if (!takesMasks)
    return {
      param: 'mask',
      why: 'This model takes no mask: describe in the prompt what is to change.',
    };
  return blackAndWhite(mask, 'white') === undefined
    ? { param: 'mask', why: `This is no mask: ${maskRule}` }
    : undefined;
}
