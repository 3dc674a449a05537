import type { Quantities } from '../base/quantities.ts';
import { costOf, inputTokens, type PriceLine } from '../catalog/price.ts';
import type { Settled } from '../ledger/contract.ts';
import type { StreamMeter } from '../providers/adapter.ts';
import type { RecordValues } from '../usage/record.ts';
import { countTokens, spokenTokens, tokensOfBytes } from './count.ts';
import { countedText } from './admit.ts';
import type { Exchange } from './exchange.ts';

/** How the answer ended, as the usage record tells it. */
export type EndStatus = 'ok' | 'cut' | 'left' | 'length';

export interface Ending {
  readonly status: EndStatus;
  readonly quantities: Quantities;
  /** Counted by us, because the vendor told no usage. */
  readonly estimated: boolean;
  readonly upstreamId: string | undefined;
}

export function outputTokens(quantities: Quantities): number {
  return (
    (quantities.output ?? 0) +
    (quantities.reasoning ?? 0) +
    (quantities.audio_output ?? 0) +
    (quantities.image_output ?? 0)
  );
}

/** What a text answer without the vendor's count is charged for. */
export async function countedAnswer(exchange: Exchange, outputText: string): Promise<Quantities> {
  return { ...(await inputCount(exchange)), output: await countTokens(outputText) };
}

/** The same for a stream, whose text was not kept. */
export async function countedStream(
  exchange: Exchange,
  { input, outputBytes }: StreamMeter,
): Promise<Quantities> {
  const counted = input ?? (await inputCount(exchange));
  return exchange.request.speak === undefined
    ? { ...counted, output: tokensOfBytes(outputBytes) }
    : { ...counted, audio_output: spokenTokens(outputBytes) };
}

async function inputCount({ request, admitted }: Exchange): Promise<Quantities> {
  if (request.sized !== undefined) return request.sized.likely;
  return { input: (await countedText(admitted, request)) + admitted.media.inputTokens };
}

/** Prices the ending and hands charge and usage record to the till. Resolves after the commit: only then may the last byte leave. */
export function settle(exchange: Exchange, ending: Ending): Promise<Settled> {
  const { admitted, request, parts } = exchange;
  const { lines, total } = costOf(admitted.offer.tariff, ending.quantities, admitted.variant);
  const finishedAt = parts.clock.now();
  return exchange.purse.reservation.settle({
    id: request.id,
    cost: total,
    code: request.capability,
    at: finishedAt,
    record: recordOf(exchange, ending, lines, finishedAt),
    // A whole answer waits for its charge; when that cannot be recorded in time, the client gets neither.
    delivered: request.stream ? undefined : false,
  });
}

function recordOf(
  exchange: Exchange,
  ending: Ending,
  lines: readonly PriceLine[],
  finishedAt: number,
): RecordValues {
  const { request, admitted, candidate } = exchange;
  const durationMs = exchange.elapsedMs();
  return [
    request.principal.keyId,
    exchange.reservedAt,
    finishedAt,
    request.capability,
    request.model,
    admitted.offer.group.name,
    candidate?.channel.name ?? null,
    ending.upstreamId ?? null,
    ending.status,
    request.stream ? 1 : 0,
    ending.estimated ? 1 : 0,
    Math.round(exchange.firstByteMs ?? durationMs),
    Math.round(durationMs),
    exchange.attempts,
    inputTokens(ending.quantities),
    outputTokens(ending.quantities),
    linesText(lines),
  ];
}

/** Written by hand: a record is made for every request. Money is text, since a rate may be more than a JSON number holds. */
export function linesText(lines: readonly PriceLine[]): string {
  let text = '';
  for (const line of lines)
    text += `${text === '' ? '' : ','}["${line.measure}",${line.quantity},"${line.rate}","${line.cost}"]`;
  return `[${text}]`;
}
