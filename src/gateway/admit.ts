import type { Nano } from '../base/money.ts';
import { refuse } from '../base/refusal.ts';
import type { Quantities } from '../base/quantities.ts';
import { costOf, type Media, outputTokensFor, variantIn, worstCase } from '../catalog/price.ts';
import type { Model, Offer } from '../catalog/snapshot.ts';
import type { Overrun, Pass } from '../limits/contract.ts';
import { offerTo, shareOf } from './allowed.ts';
import { countQuestion, countTokens } from './count.ts';
import type { Parts } from './parts.ts';
import { endpointFor, kindsFor } from './kinds.ts';
import type { ClientRequest } from './request.ts';

/** Tokens that one image, sound or file is taken for until the vendor has counted. */
export const tokensPerMedium = 1_600;
/** A byte of JSON is at most this share of a token: three bytes make an English half-word or one Chinese character. */
const bytesPerToken = 3;
/** Output that is counted towards tokens per minute before the answer is there. */
const outputTokensForLimit = 256;
/** The output limit of a model that the catalogue tells none for. */
const outputTokensUnknown = 16_384;

const noMedia: Media = { inputTokens: 0, output: false };

/** A request that may go on: what it may buy, how large it is at most, and its place in the group's limits. */
export interface Admitted {
  readonly offer: Offer;
  /** An upper estimate, until counted. */
  readonly textTokens: number;
  readonly media: Media;
  /** For all choices together. 0 where `most` is known. */
  readonly outputTokens: number;
  /** The most that it can be charged for, where that is known beforehand. */
  readonly most?: Quantities;
  /** Of those that the price lists. */
  readonly variant?: string | undefined;
  readonly pass: Pass;
}

/** key → group and model → limits → estimate. Throws a Refusal; nothing has been reserved then. A promise only where nodes share their limits. */
export function admit(parts: Parts, request: ClientRequest): Admitted | Promise<Admitted> {
  const offer = offerTo(parts.catalog(), request.principal, request.model);
  if (offer === undefined) refuse('model_not_found', { model: request.model });
  refuseUnacceptable(offer, request);
  const { model, group } = offer;
  const textTokens =
    request.textTokensMax ?? Math.ceil((request.bytes.length - request.mediaBytes) / bytesPerToken);
  const { mediaCount, units: requests } = request;
  const media =
    mediaCount === 0 && requests === undefined
      ? noMedia
      : { inputTokens: mediaCount * tokensPerMedium, output: false, requests };
  const inputTokens = textTokens + media.inputTokens;
  const outputTokens =
    (outputLimit(request, model) ?? model.outputTokensMax ?? outputTokensUnknown) * request.choices;
  const entered = parts.limiter.enter(
    `${request.principal.userId}/${group.name}`,
    group.limits,
    inputTokens + Math.min(outputTokens, outputTokensForLimit),
    shareOf(request.principal),
  );
  if (entered instanceof Promise)
    return entered.then((told) =>
      admittedBy(told, request, offer, textTokens, media, outputTokens),
    );
  return admittedBy(entered, request, offer, textTokens, media, outputTokens);
}

function admittedBy(
  entered: Pass | Overrun,
  { sized }: ClientRequest,
  offer: Offer,
  textTokens: number,
  media: Media,
  outputTokens: number,
): Admitted {
  if ('over' in entered) throw new LimitReached(entered, textTokens + media.inputTokens);
  if (sized === undefined) return { offer, textTokens, media, outputTokens, pass: entered };
  const variant = sized.variants && variantIn(offer.tariff, sized.variants);
  return { offer, textTokens, media, outputTokens, pass: entered, most: sized.most, variant };
}

/** What this model is for, and what it takes no matter how it is asked. */
export function refuseUnacceptable({ model }: Offer, request: ClientRequest): void {
  if (!kindsFor[request.capability].includes(model.kind))
    refuse('wrong_endpoint', {
      model: model.id,
      kind: model.kind,
      endpoint: endpointFor[model.kind],
      param: 'model',
    });
  const { outputTokensAsked: asked, outputParam: param } = request;
  if (
    param !== undefined &&
    asked !== undefined &&
    model.outputTokensMax !== undefined &&
    asked > model.outputTokensMax
  ) {
    refuse('out_of_range', {
      param,
      expected: `<= ${model.outputTokensMax} for the model '${model.id}'`,
      got: asked,
    });
  }
  if (request.media.size === 0 || model.modalities === undefined) return;
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

/** The output tokens that the client asked for, at most those that the model can write. */
export function outputLimit(
  { outputTokensAsked: asked }: ClientRequest,
  { outputTokensMax: most }: Model,
): number | undefined {
  return asked === undefined || most === undefined ? asked : Math.min(asked, most);
}

/** Thrown with the limits' own figures, so that the answer can carry them as headers. */
export class LimitReached extends Error {
  readonly overrun: Overrun;
  readonly requested: number;
  constructor(reached: Overrun, requested: number) {
    super(`limit of ${reached.over} reached`);
    this.overrun = reached;
    this.requested = requested;
  }
}

/** The input's text, counted: the quick estimate of an admission is generous. What came as tokens was counted by the client. */
export async function countedText(
  { textTokens }: Admitted,
  request: ClientRequest,
): Promise<number> {
  const text = request.text();
  if (request.choices > 0) return countQuestion(text);
  return text === '' ? textTokens : countTokens(text);
}

/** What so many tokens of output would cost this admission at worst, input included. */
export function worstCaseOf(admitted: Admitted, outputTokens: number): Nano {
  if (admitted.most !== undefined)
    return costOf(admitted.offer.tariff, admitted.most, admitted.variant).total;
  return worstCase(admitted.offer.tariff, admitted.textTokens, outputTokens, admitted.media);
}

/** The most output tokens that `money` pays for at worst. */
export function affordableTokens(admitted: Admitted, money: Nano): number {
  return outputTokensFor(admitted.offer.tariff, money, admitted.textTokens, admitted.media);
}
