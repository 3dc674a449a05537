import { Refusal } from '../../base/refusal.ts';
import type { Candidate, Model, Offer } from '../../catalog/snapshot.ts';
import type { VendorCall } from '../../providers/adapter.ts';
import { billableFeatures } from '../../providers/billable-features.ts';
import { offerTo } from './offers.ts';
import { vendorCallFor } from '../attempt.ts';
import type { GatewayParts } from '../parts.ts';
import {
  type QuoteResult,
  makeQuote,
  type SizeEstimate,
  type QuoteContext,
} from '../pricing/quote.ts';
import type { ApiRequest } from '../api-request.ts';

/** A larger request is not tried on other models: that would cost too much for one sentence. */
const checkedBytesMax = 65_536;
/** How many models of the key are tried, and how many of those that take the request are named. */
const modelsCheckedMax = 200;
const modelsNamedMax = 10;

/** A request that a channel's adapter refuses. */
interface RefusedRequest {
  readonly parts: GatewayParts;
  readonly request: ApiRequest;
  readonly admitted: Pick<QuoteResult, 'offer' | 'quote'>;
  readonly reservedAt: number;
}

/** Whether the vendor of a channel takes this call, by its adapter alone: no vendor is asked. */
export function isAccepted(
  { parts, request }: Pick<RefusedRequest, 'parts' | 'request'>,
  { channel }: Candidate,
  call: VendorCall,
): boolean {
  const adapter = parts.openChannels.of(channel).adapter(request.capability);
  if (adapter === undefined) return false;
  try {
    return adapter.ask(call).unsupported === undefined;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/**
 * The refusal, with a sentence that names the models of the client's key that take the refused
 * member.
 */
export function withAlternatives(refused: RefusedRequest, why: Refusal): Refusal {
  const sentence = why.param === null ? undefined : alternativesFor(refused, why.param);
  if (
    sentence === undefined ||
    (sentence === noModelAccepts && why.refusal !== 'unsupported_parameter')
  )
    return why;
  return new Refusal(why.refusal, `${why.message} ${sentence}`, why.param, why.retryAfterMs);
}

/**
 * The refusal of a feature that the model's price does not have, with the models of the client's
 * key that have it.
 */
export function withSellingModels(
  parts: GatewayParts,
  request: ApiRequest,
  own: Offer,
  why: Refusal,
): Refusal {
  const probe =
    why.refusal === 'not_sold' && why.param !== null ? probeOf(request, why.param) : undefined;
  if (probe === undefined) return why;
  const named = modelsThatAccept(parts, probe, own);
  const sentence =
    named === undefined ? 'No model of your key has it.' : `Models that have it: ${named}.`;
  return new Refusal(why.refusal, `${why.message} ${sentence}`, why.param, why.retryAfterMs);
}

const noModelAccepts = 'No model of your key takes it.';

/**
 * A sentence that names the models of the client's key that take `param` as it is; undefined where
 * they cannot be found out.
 */
export function alternativesFor(refused: RefusedRequest, param: string): string | undefined {
  const { parts, request, admitted } = refused;
  const probe = probeOf(request, param);
  const own = admitted.offer.candidates[0];
  if (own === undefined || probe === undefined) return undefined;
  const { body, bytes } = probe;
  // This model takes the probe: it refuses the conversation as a whole, which the probe does not
  // hold.
  if (isAccepted(refused, own, { ...vendorCallFor(refused, own, request.stream), body, bytes }))
    return undefined;
  const named = modelsThatAccept(parts, probe, admitted.offer);
  return named === undefined ? noModelAccepts : `Models that take it: ${named}.`;
}

/** The ids of the models that sell and take such a request; undefined: there is none. */
function modelsThatAccept(
  parts: GatewayParts,
  probe: ApiRequest,
  { model: { kind }, group }: Offer,
): string | undefined {
  const catalog = parts.catalog();
  const { principal, capability } = probe;
  const at = parts.clock.now();
  const takes = ({ id }: Model): boolean => {
    const offer = offerTo(catalog, principal, id);
    const request = { ...probe, model: id };
    const bought = offer && quotedOrNot({ catalog, principal, capability, at }, offer, request);
    if (bought === undefined) return false;
    const asked = { parts, request, admitted: bought, reservedAt: at };
    return bought.offer.candidates.some((candidate) =>
      isAccepted(asked, candidate, vendorCallFor(asked, candidate, request.stream)),
    );
  };
  const named: string[] = [];
  for (const model of catalog.listing(group.name).slice(0, modelsCheckedMax)) {
    if (model.kind !== kind || !takes(model)) continue;
    if (named.length === modelsNamedMax) return `${named.join(', ')}, and more`;
    named.push(model.id);
  }
  return named.length === 0 ? undefined : named.join(', ');
}

const anySize: SizeEstimate = {
  textTokens: 0,
  media: { inputTokens: 0, output: false },
  outputTokens: 0,
};

function quotedOrNot(
  context: QuoteContext,
  offer: Offer,
  { capability, body, model }: ApiRequest,
): QuoteResult | undefined {
  try {
    return makeQuote(context, offer, billableFeatures(capability, body, model), anySize);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const greeting = [{ role: 'user', content: 'Hello' }];

/**
 * The request without its conversation, and with the client's output limit as it is in the body.
 * Where one message is refused, that message is kept. Undefined: it is too large.
 */
function probeOf(request: ApiRequest, param: string): ApiRequest | undefined {
  const probe: Record<string, unknown> = { ...request.body };
  for (const name of ['messages', 'input']) {
    const turns = probe[name];
    if (!Array.isArray(turns)) continue;
    const at = new RegExp(`^${name}\\[(\\d+)\\]`).exec(param)?.[1];
    const turn: unknown = at === undefined ? undefined : turns[Number(at)];
    probe[name] = turn === undefined ? greeting : [turn];
  }
  const bytes = Buffer.from(JSON.stringify(probe));
  if (bytes.length > checkedBytesMax) return undefined;
  return { ...request, body: probe, bytes, outputTokensRequested: undefined };
}
