import { assert } from '../base/assert.ts';
import type { Call } from './adapter.ts';

/** Pictures as a client wants them, checked, whichever endpoint it asked. What is undefined was left to the model. */
export interface ImageWish {
  /** Empty where only variations of a picture are wanted. */
  readonly prompt: string;
  readonly n: number;
  readonly size: ImageSize | undefined;
  /** `standard`, `hd`, `low`, `medium`, `high`, … as the client said it. */
  readonly quality: string | undefined;
  /** How the client gets them, so that a vendor which gives either may be asked for it. */
  readonly returns: 'url' | 'b64_json' | 'both';
  /** Previews of a streamed picture. */
  readonly partials: number;
  /** What is edited, or taken as an example. */
  readonly images: readonly GivenImage[];
  /** As large as the first picture; where it is transparent, that is painted over. */
  readonly mask: GivenImage | undefined;
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** A picture that the client gave, whose bytes were found to be what `type` says and of that size. */
export interface GivenImage extends ImageSize {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';
  readonly bytes: Buffer;
}

/** The wish of a call for pictures. */
export function wishOf({ image }: Call): ImageWish {
  assert(image !== undefined, 'a call for pictures has a wish');
  return image;
}

/** By size, what vendors call it, roughly: pictures of one, four and sixteen megapixels. */
export function resolutionOf({ width, height }: ImageSize): '1K' | '2K' | '4K' {
  const pixels = width * height;
  if (pixels <= 2_400_000) return '1K';
  return pixels <= 6_500_000 ? '2K' : '4K';
}

export const dataUrl = ({ type, bytes }: GivenImage): string => `data:${type};base64,${bytes.toString('base64')}`;

export const sizeText = ({ width, height }: ImageSize, between = 'x'): string => `${width}${between}${height}`;
