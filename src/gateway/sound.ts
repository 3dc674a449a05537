import type { Quantities } from '../base/quantities.ts';
import { costOf } from '../catalog/price.ts';
import type { StreamMeter } from '../providers/adapter.ts';
import type { Exchange } from './exchange.ts';
import type { EndStatus } from './settle.ts';

/**
 * What a vendor told, and beside it what was measured here. Undefined when the price is by
 * something that nobody knows: then it is counted.
 */
export function withMeasured(
  { request, admitted }: Exchange,
  told: Quantities | undefined,
): Quantities | undefined {
  if (request.sized === undefined) return told;
  const all = { ...request.sized.measured, ...told };
  return costOf(admitted.tariff, all).lines.length > 0 ? all : undefined;
}

/** The same for a stream: of a text that was not read to its end, what was heard is charged. */
export function heardOf(
  exchange: Exchange,
  meter: StreamMeter,
  status: EndStatus,
): Quantities | undefined {
  const { characters } = exchange.request.speak ?? {};
  const whole = status === 'ok' || meter.finished;
  if (characters === undefined || whole) return withMeasured(exchange, meter.quantities);
  return withMeasured(exchange, { character: Math.min(characters, meter.outputBytes) });
}
