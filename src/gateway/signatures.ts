import type { Adapter, Call, Signatures } from '../providers/adapter.ts';
import type { Exchange } from './exchange.ts';
import type { Lane } from './lanes.ts';

/**
 * Who can read what was signed here: the vendor's model, whatever the channel, or one account at
 * the vendor.
 */
const signerOf = ({ candidate, request }: Exchange, lane: Lane): string =>
  `${lane.signer ?? candidate?.id ?? ''} ${candidate?.upstreamModel ?? request.model}`;

/**
 * The call with what its vendor signed in earlier turns and the client did not bring back; the call
 * itself when nothing is missing, or nothing known. Waits for the database only when this process
 * has not seen these turns itself. Without a database a conversation goes on without its
 * signatures.
 */
export function reminded(
  exchange: Exchange,
  lane: Lane,
  adapter: Adapter,
  call: Call,
): Call | Promise<Call> {
  const unsigned = adapter.unsigned?.(call);
  if (unsigned === undefined || unsigned.length === 0) return call;
  const { parts, request } = exchange;
  const known = parts.signatures.recall(
    request.principal.userId,
    signerOf(exchange, lane),
    unsigned,
  );
  if (!(known instanceof Promise)) return withThem(call, known);
  return known.then(
    (signatures) => withThem(call, signatures),
    () => call,
  );
}

const withThem = (call: Call, signatures: Signatures): Call =>
  signatures.size === 0 ? call : { ...call, signatures };

/**
 * Remembers what was signed with an answer, before its last byte leaves: the next request may come
 * to another node. The client gets its answer in any case.
 */
export async function remember(exchange: Exchange, signatures: Signatures): Promise<void> {
  const { parts, request, candidate } = exchange;
  if (candidate === undefined) return;
  const signer = signerOf(exchange, parts.lanes.of(candidate.channel));
  await parts.signatures.keep(request.principal.userId, signer, signatures).catch(() => undefined);
}
