import type { Principal } from '../../accounts/principal.ts';
import { type Capability, capabilities } from '../../base/capability.ts';
import type { ModelKind, Offer, Snapshot } from '../../catalog/snapshot.ts';
import type { Share } from '../../limits/limiter.ts';

/** The kinds of models that each capability is asked of. */
export const kindsFor: Readonly<Record<Capability, readonly ModelKind[]>> = {
  chat: ['chat'],
  messages: ['chat'],
  responses: ['chat'],
  compact: ['chat'],
  completions: ['chat', 'completion'],
  embeddings: ['embedding'],
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

/** Where a client that came to the wrong endpoint is sent. */
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

/** Whether who speaks so can be asked for models of this kind. */
export function servesKind(
  kind: ModelKind,
  speaks: Readonly<Partial<Record<Capability, unknown>>>,
): boolean {
  return capabilities.some(
    (capability) => speaks[capability] !== undefined && kindsFor[capability].includes(kind),
  );
}

/**
 * What is sold to a key under a model's name: its group's offer, unless the key is confined to
 * others.
 */
export function offerTo(
  catalog: Snapshot,
  { group, models }: Principal,
  model: string,
): Offer | undefined {
  return models === undefined || models.has(model) ? catalog.offer(group, model) : undefined;
}

/** The key's own limits, where it has any. */
export const keyShare = ({ keyId, allowance }: Principal): Share | undefined =>
  allowance === undefined ? undefined : { subject: `key/${keyId}`, allowance };
