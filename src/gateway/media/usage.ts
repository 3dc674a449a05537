import type { Measure, Quantities } from '../../base/quantities.ts';
import { costOf } from '../../catalog/price.ts';
import type { StreamMeter } from '../../providers/adapter.ts';
import type { Exchange } from '../exchange.ts';
import type { AnswerEnd, EndStatus } from '../settle.ts';

/** Tokens of a preview (developers.openai.com/api/docs/guides/image-generation, 2026-08). */
export const previewTokens = 100;

type MediaUsage = Pick<AnswerEnd, 'quantities' | 'estimated'>;

/**
 * The usage of a number of images: the quantities measured here and the vendor's count; where the
 * price is by a measure that neither has, the likely quantities of the request.
 */
function usageOfImages(
  { request, admitted }: Exchange,
  pictures: number,
  told: Quantities | undefined,
): MediaUsage {
  const { measured = {}, likely = {} } = request.sized?.picture ?? {};
  const all = { ...times(measured, pictures), ...told };
  if (costOf(admitted.tariff, all, admitted.variant).lines.length > 0)
    return { quantities: all, estimated: false };
  return {
    quantities: { ...all, ...request.sized?.likely, ...times(likely, pictures) },
    estimated: true,
  };
}

function times(quantities: Quantities, pictures: number): Quantities {
  const sum: Partial<Record<Measure, number>> = {};
  for (const measure of Object.keys(quantities) as Measure[])
    sum[measure] = (quantities[measure] ?? 0) * pictures;
  return sum;
}

/**
 * The usage of a whole answer. The vendor counts what it made; the client does not pay for images
 * that could not be downloaded.
 */
export function imageUsageOf(
  exchange: Exchange,
  told: Quantities | undefined,
  had: number,
  made: number,
): MediaUsage {
  if (told === undefined) return usageOfImages(exchange, had, undefined);
  const { image: _, megapixel: __, ...tokens } = told;
  if (tokens.image_output === undefined || had === made)
    return usageOfImages(exchange, had, tokens);
  return usageOfImages(exchange, had, {
    ...tokens,
    image_output: Math.floor((tokens.image_output * had) / made),
  });
}

/**
 * The usage of a stream. `outputBytes` counts the images shown, previews included. A client that
 * leaves after a preview has seen an image, and the vendor goes on to make it; a vendor that breaks
 * off has made no more than the previews.
 */
export function streamedImageUsage(
  exchange: Exchange,
  { quantities, outputBytes, finished }: StreamMeter,
  status: EndStatus,
): MediaUsage {
  if (finished || quantities !== undefined)
    return usageOfImages(exchange, quantities?.image ?? 1, quantities);
  if (status === 'left') return usageOfImages(exchange, 1, undefined);
  return {
    quantities: { ...exchange.request.sized?.likely, image_output: previewTokens * outputBytes },
    estimated: true,
  };
}

/**
 * The vendor's report with the quantities measured here. Undefined when the price is by a measure
 * that neither has: then the answer is counted.
 */
export function measuredUsage(
  { request, admitted }: Exchange,
  told: Quantities | undefined,
): Quantities | undefined {
  if (request.sized === undefined) return told;
  const all = { ...request.sized.measured, ...told };
  return costOf(admitted.tariff, all).lines.length > 0 ? all : undefined;
}

/** The same for a stream: of speech that broke off, only the part that was sent is charged. */
export function streamedSoundUsage(
  exchange: Exchange,
  meter: StreamMeter,
  status: EndStatus,
): Quantities | undefined {
  const { characters } = exchange.request.speak ?? {};
  const whole = status === 'ok' || meter.finished;
  if (characters === undefined || whole) return measuredUsage(exchange, meter.quantities);
  return measuredUsage(exchange, { character: Math.min(characters, meter.outputBytes) });
}
