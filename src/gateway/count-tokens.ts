import type { Principal } from '../accounts/principal.ts';
import type { Candidate, Offer } from '../catalog/snapshot.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { limitHeaders, type Pass } from '../limits/limiter.ts';
import type { VendorAnswer, VendorCall } from '../providers/adapter.ts';
import { mayRetry } from '../routing/retry.ts';
import { billableFeatures } from '../providers/billable-features.ts';
import { requireOffer, keyShare } from './models/offers.ts';
import { LimitReached, refuseUnacceptable, tokensPerMedium } from './admit.ts';
import { ChannelAttempt, type AttemptResult } from './attempt.ts';
import { refusalFor } from './error-mapping.ts';
import { addressesToInline } from './media/inline.ts';
import type { ApiRequest } from './api-request.ts';
import { countPrompt } from './pricing/tokens.ts';
import type { GatewayParts } from './parts.ts';

/**
 * The number of input tokens of a request: counted by a vendor that does so for free, else counted
 * here. `render` writes our own count. Moves no money and leaves no record; counts towards the
 * group's requests, or has a limit of its own. Throws a Refusal (or LimitReached).
 */
export async function countInput(
  parts: GatewayParts,
  request: ApiRequest,
  response: ClientResponse,
  render: (tokens: number) => string,
): Promise<void> {
  const offer = requireOffer(parts.catalog(), request.principal, request.model);
  refuseUnacceptable(offer, request);
  // A count has no price, but files and prompts that are kept at a vendor are refused here, too.
  billableFeatures(request.capability, request.body, request.model);
  const pass = await enterFree(parts, request.principal);
  try {
    limitHeaders(pass, response);
    const counted = await countAtVendors(parts, request, response, offer);
    if (response.closed) return;
    const body =
      counted?.body ??
      render((await countPrompt(request.text())) + request.mediaCount * tokensPerMedium);
    response.whole(200, 'application/json', body);
  } finally {
    pass.finish(0);
  }
}

/**
 * Counts a free request towards the requests of the key's group. Where the group has no such limit,
 * another one bounds them, and so the calls to vendors. Throws LimitReached.
 */
export async function enterFree(
  { catalog, limiter, limits }: Pick<GatewayParts, 'catalog' | 'limiter' | 'limits'>,
  principal: Principal,
): Promise<Pass> {
  const { group, userId, keyId } = principal;
  const own = catalog().groups.get(group)?.limits ?? noLimits;
  const [subject, allowance] =
    own.rpm === undefined
      ? [`counts/${keyId}`, { ...own, rpm: limits.countsPerMinute }]
      : [`${userId}/${group}`, own];
  const entered = await limiter.enter(subject, allowance, 0, keyShare(principal));
  if ('limitOf' in entered) throw new LimitReached(entered, 0);
  return entered;
}

const noLimits = { rpm: undefined, tpm: undefined, concurrency: undefined };

/**
 * The vendor's count; undefined where no channel counts: such a channel may still serve the
 * request. Throws a Refusal for a fault of the client.
 */
async function countAtVendors(
  parts: GatewayParts,
  request: ApiRequest,
  response: ClientResponse,
  { candidates }: Offer,
): Promise<VendorAnswer | undefined> {
  const excluded: Candidate[] = [];
  while (excluded.length < parts.limits.attemptsMax && !response.closed) {
    const candidate = parts.health.pick(
      candidates,
      excluded,
      parts.clock.monotonicMs(),
      parts.random,
    );
    if (candidate === undefined) return undefined;
    excluded.push(candidate);
    const result = await countAt(parts, request, response, candidate);
    if (result?.kind === 'answer') return result.answer;
    if (result?.kind !== 'fault') continue;
    if (!mayRetry(result.fault.kind, result.stage, 1, 'text'))
      throw refusalFor(result.fault, request.id, undefined, candidate.channel, request.capability);
  }
  return undefined;
}

async function countAt(
  parts: GatewayParts,
  request: ApiRequest,
  response: ClientResponse,
  candidate: Candidate,
): Promise<AttemptResult | undefined> {
  const openChannel = parts.openChannels.of(candidate.channel);
  const inquiry = openChannel.counter(request.capability);
  if (inquiry === undefined) return undefined;
  const call = countCallFor(parts, request, candidate);
  // A count is not worth a download: Tollgate counts here.
  if (
    request.addresses !== undefined &&
    addressesToInline(request.addresses, openChannel.adapter(request.capability), call).length > 0
  )
    return undefined;
  const attempt = new ChannelAttempt(inquiry, call, parts.limits, () => {
    throw new Error('a count is no stream');
  });
  response.onLeave(() => attempt.abort({ kind: 'left' }));
  attempt.start(openChannel, 'send_unsupported');
  const result = await attempt.result;
  response.onLeave(undefined);
  return result;
}

function countCallFor(parts: GatewayParts, request: ApiRequest, candidate: Candidate): VendorCall {
  const { body, bytes, model, includeUsage, answerId, headers } = request;
  return {
    body,
    bytes,
    publicModel: model,
    upstreamModel: candidate.upstreamModel,
    stream: false,
    includeUsage,
    streamUpstream: false,
    outputTokensMax: undefined,
    clientHeaders: headers,
    answerId,
    created: Math.floor(parts.clock.now() / 1_000),
  };
}
