import type { WrittenImage } from './config-schema.ts';
import type { ImageTerms } from './image-terms.ts';

/** `image` of a model as written → what may be asked of it. */
export function imageTerms({
  sizes,
  any_size: any,
  qualities,
  usual,
  n,
  prompt_chars: promptCharsMax,
  returns,
  tokens,
}: WrittenImage): ImageTerms {
  const anySize = any && {
    step: any.step,
    longest: any.longest,
    ratio: any.ratio,
    pixelsMin: any.pixels_min,
    pixelsMax: any.pixels_max,
  };
  return { sizes, anySize, qualities, usual, nMax: n, promptCharsMax, returns, tokens };
}
