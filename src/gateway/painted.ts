import type { Measure, Quantities } from '../base/quantities.ts';
import { costOf } from '../catalog/price.ts';
import type { StreamMeter } from '../providers/adapter.ts';
import type { Ending, EndStatus } from './settle.ts';
import type { Exchange } from './exchange.ts';

/** Tokens of a preview (developers.openai.com/api/docs/guides/image-generation, 2026-08). */
export const previewTokens = 100;

type Count = Pick<Ending, 'quantities' | 'estimated'>;

/**
 * What so many pictures are: what was measured of them here, and beside it the vendor's count;
 * where the price is by what it does not tell, the terms' estimate.
 */
function counted(
  { request, admitted }: Exchange,
  pictures: number,
  told: Quantities | undefined,
): Count {
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
export function painted(
  exchange: Exchange,
  told: Quantities | undefined,
  had: number,
  made: number,
): Count {
  if (told === undefined) return counted(exchange, had, undefined);
  const { image: _, megapixel: __, ...tokens } = told;
  if (tokens.image_output === undefined || had === made) return counted(exchange, had, tokens);
  return counted(exchange, had, {
    ...tokens,
    image_output: Math.floor((tokens.image_output * had) / made),
  });
}

/**
 * A stream's. `outputBytes` counts what was shown of it, previews included. Who leaves after a
 * preview has seen a picture, and the vendor goes on to make it; a vendor that breaks off has made
 * no more than the previews.
 */
export function paintedStream(
  exchange: Exchange,
  { quantities, outputBytes, finished }: StreamMeter,
  status: EndStatus,
): Count {
  if (finished || quantities !== undefined)
    return counted(exchange, quantities?.image ?? 1, quantities);
  if (status === 'left') return counted(exchange, 1, undefined);
  return {
    quantities: { ...exchange.request.sized?.likely, image_output: previewTokens * outputBytes },
    estimated: true,
  };
}
