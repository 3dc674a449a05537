import type { Fault } from '../base/fault.ts';
import type { Nano } from '../base/money.ts';
import type { Refusal } from '../base/refusal.ts';
import type { Exchange } from './exchange.ts';

/** How a request ended: what the access line tells, and what the client still has to be told. */
export interface Outcome {
  /** The reservation was settled; otherwise it has to be released. */
  readonly charged: boolean;
  readonly cost: Nano;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly status: number;
  readonly outcome: string;
  /**
   * Still to be said to the client: as a refusal when nothing has been sent, else as an error
   * event.
   */
  readonly refusal: Refusal | undefined;
}

export function outcomeOfFault(fault: Fault): string {
  return `fault:${fault.kind}`;
}

export function report(exchange: Exchange, outcome: Outcome): void {
  const { request, admitted, parts } = exchange;
  parts.access({
    id: request.id,
    userId: request.principal.userId,
    keyId: request.principal.keyId,
    model: request.model,
    group: admitted.offer.group.name,
    channel: exchange.candidate?.channel.name,
    stream: request.stream,
    status: outcome.status,
    outcome: outcome.outcome,
    attempts: exchange.attempts,
    inputTokens: outcome.inputTokens,
    outputTokens: outcome.outputTokens,
    cost: outcome.cost.toString(),
    firstByteMs: exchange.firstByteMs,
    durationMs: exchange.elapsedMs(),
    vendorMs: exchange.vendorMs,
  });
  if (exchange.hedge !== undefined)
    parts.hedged({
      ...exchange.hedge,
      id: request.id,
      model: request.model,
      inputTokens: outcome.inputTokens,
    });
}
