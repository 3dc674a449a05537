import type { Adapter, Call } from '../providers/adapter.ts';
import { carry, type Refused } from './carry.ts';
import type { Exchange } from './exchange.ts';
import type { Lane } from './lanes.ts';
import { reminded } from './signatures.ts';

/**
 * The call as its vendor needs it: with the bytes of media that it does not read itself, and with
 * its own signatures. At once, and the same, where it needs neither.
 */
export function prepare(
  exchange: Exchange,
  lane: Lane,
  adapter: Adapter,
  call: Call,
): Call | Refused | Promise<Call | Refused> {
  const carried =
    exchange.request.addresses && carry(exchange, exchange.request.addresses, adapter, call);
  if (carried === undefined) {
    const ready = reminded(exchange, lane, adapter, call);
    return ready instanceof Promise ? ready.then((made) => unlessLeft(exchange, made)) : ready;
  }
  return carried
    .then((made) => ('kind' in made ? made : reminded(exchange, lane, adapter, made)))
    .then((made) => unlessLeft(exchange, made));
}

/** Whoever left in the meantime is not asked for. */
const unlessLeft = (exchange: Exchange, made: Call | Refused): Call | Refused =>
  exchange.left ? { kind: 'left' } : made;
