import type { VideoMisfit, VideoImage, VideoRequest } from '../../media-request.ts';
import type { VideoCall } from '../../task-adapter.ts';

/** What one family of models makes, according to its vendor's page. */
export interface VideoRange {
  /** The vendor's own ids. */
  readonly models: RegExp;
  /** The row is for videos that begin with an image, or for those made from text only. */
  readonly of?: 'picture' | 'words';
  /** In rising order. */
  readonly seconds: readonly number[];
  /** The lengths of a resolution that comes in fewer of them. */
  readonly secondsAt?: Readonly<Record<string, readonly number[]>>;
  /** `720p`, `1080p`, `2k`, `4k`: in rising order. */
  readonly resolutions: readonly string[];
  /**
   * The resolution if the client names none. The request always names it, because prices depend on
   * it.
   */
  readonly usual: string;
  readonly ratios: readonly string[];
  /** The roles of input images, and the most images of each. Empty: text only. */
  readonly images: Readonly<Partial<Record<VideoImage['role'], number>>>;
  /** The model makes nothing from text alone. */
  readonly needsImage?: true;
  readonly audio: 'always' | 'never' | 'either';
  readonly promptMax: number;
}

/** A request fitted to one model. */
export interface FittedVideo {
  readonly seconds: number;
  readonly resolution: string;
  /** Undefined: the client named none, and the model decides. */
  readonly ratio: string | undefined;
}

export const from = (least: number, most: number): readonly number[] =>
  Array.from({ length: most - least + 1 }, (_, i) => least + i);

/**
 * The first row that matches the model's id; the last one stands for ids without a row, such as
 * those of endpoints.
 */
export function rangeOf(
  ranges: readonly [VideoRange, ...VideoRange[]],
  { upstreamModel, request }: VideoCall,
): VideoRange {
  const kind = request.images.length > 0 ? 'picture' : 'words';
  return (
    ranges.find(({ models, of = kind }) => of === kind && models.test(upstreamModel)) ??
    ranges.at(-1) ??
    ranges[0]
  );
}

/**
 * Fits a request to this model, or returns why the model cannot make it. A length that the model
 * lacks is made one second longer if possible, never shorter.
 */
export function fit({ request }: VideoCall, range: VideoRange): FittedVideo | VideoMisfit {
  const wrong = wordsMisfit(request, range) ?? imageMisfit(request, range);
  if (wrong !== undefined) return wrong;
  const resolution = resolutionOf(request, range);
  if (typeof resolution !== 'string') return resolution;
  const ratio = ratioOf(request, range);
  if (typeof ratio === 'object') return ratio;
  const lengths = range.secondsAt?.[resolution] ?? range.seconds;
  const seconds = [request.seconds, request.seconds + 1].find((length) => lengths.includes(length));
  if (seconds !== undefined) return { seconds, resolution, ratio };
  const at = lengths === range.seconds ? '' : ` at ${resolution}`;
  return { param: 'duration', why: `allowed${at} are ${list(lengths)} seconds` };
}

export const isMisfit = (result: FittedVideo | VideoMisfit): result is VideoMisfit =>
  'why' in result;

/** The requested size in pixels. */
export function pixelsOf({
  size,
}: VideoRequest): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size ?? '') ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** The first image of a role. */
export const imageAs = ({ images }: VideoRequest, role: VideoImage['role']): string | undefined =>
  images.find((image) => image.role === role)?.url;

function wordsMisfit({ prompt, audio }: VideoRequest, range: VideoRange): VideoMisfit | undefined {
  if (prompt.length > range.promptMax)
    return { param: 'prompt', why: `at most ${range.promptMax} characters are allowed` };
  if (audio === true && range.audio === 'never')
    return { param: 'audio', why: 'only videos without sound are made' };
  if (audio === false && range.audio === 'always')
    return { param: 'audio', why: 'only videos with sound are made' };
  return undefined;
}

const pictures = {
  first: 'a first frame',
  last: 'a last frame',
  reference: 'reference images',
} as const;

function imageMisfit(
  { images }: VideoRequest,
  { images: takes, needsImage }: VideoRange,
): VideoMisfit | undefined {
  const of = (role: VideoImage['role']): number =>
    images.filter((image) => image.role === role).length;
  for (const role of ['first', 'last', 'reference'] as const) {
    const most = takes[role] ?? 0;
    if (of(role) > most)
      return {
        param: 'image',
        why:
          most === 0 ? `${pictures[role]} cannot be taken` : `${pictures[role]}: ${most} at most`,
      };
  }
  if (of('last') > 0 && of('first') === 0)
    return { param: 'image', why: 'a last frame needs a first frame' };
  return needsImage && images.length === 0
    ? { param: 'image', why: 'an image is needed' }
    : undefined;
}

const named: Readonly<Record<string, number>> = { '2k': 1440, '4k': 2160 };
/** The pixels of a widescreen frame of that resolution: other shapes have about as many. */
const areaOf = (resolution: string): number =>
  (named[resolution] ?? Number.parseInt(resolution, 10)) ** 2 * (16 / 9);
/** How far a size may differ from a resolution: `1024x1792` is made in 1080p, `864x496` in 480p. */
const smaller = 0.9;
const larger = 1.5;

function resolutionOf(
  request: VideoRequest,
  { resolutions, usual }: VideoRange,
): string | VideoMisfit {
  const pixels = pixelsOf(request);
  if (pixels !== undefined) {
    const area = pixels.width * pixels.height;
    const next = resolutions.find((resolution) => areaOf(resolution) >= area * smaller);
    if (next !== undefined && areaOf(next) <= area * larger) return next;
    return { param: 'size', why: `allowed are ${list(resolutions)}` };
  }
  const requested = request.resolution?.toLowerCase() ?? usual;
  return resolutions.includes(requested)
    ? requested
    : { param: 'resolution', why: `allowed are ${list(resolutions)}` };
}

const valueOf = (ratio: string): number => {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  return width / height;
};
/**
 * How far a size may differ from a ratio: sizes are multiples of 16 and the like, so that their
 * shape is only nearly the intended one.
 */
const nearly = 0.06;

function ratioOf(request: VideoRequest, { ratios }: VideoRange): string | undefined | VideoMisfit {
  const pixels = pixelsOf(request);
  // If the model does not take the ratio, the first image sets the shape.
  const free = imageAs(request, 'first') !== undefined;
  if (pixels === undefined) {
    if (request.aspectRatio === undefined || ratios.includes(request.aspectRatio))
      return request.aspectRatio;
    if (free) return undefined;
    return { param: 'aspect_ratio', why: `allowed are ${list(ratios)}` };
  }
  const off = (ratio: string): number =>
    Math.abs(Math.log(valueOf(ratio) / (pixels.width / pixels.height)));
  const nearest = ratios.toSorted((a, b) => off(a) - off(b))[0];
  if (nearest !== undefined && off(nearest) < nearly) return nearest;
  if (free) return undefined;
  return { param: 'size', why: `allowed are sizes of ${list(ratios)}` };
}

function list(values: readonly (string | number)[]): string {
  const [first, last] = [Number(values[0]), Number(values.at(-1))];
  if (values.length > 4 && last - first === values.length - 1) return `${first} to ${last}`;
  return values.join(', ');
}
