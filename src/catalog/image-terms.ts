/** The limits of requests to an image model. An undefined limit is not enforced. */
export interface ImageTerms {
  /** `1024x1024`, … and `auto`. */
  readonly sizes?: readonly string[] | undefined;
  /** The rule for other sizes that are allowed too. */
  readonly anySize?: AnySize | undefined;
  readonly qualities?: readonly string[] | undefined;
  /**
   * The values used for an absent size or quality and for `auto`. Undefined: the vendor's model
   * decides.
   */
  readonly usual?:
    | { readonly size?: string | undefined; readonly quality?: string | undefined }
    | undefined;
  /** The most images of one request. */
  readonly nMax?: number | undefined;
  readonly promptCharsMax?: number | undefined;
  /**
   * The content of an item when the client names no `response_format`: an address, or the address
   * and the bytes, for clients that never had to name one.
   */
  readonly returns?: 'url' | 'both' | undefined;
  /**
   * The most output tokens of one image: `any`, or by quality and then per megapixel. For models
   * that are sold by tokens.
   */
  readonly tokens?: Readonly<Record<string, number>> | undefined;
}

/**
 * Sides are multiples of `step`; the longer side is at most `longest` and at most `ratio` times the
 * shorter; the area, in pixels, lies between `pixelsMin` and `pixelsMax`.
 */
export interface AnySize {
  readonly step?: number | undefined;
  readonly longest?: number | undefined;
  readonly ratio?: number | undefined;
  readonly pixelsMin?: number | undefined;
  readonly pixelsMax?: number | undefined;
}

/** `1024x1792` → its sides. */
export function sidesOf(
  size: string,
): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? [];
  return width === undefined || height === undefined
    ? undefined
    : { width: Number(width), height: Number(height) };
}

/**
 * The error message for an image size that the model does not support; it lists the supported
 * sizes. Undefined: the size is supported.
 */
export function sizeProblem({ sizes, anySize }: ImageTerms, size: string): string | undefined {
  if (sizes?.includes(size) || (size === 'auto' && sizes === undefined)) return undefined;
  const sides = sidesOf(size);
  if (
    sides !== undefined &&
    sides.width > 0 &&
    sides.height > 0 &&
    (anySize === undefined ? sizes === undefined : fits(anySize, sides))
  )
    return undefined;
  const allowed = [
    ...(sizes ?? ['<width>x<height>, for instance 1024x1024']),
    ...(anySize === undefined ? [] : [ruleText(anySize)]),
  ];
  return `'${size}' is not supported by this model. Supported sizes are: ${allowed.join(', ')}.`;
}

function fits(
  { step = 1, longest = Infinity, ratio = Infinity, pixelsMin = 0, pixelsMax = Infinity }: AnySize,
  sides: { width: number; height: number },
) {
  const { width, height } = sides;
  const [short, long] = width < height ? [width, height] : [height, width];
  const pixels = width * height;
  return (
    width % step === 0 &&
    height % step === 0 &&
    long <= longest &&
    long <= short * ratio &&
    pixels >= pixelsMin &&
    pixels <= pixelsMax
  );
}

function ruleText({ step, longest, ratio, pixelsMin, pixelsMax }: AnySize): string {
  const rules = [
    step === undefined ? [] : [`sides that are multiples of ${step}`],
    longest === undefined ? [] : [`at most ${longest} long`],
    ratio === undefined ? [] : [`at most ${ratio} times as long as wide`],
    pixelsMin === undefined ? [] : [`at least ${pixelsMin} pixels`],
    pixelsMax === undefined ? [] : [`at most ${pixelsMax} pixels`],
  ].flat();
  return `or any <width>x<height> with ${rules.join(', ')}`;
}

const megapixel = 1_024 * 1_024;

/**
 * The most output tokens that one image of this quality and size can cost; undefined where the
 * terms name none. For a quality that is left to the model, the dearest listed one counts.
 */
export function tokensOf(
  { tokens }: ImageTerms,
  quality: string | undefined,
  pixels: number,
): number | undefined {
  if (tokens === undefined) return undefined;
  const { any, ...byQuality } = tokens;
  if (any !== undefined) return any;
  const each = byQuality[quality ?? ''] ?? Math.max(...Object.values(byQuality));
  return Math.ceil(each * Math.max(1, pixels / megapixel));
}

/** The most images of one request where the terms name no limit. */
export const usualNMax = 10;
export const usualPromptCharsMax = 32_000;
export const usualQualities: readonly string[] = [
  'standard',
  'hd',
  'low',
  'medium',
  'high',
  'auto',
];

/** The other name of a quality: a price for either name is a price for both. */
export const qualitySynonyms: Readonly<Record<string, string>> = {
  standard: 'medium',
  medium: 'standard',
  hd: 'high',
  high: 'hd',
  xhigh: 'hd',
  max: 'hd',
};

/** The qualities that requests for the model's images may name, and their other names. */
export const pricedQualities = ({ qualities = usualQualities }: ImageTerms): readonly string[] => [
  ...new Set(qualities.flatMap((quality) => [quality, qualitySynonyms[quality] ?? quality])),
];
