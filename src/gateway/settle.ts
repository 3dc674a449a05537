import type { Nano } from '../base/money.ts';
import type { Quantities } from '../base/quantities.ts';
import { type Bill, costOf, inputTokens, outputTokens, type PriceLine } from '../catalog/price.ts';
import type { Candidate } from '../catalog/snapshot.ts';
import type { SettleResult } from '../ledger/contract.ts';
import type { PricingFacts } from '../providers/adapter.ts';
import type { RecordValues } from '../usage/record.ts';
import type { Admission } from './admit.ts';
import { billOfItems } from './pricing/quote.ts';
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
  /**
   * The client has nothing of the answer before its charge is committed. When that takes too long,
   * it gets no answer and pays nothing.
   */
  readonly withheld?: true;
  /** Facts about the price in the answer beside its quantities. */
  readonly pricingFacts?: PricingFacts | undefined;
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
  const { request, admitted, parts, reservedAt } = funded;
  const { candidate } = progress;
  // A clock that was set back meanwhile: figures look for a record by both of its times.
  const finishedAt = Math.max(parts.clock.now(), reservedAt);
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
    withheld: ending.withheld,
  });
}

const nothing = { lines: [], total: 0n } as const;

/**
 * The bill of the ending. Quantities that were cut to the bound are no longer the sum of the
 * answer's items, which are ignored then.
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
  return termFacts?.items === undefined
    ? costOf(tariff, quantities, variant)
    : billOfItems(tariff, termFacts.items);
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
  funded: FundedRequest,
  candidate: Candidate | undefined,
  ending: AnswerEnd,
  charged: Nano,
  finishedAt: number,
): Excess | undefined {
  const { reported } = ending;
  if (reported === undefined) return undefined;
  const all = { ...ending, quantities: reported, reported: undefined };
  const { lines, total } = billFor(funded.admitted, candidate, all, finishedAt);
  const excess = total - charged;
  reportOverrun(funded, candidate, excess, reported);
  return excess > 0n ? { excess, lines } : undefined;
}

/** Tells the operator of an answer beyond the bound of its request. */
export function reportOverrun(
  { parts, request: { id, model } }: FundedRequest,
  candidate: Candidate | undefined,
  excess: Nano,
  reported: Quantities | undefined,
): void {
  parts.overran({ id, channel: candidate?.channel.name ?? '', model, excess, reported });
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
