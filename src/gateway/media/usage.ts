import type { Measure, Quantities } from '../../base/quantities.ts';
import { costOf } from '../../catalog/price.ts';
import type { StreamMeter } from '../../providers/adapter.ts';
import type { Exchange } from '../exchange.ts';
import type { AnswerEnd, EndStatus } from '../settle.ts';

/** Tokens of a preview (developers.openai.com/api/docs/guides/image-generation, 2026-08). */
export const previewTokens = 100;

type MediaUsage = Pick<AnswerEnd, 'quantities' | 'estimated'>;

/**
 * What so many pictures are: what was measured of them here, and beside it the vendor's count;
 * where the price is by what it does not tell, the terms' estimate.
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
 * A whole answer's. The vendor counts what it made: of pictures that could not be had, the client
 * pays nothing.
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
 * A stream's. `outputBytes` counts what was shown of it, previews included. Who leaves after a
 * preview has seen a picture, and the vendor goes on to make it; a vendor that breaks off has made
 * no more than the previews.
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
 * What a vendor told, and beside it what was measured here. Undefined when the price is by
 * something that nobody knows: then it is counted.
 */
export function measuredUsage(
  { request, admitted }: Exchange,
  told: Quantities | undefined,
): Quantities | undefined {
  if (request.sized === undefined) return told;
  const all = { ...request.sized.measured, ...told };
  return costOf(admitted.tariff, all).lines.length > 0 ? all : undefined;
}

/** The same for a stream: of a text that was not read to its end, what was heard is charged. */
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
