import type { Measure, Quantities } from '../base/quantities.ts';
import { costOf, inputTokens, outputTokens } from '../catalog/price.ts';
import type { StreamMeter, VendorAnswer } from '../providers/adapter.ts';
import { countText } from './admit.ts';
import { countTokens, spokenTokens, textOfAnswer, tokensOfBytes } from './pricing/tokens.ts';
import type { FundedRequest } from './reserve.ts';
import type { AnswerEnd, EndStatus } from './settle.ts';

/** The quantities of an answer, and whether we estimated them. */
export type AnswerUsage = Pick<AnswerEnd, 'quantities' | 'estimated'>;

/** `ours`: the vendor reported nothing that can be charged, so the answer carries our count. */
export interface WholeUsage extends AnswerUsage {
  readonly ours: boolean;
}

/** The usage of a whole answer: what the vendor reported, and our count of what it did not. */
export async function usageOfWhole(
  funded: FundedRequest,
  { quantities, body, outputText, estimated }: VendorAnswer,
): Promise<WholeUsage> {
  const reported = measuredUsage(funded, quantities);
  if (reported === undefined) {
    const counted = { ...(await countInput(funded)), output: await countTokens(outputText) };
    return { quantities: counted, estimated: estimated ?? true, ours: true };
  }
  const text = reportsNoOutput(funded, reported) ? textOfAnswer(body) : '';
  const ours = quantities === undefined;
  if (text === '') return { quantities: reported, estimated: estimated ?? false, ours };
  return { ...(await withOutput(funded, reported, await countTokens(text))), ours: true };
}

/** The usage of a stream, whose text is not kept: without a report it is counted by its bytes. */
export async function usageOfStream(
  funded: FundedRequest,
  meter: StreamMeter,
  endStatus: EndStatus,
): Promise<AnswerUsage> {
  const { image, sized } = funded.request;
  if (image !== undefined) return usageOfImageStream(funded, meter, endStatus);
  const reported =
    sized === undefined ? meter.quantities : usageOfSoundStream(funded, meter, endStatus);
  if (reported === undefined)
    return { quantities: await countStream(funded, meter), estimated: true };
  return meter.outputBytes > 0 && reportsNoOutput(funded, reported)
    ? withOutput(funded, reported, tokensOfBytes(meter.outputBytes))
    : { quantities: reported, estimated: false };
}

/** The quantities of a stream whose vendor reported none. */
export async function countStream(
  funded: FundedRequest,
  { input, calls, outputBytes }: StreamMeter,
): Promise<Quantities> {
  const counted = { ...(input ?? (await countInput(funded))), ...calls };
  return funded.request.speech === undefined
    ? { ...counted, output: tokensOfBytes(outputBytes) }
    : { ...counted, audio_output: spokenTokens(outputBytes) };
}

/**
 * The input that a vendor has read for a client that left. Where the client does not pay for it, it
 * is estimated by its size: counting takes time.
 */
export async function cancelledInput(
  funded: FundedRequest,
  meter: StreamMeter | undefined,
  billed: boolean,
): Promise<Quantities> {
  const { request, admitted } = funded;
  if (meter?.input !== undefined) return { ...meter.input, request: 0 };
  if (billed) return { ...(await countInput(funded)), request: 0 };
  if (request.sized !== undefined) return inputOf(request.sized.likely);
  return {
    input: (request.textTokensMax ?? tokensOfBytes(request.textBytes)) + admitted.media.inputTokens,
  };
}

const inputOf = ({ input = 0, image_input = 0, audio_input = 0 }: Quantities): Quantities => ({
  input,
  image_input,
  audio_input,
});

async function countInput({ request, admitted }: FundedRequest): Promise<Quantities> {
  if (request.sized !== undefined) return request.sized.likely;
  return { input: (await countText(admitted, request)) + admitted.media.inputTokens };
}

/** Whether a vendor reports no output for a request whose answer is text. */
const reportsNoOutput = ({ request }: FundedRequest, reported: Quantities): boolean =>
  request.choices > 0 && request.sized === undefined && outputTokens(reported) === 0;

/**
 * Our count of the output for an answer with text whose vendor reports none. The vendor's count of
 * the input holds, unless that is zero, too.
 */
async function withOutput(
  funded: FundedRequest,
  reported: Quantities,
  output: number,
): Promise<AnswerUsage> {
  const input = inputTokens(reported) === 0 ? await countInput(funded) : reported;
  return { quantities: { ...input, output }, estimated: true };
}

/**
 * The vendor's report with the quantities measured here. Undefined when the price is by a measure
 * that neither has: then the answer is counted.
 */
function measuredUsage(
  { request, admitted }: FundedRequest,
  reported: Quantities | undefined,
): Quantities | undefined {
  if (request.sized === undefined) return reported;
  const all = { ...request.sized.measured, ...reported };
  return costOf(admitted.tariff, all).lines.length > 0 ? all : undefined;
}

/** The same for a stream: of speech that broke off, only the part that was sent is charged. */
function usageOfSoundStream(
  funded: FundedRequest,
  meter: StreamMeter,
  endStatus: EndStatus,
): Quantities | undefined {
  const { characters } = funded.request.speech ?? {};
  const whole = endStatus === 'ok' || meter.finished;
  if (characters === undefined || whole) return measuredUsage(funded, meter.quantities);
  return measuredUsage(funded, { character: Math.min(characters, meter.outputBytes) });
}

/**
 * The usage of a whole answer with images. The vendor counts what it made; the client does not pay
 * for images that could not be downloaded.
 */
export function usageOfImageAnswer(
  funded: FundedRequest,
  reported: Quantities | undefined,
  had: number,
  made: number,
): AnswerUsage {
  if (reported === undefined) return usageOfImages(funded, had, undefined);
  const { image: _, megapixel: __, ...tokens } = reported;
  if (tokens.image_output === undefined || had === made) return usageOfImages(funded, had, tokens);
  return usageOfImages(funded, had, {
    ...tokens,
    image_output: Math.floor((tokens.image_output * had) / made),
  });
}

/** Tokens of a preview (developers.openai.com/api/docs/guides/image-generation, 2026-08). */
export const previewTokens = 100;

/**
 * `outputBytes` counts the images shown, previews included. A client that leaves after a preview
 * has seen an image, and the vendor goes on to make it; a vendor that breaks off has made no more
 * than the previews.
 */
function usageOfImageStream(
  funded: FundedRequest,
  { quantities, outputBytes, finished }: StreamMeter,
  endStatus: EndStatus,
): AnswerUsage {
  if (finished || quantities !== undefined)
    return usageOfImages(funded, quantities?.image ?? 1, quantities);
  if (endStatus === 'left') return usageOfImages(funded, 1, undefined);
  return {
    quantities: { ...funded.request.sized?.likely, image_output: previewTokens * outputBytes },
    estimated: true,
  };
}

/**
 * The usage of a number of images: the quantities measured here and the vendor's count; where the
 * price is by a measure that neither has, the likely quantities of the request.
 */
function usageOfImages(
  { request, admitted }: FundedRequest,
  images: number,
  reported: Quantities | undefined,
): AnswerUsage {
  const { measured = {}, likely = {} } = request.sized?.image ?? {};
  const all = { ...times(measured, images), ...reported };
  if (costOf(admitted.tariff, all, admitted.variant).lines.length > 0)
    return { quantities: all, estimated: false };
  return {
    quantities: { ...all, ...request.sized?.likely, ...times(likely, images) },
    estimated: true,
  };
}

function times(quantities: Quantities, images: number): Quantities {
  const sum: Partial<Record<Measure, number>> = {};
  for (const measure of Object.keys(quantities) as Measure[])
    sum[measure] = (quantities[measure] ?? 0) * images;
  return sum;
}
