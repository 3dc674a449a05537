import { bytesPerTokenInput } from '../base/bytes-per-token.ts';
import { textCapabilities } from '../base/capability.ts';
import type { Nano } from '../base/money.ts';
import { Refusal, refuse } from '../base/refusal.ts';
import type { Quantities } from '../base/quantities.ts';
import {
  costOf,
  type MediaPlaces,
  outputTokensFor,
  type Tariff,
  variantIn,
  worstCase,
} from '../catalog/price.ts';
import type { Offer } from '../catalog/snapshot.ts';
import type { LimitExceeded, Pass } from '../limits/limiter.ts';
import { billableFeatures } from '../providers/billable-features.ts';
import { requireOffer, keyShare, endpointFor, kindsFor, outputLimit } from './models/offers.ts';
import { countPrompt, countTokens } from './pricing/tokens.ts';
import type { GatewayParts } from './parts.ts';
import { type Quote, type QuoteResult, makeQuote, type SizeEstimate } from './pricing/quote.ts';
import type { ApiRequest } from './api-request.ts';
import { withSellingModels } from './models/alternatives.ts';

/** Tokens that one image, audio clip or file counts as until the vendor has counted. */
export const tokensPerMedium = 1_600;
/** Output tokens counted towards tokens per minute before the answer arrives. */
const outputTokensForLimit = 256;
/** The output limit of a model for which the catalog has none. */
const outputTokensUnknown = 16_384;

const noMedia: MediaPlaces = { inputTokens: 0, output: false };

/**
 * A request that may go on: what it may buy, its greatest size, and its place in the group's
 * limits.
 */
export interface Admission {
  readonly offer: Offer;
  /** The model's plain price at the moment of admission. */
  readonly tariff: Tariff;
  /** Set where the request may be charged at another price than the plain one. */
  readonly quote?: Quote | undefined;
  /** An upper estimate until the text is counted. */
  readonly textTokens: number;
  readonly media: MediaPlaces;
  /** For all choices together. 0 where `most` is known. */
  readonly outputTokens: number;
  /** The most that the request can be charged for, where that is known beforehand. */
  readonly most?: Quantities;
  /** The variant that the price lists. */
  readonly variant?: string | undefined;
  readonly pass: Pass;
}

/**
 * Checks the key, group and model, and limits, and estimates the size. Throws a Refusal before
 * anything is reserved. Returns a promise only where nodes share their limits.
 */
export function admit(parts: GatewayParts, request: ApiRequest): Admission | Promise<Admission> {
  const offer = requireOffer(parts.catalog(), request.principal, request.model);
  refuseUnacceptable(offer, request);
  refuseUnserved(parts, offer, request);
  const { group } = offer;
  const size = sizeFor(request, offer);
  const bought = quoteFor(parts, request, offer, size);
  const entered = parts.limiter.enter(
    `${request.principal.userId}/${group.name}`,
    group.limits,
    size.textTokens + size.media.inputTokens + Math.min(size.outputTokens, outputTokensForLimit),
    keyShare(request.principal),
  );
  if (entered instanceof Promise)
    return entered.then((pass) => admissionFrom(pass, request, bought, size));
  return admissionFrom(entered, request, bought, size);
}

/** The greatest size that the answer of one model can have. */
function sizeFor(request: ApiRequest, { model }: Offer): SizeEstimate {
  const { mediaCount, units: requests, choices } = request;
  return {
    textTokens: sizeInTokens(request),
    media:
      mediaCount === 0 && requests === undefined
        ? noMedia
        : { inputTokens: mediaCount * tokensPerMedium, output: false, requests },
    outputTokens:
      (outputLimit(request, model) ?? model.outputTokensMax ?? outputTokensUnknown) * choices,
  };
}

/** A request as another model gets it, and the admission of that model. */
export interface Fallback {
  readonly request: ApiRequest;
  readonly admitted: Admission;
}

/**
 * The other models that may answer, as the request lists them or else its group; undefined: none.
 * Throws a Refusal for a model of the request's list that its key cannot use, or that cannot take
 * the request. Such models of the group's list are left out.
 */
export function fallbacksOf(
  parts: GatewayParts,
  request: ApiRequest,
  { offer: { group }, pass }: Admission,
): readonly Fallback[] | undefined {
  const listed = request.fallbacks ?? group.fallbackModels;
  if (listed === undefined || !textCapabilities.has(request.capability)) return undefined;
  const found: Fallback[] = [];
  for (const [i, model] of listed.entries()) {
    if (model === request.model) continue;
    try {
      found.push(fallbackTo(parts, { ...request, model }, `models[${i}]`, pass));
    } catch (error) {
      if (!(error instanceof Refusal) || request.fallbacks !== undefined) throw error;
    }
  }
  return found.length === 0 ? undefined : found;
}

function fallbackTo(parts: GatewayParts, request: ApiRequest, param: string, pass: Pass): Fallback {
  const offer = requireOffer(parts.catalog(), request.principal, request.model, param);
  refuseUnacceptable(offer, request);
  const size = sizeFor(request, offer);
  const bought = quoteFor(parts, request, offer, size);
  return { request, admitted: admissionFrom(pass, request, bought, size) };
}

/**
 * The prices at which this request may be charged. Throws a Refusal for a feature that is not sold.
 */
function quoteFor(
  parts: GatewayParts,
  request: ApiRequest,
  offer: Offer,
  size: SizeEstimate,
): QuoteResult {
  const { body, capability, model, principal } = request;
  const demand = billableFeatures(capability, body, model);
  if (demand === undefined && offer.tariff.terms === undefined)
    return { offer, tariff: offer.tariff };
  const context = { catalog: parts.catalog(), principal, capability, at: parts.clock.now() };
  try {
    return makeQuote(context, offer, demand, size);
  } catch (error) {
    throw error instanceof Refusal ? withSellingModels(parts, request, offer, error) : error;
  }
}

function admissionFrom(
  entered: Pass | LimitExceeded,
  { sized }: ApiRequest,
  { offer, tariff, quote }: QuoteResult,
  { textTokens, media, outputTokens }: SizeEstimate,
): Admission {
  if ('limitOf' in entered) throw new LimitReached(entered, textTokens + media.inputTokens);
  if (sized === undefined)
    return { offer, tariff, quote, textTokens, media, outputTokens, pass: entered };
  const variant = sized.variants && variantIn(tariff, sized.variants);
  return {
    offer,
    tariff,
    quote,
    textTokens,
    media,
    outputTokens,
    pass: entered,
    most: sized.most,
    variant,
  };
}

/**
 * Refuses a request that the model cannot serve on any channel: a wrong endpoint or content that
 * the model does not read.
 */
export function refuseUnacceptable({ model }: Offer, request: ApiRequest): void {
  if (!kindsFor[request.capability].includes(model.kind))
    refuse('wrong_endpoint', {
      model: model.id,
      kind: model.kind,
      endpoint: endpointFor[model.kind],
      param: 'model',
    });
  if (model.modalities === undefined) return;
  const { answersIn } = request;
  if (answersIn?.kinds.some((kind) => !model.modalities?.out.includes(kind)) === true)
    refuse('unsupported_parameter', {
      model: model.id,
      param: answersIn.param,
      why: `it answers in ${model.modalities.out.join(', ')}.`,
    });
  if (request.media.size === 0) return;
  for (const [content, param] of request.media) {
    if (!model.modalities.in.includes(content))
      refuse('unsupported_content', {
        model: model.id,
        content,
        param,
        accepted: model.modalities.in.join(', '),
      });
  }
}

/**
 * Refuses what no vendor of the model does, such as a translation by a vendor that only
 * transcribes. Where vendors do it and none of them is well, the refusal is another one, since that
 * passes.
 */
function refuseUnserved(
  { openChannels }: GatewayParts,
  { model, candidates }: Offer,
  { capability }: ApiRequest,
): void {
  if (capability === 'chat' || candidates.length === 0) return;
  if (openChannels.capableOf(candidates, capability).length === 0)
    refuse('invalid_value', {
      param: 'model',
      why: `the model '${model.id}' cannot be asked for this. Use ${endpointFor[model.kind]}.`,
    });
}

/**
 * A rate limit is reached. No `Refusal`, because it carries the limit's own figures, which the
 * response sends as headers.
 */
export class LimitReached extends Error {
  readonly exceeded: LimitExceeded;
  readonly requested: number;
  constructor(reached: LimitExceeded, requested: number) {
    super(`limit of ${reached.limitOf} reached`);
    this.exceeded = reached;
    this.requested = requested;
  }
}

/** An upper estimate of the tokens of a request's text, by its size alone. */
export function sizeInTokens({ textTokensMax, textBytes }: ApiRequest): number {
  return textTokensMax ?? Math.ceil(textBytes / bytesPerTokenInput);
}

/**
 * Counts the tokens of the input's text, since the quick estimate of an admission is generous.
 * Input that came as tokens was counted by the client.
 */
export async function countText({ textTokens }: Admission, request: ApiRequest): Promise<number> {
  const text = request.text();
  if (request.choices > 0) return countPrompt(text);
  return text === '' ? textTokens : countTokens(text);
}

/** The cost of this admission at worst with `outputTokens` of output, input included. */
export function worstCaseOf(admitted: Admission, outputTokens: number): Nano {
  const { tariff, quote, most, variant, textTokens, media } = admitted;
  if (most !== undefined)
    return quote === undefined ? costOf(tariff, most, variant).total : quote.worstOf(most, variant);
  return quote === undefined
    ? worstCase(tariff, textTokens, outputTokens, media)
    : quote.worst(textTokens, outputTokens, media);
}

/** The most output tokens that `money` pays for at worst. */
export function affordableTokens(admitted: Admission, money: Nano): number {
  const { tariff, quote, textTokens, media } = admitted;
  return quote === undefined
    ? outputTokensFor(tariff, money, textTokens, media)
    : quote.affordable(money, textTokens, media);
}
