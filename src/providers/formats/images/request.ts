import type { VendorCall, VendorRequest } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import type { ImageSize } from '../../media-request.ts';

type Kind = 'text' | 'number' | 'flag' | 'any';

/**
 * The vendor's own members that a client sent beside OpenAI's (`extra_body` of the packages). Forms
 * carry text only: numbers and flags are parsed.
 */
export function extraMembers(
  call: VendorCall,
  known: Readonly<Record<string, Kind>>,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(known)) {
    const value = readAs(kind, call.body[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** The members that every vendor gets in some form, and those that Tollgate serves itself. */
const everywhere = [
  'model',
  'prompt',
  'n',
  'response_format',
  'stream',
  'partial_images',
  'image',
  'images',
  'mask',
];

/**
 * The request to a vendor with a format of its own, with the members of the client's that it does
 * not get. `known`: the vendor's own members; `read`: others that are a part of the request.
 */
export const namingUnsent = (
  request: VendorRequest,
  call: VendorCall,
  known: Readonly<Record<string, Kind>>,
  read: readonly (string | false)[],
): VendorRequest => ({
  ...request,
  dropped: notSent(
    call,
    everywhere,
    Object.keys(known),
    read.filter((name) => name !== false),
  ),
});

function readAs(kind: Kind, value: unknown): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (kind === 'any') return value;
  if (kind === 'number')
    return typeof value === 'object' || Number.isNaN(Number(value)) ? undefined : Number(value);
  if (kind === 'flag')
    return value === true || value === 'true'
      ? true
      : value === false || value === 'false'
        ? false
        : undefined;
  return typeof value === 'string' ? value : undefined;
}

const formats: readonly unknown[] = ['png', 'jpeg', 'webp'];

/** The image format that the client requests; PNG by default, as at OpenAI. */
export const imageFormat = ({
  body,
}: VendorCall<{ readonly output_format?: string }>): 'png' | 'jpeg' | 'webp' => {
  const format = formats.indexOf(body.output_format);
  return format === 1 ? 'jpeg' : format === 2 ? 'webp' : 'png';
};

const sides = (ratio: string): ImageSize => {
  const [width = 1, height = 1] = ratio.split(/[:x*]/).map(Number);
  return { width, height };
};

/** The ratio (`16:9`, `16x9`, `1344*768`) nearest to that of `size`. */
export function nearestRatio<Ratio extends string>(
  size: ImageSize,
  ratios: readonly [Ratio, ...Ratio[]],
): Ratio {
  const shape = ({ width, height }: ImageSize): number => Math.log(width / height);
  let best = ratios[0];
  let off = Infinity;
  for (const ratio of ratios) {
    const distance = Math.abs(shape(sides(ratio)) - shape(size));
    if (distance < off - 1e-9) [best, off] = [ratio, distance];
  }
  return best;
}

/**
 * Fits a size to a vendor's rule: sides are multiples of `step` from `least` to `most`, with at
 * most `pixels` together; the shape is kept as far as possible.
 */
export function fittedSize(
  size: ImageSize,
  rule: {
    readonly step: number;
    readonly least: number;
    readonly most: number;
    readonly pixels?: number;
  },
): ImageSize {
  const { step, least, most, pixels = Infinity } = rule;
  const { width, height } = size;
  const scale = Math.min(1, most / Math.max(width, height), Math.sqrt(pixels / (width * height)));
  const grow = Math.max(1, least / (Math.min(width, height) * scale));
  const side = (length: number): number =>
    Math.min(most, Math.max(least, Math.floor((length * scale * grow) / step + 0.5) * step));
  const fit = { width: side(width), height: side(height) };
  while (fit.width * fit.height > pixels) fit[fit.width > fit.height ? 'width' : 'height'] -= step;
  return fit;
}
