import { type Capability, capabilities } from '../base/capability.ts';
import type { ModelKind } from '../catalog/snapshot.ts';

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
export function speaksOf(
  kind: ModelKind,
  speaks: Readonly<Partial<Record<Capability, unknown>>>,
): boolean {
  return capabilities.some(
    (capability) => speaks[capability] !== undefined && kindsFor[capability].includes(kind),
  );
}
