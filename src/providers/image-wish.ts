import { assert } from '../base/assert.ts';
import type { Call } from './adapter.ts';

/**
 * Pictures as a client wants them, checked, whichever endpoint it asked. What is undefined was left
 * to the model.
 */
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

/**
 * A picture that the client gave, whose bytes were found to be what `type` says and of that size.
 */
export interface GivenImage extends ImageSize {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';
  readonly bytes: Buffer;
}

/** The wish of a call for pictures. */
export function wishOf({ image }: Call): ImageWish {
  assert(image !== undefined, 'a call for pictures has a wish');
  return image;
}

/** What vendors call sizes, roughly: pictures of one, four and sixteen megapixels. */
export const resolutions = [
  { name: '1K', pixelsMax: 2_400_000 },
  { name: '2K', pixelsMax: 6_500_000 },
  { name: '4K', pixelsMax: Infinity },
] as const;

export function resolutionOf({ width, height }: ImageSize): (typeof resolutions)[number]['name'] {
  return resolutions.find(({ pixelsMax }) => width * height <= pixelsMax)?.name ?? '4K';
}

/** What vendors call the qualities that clients of all of them know. */
export const alsoCalled: Readonly<Record<string, string>> = {
  standard: 'medium',
  medium: 'standard',
  hd: 'high',
  high: 'hd',
  xhigh: 'hd',
  max: 'hd',
};

export const dataUrl = ({ type, bytes }: GivenImage): string =>
  `data:${type};base64,${bytes.toString('base64')}`;

export const sizeText = ({ width, height }: ImageSize, between = 'x'): string =>
  `${width}${between}${height}`;
