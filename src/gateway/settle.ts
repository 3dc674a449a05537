import type { Nano } from '../base/money.ts';
import type { Quantities, Measure } from '../base/quantities.ts';
import { type Bill, costOf, inputTokens, outputTokens, type PriceLine } from '../catalog/price.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { SettleResult } from '../ledger/contract.ts';
import type { StreamMeter, PricingFacts } from '../providers/adapter.ts';
import type { RecordValues } from '../usage/record.ts';
import { type Admission, countText } from './admit.ts';
import { billOfParts } from './pricing/quote.ts';
import { countTokens, spokenTokens, tokensOfBytes } from './pricing/tokens.ts';
import type { RequestProgress } from './progress.ts';
import { elapsedMs, type FundedRequest } from './reserve.ts';

/** How the answer ended, as the usage record stores it. */
export type EndStatus = 'ok' | 'cut' | 'left' | 'length';

export interface AnswerEnd {
  readonly endStatus: EndStatus;
  readonly quantities: Quantities;
  /** The quantities that the vendor reported, where they exceed the bound of the request. */
  readonly reported?: Quantities | undefined;
  /** Counted by us, because the vendor reported no usage. */
  readonly estimated: boolean;
  readonly upstreamId: string | undefined;
  /** The ending is recorded and costs nothing. */
  readonly free?: boolean;
  /** Facts about the price in the answer beside its quantities. */
  readonly pricingFacts?: PricingFacts | undefined;
}

/** The quantities of an answer, and whether we estimated them. */
export type CountedUsage = Pick<AnswerEnd, 'quantities' | 'estimated'>;

/** The quantities charged for a text answer without the vendor's count. */
export async function countAnswer(funded: FundedRequest, outputText: string): Promise<Quantities> {
  return { ...(await inputCount(funded)), output: await countTokens(outputText) };
}

/**
 * The vendor reports no output for an answer with text: our count replaces it. The vendor's count
 * of the input holds, unless that is zero, too.
 */
export async function recountOutput(
  funded: FundedRequest,
  reported: Quantities,
  outputTokens: number,
): Promise<CountedUsage> {
  const input = inputTokens(reported) === 0 ? await inputCount(funded) : reported;
  return { quantities: { ...input, output: outputTokens }, estimated: true };
}

/** Whether a vendor reports no output for a request whose answer is text. */
export const reportsNoOutput = ({ request }: FundedRequest, reported: Quantities): boolean =>
  request.choices > 0 && request.sized === undefined && outputTokens(reported) === 0;

/** The quantities charged for a stream, whose text was not kept. */
export async function countStream(
  funded: FundedRequest,
  { input, calls, outputBytes }: StreamMeter,
): Promise<Quantities> {
  const counted = { ...(input ?? (await inputCount(funded))), ...calls };
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
  if (billed) return { ...(await inputCount(funded)), request: 0 };
  if (request.sized !== undefined) return inputOf(request.sized.likely);
  return {
    input:
      (request.textTokensMax ?? tokensOfBytes(request.bytes.length - request.mediaBytes)) +
      admitted.media.inputTokens,
  };
}

const inputOf = ({ input = 0, image_input = 0, audio_input = 0 }: Quantities): Quantities => ({
  input,
  image_input,
  audio_input,
});

async function inputCount({ request, admitted }: FundedRequest): Promise<Quantities> {
  if (request.sized !== undefined) return request.sized.likely;
  return { input: (await countText(admitted, request)) + admitted.media.inputTokens };
}

/**
 * Prices the ending and hands charge and usage record to the till. Resolves after the commit: only
 * then may the last byte leave.
 */
export function settle(
  funded: FundedRequest,
  progress: RequestProgress,
  ending: AnswerEnd,
): Promise<SettleResult> {
  const { request, admitted, parts } = funded;
  const { candidate } = progress;
  const finishedAt = parts.clock.now();
  const { lines, total } =
    ending.free === true ? nothing : billFor(admitted, candidate, ending, finishedAt);
  const beyond = excessOf(funded, candidate, ending, total, finishedAt);
  return funded.funds.reservation.settle({
    id: request.id,
    cost: total,
    loss: beyond?.excess,
    code: request.capability,
    at: finishedAt,
    record: recordOf(funded, progress, ending, lines, finishedAt, beyond),
    // A whole answer is sent after its charge is committed. When that takes too long, the client
    // gets no answer and pays nothing.
    withheld: request.stream || ending.endStatus === 'left' ? undefined : true,
  });
}

const nothing = { lines: [], total: 0n } as const;

/**
 * The bill of the ending. Quantities that were cut to the bound are no longer the sum of the
 * answer's parts, which are ignored then.
 */
function billFor(
  { quote, tariff, variant }: Admission,
  candidate: Candidate | undefined,
  { quantities, pricingFacts: facts, reported }: AnswerEnd,
  finishedAt: number,
): Bill {
  const termFacts =
    reported === undefined || facts === undefined
      ? facts
      : { servedTier: facts.servedTier, model: facts.model };
  if (quote !== undefined)
    return quote.bill(quantities, { facts: termFacts, variant, candidate, endedAt: finishedAt });
  return termFacts?.parts === undefined
    ? costOf(tariff, quantities, variant)
    : billOfParts(tariff, termFacts.parts);
}

/**
 * The cost at our price of the reported quantities beyond the charge, and the lines of everything
 * reported.
 */
interface Excess {
  readonly excess: Nano;
  readonly lines: readonly PriceLine[];
}

/**
 * Undefined where nothing more was reported, or where it costs no more than the charge: as a rule,
 * its classes have no price.
 */
function excessOf(
  { parts, request, admitted }: FundedRequest,
  candidate: Candidate | undefined,
  ending: AnswerEnd,
  charged: Nano,
  finishedAt: number,
): Excess | undefined {
  const { reported } = ending;
  if (reported === undefined) return undefined;
  const all = { ...ending, quantities: reported, reported: undefined };
  const { lines, total } = billFor(admitted, candidate, all, finishedAt);
  const excess = total - charged;
  parts.overran({
    id: request.id,
    channel: candidate?.channel.name ?? '',
    model: request.model,
    excess,
    reported,
  });
  return excess > 0n ? { excess, lines } : undefined;
}

function recordOf(
  funded: FundedRequest,
  progress: RequestProgress,
  ending: AnswerEnd,
  lines: readonly PriceLine[],
  finishedAt: number,
  beyond: Excess | undefined,
): RecordValues {
  const { request, admitted, reservedAt } = funded;
  const durationMs = elapsedMs(funded);
  return [
    request.principal.keyId,
    reservedAt,
    finishedAt,
    request.capability,
    request.model,
    admitted.offer.group.name,
    progress.candidate?.channel.name ?? null,
    ending.upstreamId ?? null,
    ending.endStatus,
    request.stream ? 1 : 0,
    ending.estimated ? 1 : 0,
    Math.round(progress.firstByteMs ?? durationMs),
    Math.round(durationMs),
    progress.attempts,
    inputTokens(ending.quantities),
    outputTokens(ending.quantities),
    linesText(lines),
    beyond?.excess ?? null,
    beyond === undefined ? null : linesText(beyond.lines),
  ];
}

/**
 * Written by hand, because every request makes a record. Money is text, since a rate may exceed
 * what a JSON number holds.
 */
export function linesText(lines: readonly PriceLine[]): string {
  let text = '';
  for (const { measure, quantity, rate, cost, terms, model } of lines) {
    const extra =
      terms === undefined && model === undefined ? '' : `,${JSON.stringify({ terms, model })}`;
    text += `${text === '' ? '' : ','}["${measure}",${quantity},"${rate}","${cost}"${extra}]`;
  }
  return `[${text}]`;
}

/** Tokens of a preview (developers.openai.com/api/docs/guides/image-generation, 2026-08). */
export const previewTokens = 100;

type MediaUsage = Pick<AnswerEnd, 'quantities' | 'estimated'>;

/**
 * The usage of a number of images: the quantities measured here and the vendor's count; where the
 * price is by a measure that neither has, the likely quantities of the request.
 */
function usageOfImages(
  { request, admitted }: FundedRequest,
  images: number,
  reported: Quantities | undefined,
): MediaUsage {
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

/**
 * The usage of a whole answer. The vendor counts what it made; the client does not pay for images
 * that could not be downloaded.
 */
export function imageUsageOf(
  funded: FundedRequest,
  reported: Quantities | undefined,
  had: number,
  made: number,
): MediaUsage {
  if (reported === undefined) return usageOfImages(funded, had, undefined);
  const { image: _, megapixel: __, ...tokens } = reported;
  if (tokens.image_output === undefined || had === made) return usageOfImages(funded, had, tokens);
  return usageOfImages(funded, had, {
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
  funded: FundedRequest,
  { quantities, outputBytes, finished }: StreamMeter,
  endStatus: EndStatus,
): MediaUsage {
  if (finished || quantities !== undefined)
    return usageOfImages(funded, quantities?.image ?? 1, quantities);
  if (endStatus === 'left') return usageOfImages(funded, 1, undefined);
  return {
    quantities: { ...funded.request.sized?.likely, image_output: previewTokens * outputBytes },
    estimated: true,
  };
}

/**
 * The vendor's report with the quantities measured here. Undefined when the price is by a measure
 * that neither has: then the answer is counted.
 */
export function measuredUsage(
  { request, admitted }: FundedRequest,
  reported: Quantities | undefined,
): Quantities | undefined {
  if (request.sized === undefined) return reported;
  const all = { ...request.sized.measured, ...reported };
  return costOf(admitted.tariff, all).lines.length > 0 ? all : undefined;
}

/** The same for a stream: of speech that broke off, only the part that was sent is charged. */
export function streamedSoundUsage(
  funded: FundedRequest,
  meter: StreamMeter,
  endStatus: EndStatus,
): Quantities | undefined {
  const { characters } = funded.request.speech ?? {};
  const whole = endStatus === 'ok' || meter.finished;
  if (characters === undefined || whole) return measuredUsage(funded, meter.quantities);
  return measuredUsage(funded, { character: Math.min(characters, meter.outputBytes) });
}
