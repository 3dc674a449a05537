import type { ImageSize } from '../../image-wish.ts';

const sides = (ratio: string): ImageSize => {
  const [width = 1, height = 1] = ratio.split(/[:x*]/).map(Number);
  return { width, height };
};

/** The shape among `ratios` (`16:9`, `16x9`, `1344*768`) that is nearest to that of `size`. */
export function nearest<Ratio extends string>(
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
 * Its sides: multiples of `step` from `least` to `most`, and of no more than so many pixels
 * together, in its shape as far as that goes.
 */
export function fitted(
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
