import type { Principal } from '../../accounts/principal.ts';
import { type Capability, capabilities } from '../../base/capability.ts';
import { refuse } from '../../base/refusal.ts';
import type { Model, ModelKind, Offer, Snapshot } from '../../catalog/snapshot.ts';
import type { Share } from '../../limits/limiter.ts';
import type { ApiRequest } from '../api-request.ts';

/** The kinds of models that serve each capability. */
export const kindsFor: Readonly<Record<Capability, readonly ModelKind[]>> = {
  chat: ['chat'],
  messages: ['chat'],
  responses: ['chat'],
  compact: ['chat'],
  completions: ['chat', 'completion'],
  generate_content: ['chat'],
  embeddings: ['embedding'],
  embed_content: ['embedding'],
  moderations: ['moderation'],
  rerank: ['rerank'],
  images: ['image'],
  image_edits: ['image'],
  image_variations: ['image'],
  transcriptions: ['transcription'],
  translations: ['transcription'],
  speech: ['speech'],
  video: ['video'],
};

/** The endpoint that a refusal recommends for each kind of model. */
export const endpointFor: Readonly<Record<ModelKind, string>> = {
  chat: '/v1/chat/completions',
  completion: '/v1/completions',
  embedding: '/v1/embeddings',
  moderation: '/v1/moderations',
  rerank: '/v1/rerank',
  image: '/v1/images/generations',
  transcription: '/v1/audio/transcriptions',
  speech: '/v1/audio/speech',
  video: '/v1/video/generations',
};

/** Whether a vendor with these adapters can serve models of this kind. */
export function servesKind(
  kind: ModelKind,
  speaks: Readonly<Partial<Record<Capability, unknown>>>,
): boolean {
  return capabilities.some(
    (capability) => speaks[capability] !== undefined && kindsFor[capability].includes(kind),
  );
}

/**
 * The offer that a key gets under a model's name: its group's, unless the key is confined to other
 * models.
 */
export function offerTo(
  catalog: Snapshot,
  { group, models }: Principal,
  model: string,
): Offer | undefined {
  return models === undefined || models.has(model) ? catalog.offer(group, model) : undefined;
}

/** The same; throws the Refusal of a model that the key does not get. `param` names it. */
export const requireOffer = (
  catalog: Snapshot,
  principal: Principal,
  model: string,
  param = 'model',
): Offer => offerTo(catalog, principal, model) ?? refuse('model_not_found', { model, param });

/** The key's own limits, where it has any. */
export const keyShare = ({ keyId, allowance }: Principal): Share | undefined =>
  allowance === undefined ? undefined : { subject: `key/${keyId}`, allowance };

/** The output tokens that the client requested, at most those that the model can write. */
export function outputLimit(
  { outputTokensRequested: requested }: Pick<ApiRequest, 'outputTokensRequested'>,
  { outputTokensMax: most }: Model,
): number | undefined {
  return requested === undefined || most === undefined ? requested : Math.min(requested, most);
}
