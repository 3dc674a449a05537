/**
 * What a client can ask of a model and get as a whole or as a stream; each is one adapter key of a
 * vendor. A capability that a vendor lacks is an absent key.
 */
export const streamedCapabilities = [
  'chat',
  'messages',
  'responses',
  'compact',
  'completions',
] as const;

/** The same for what is always answered as a whole: vectors, verdicts, scores. */
export const wholeCapabilities = ['embeddings', 'moderations', 'rerank'] as const;

/** Pictures: always answered as a whole too, by many vendors later than they are asked. */
export const imageCapabilities = ['images', 'image_edits', 'image_variations'] as const;

/**
 * Sound that is heard or made: answered as a whole or as a stream, and reserved for to its end
 * before it begins.
 */
export const audioCapabilities = ['transcriptions', 'translations', 'speech'] as const;

/** Work that outlives its request: submitted, and asked for until it ends. */
export const taskCapabilities = ['video'] as const;

export const capabilities = [
  ...streamedCapabilities,
  ...wholeCapabilities,
  ...imageCapabilities,
  ...audioCapabilities,
  ...taskCapabilities,
] as const;

export type StreamedCapability = (typeof streamedCapabilities)[number];
export type WholeCapability = (typeof wholeCapabilities)[number];
export type ImageCapability = (typeof imageCapabilities)[number];
export type AudioCapability = (typeof audioCapabilities)[number];
export type TaskCapability = (typeof taskCapabilities)[number];
export const isImageCapability = (capability: Capability): capability is ImageCapability =>
  imageCapabilities.some((one) => one === capability);
/** What the request that asks for it answers. */
export type SynchronousCapability =
  | StreamedCapability
  | WholeCapability
  | ImageCapability
  | AudioCapability;
export type Capability = SynchronousCapability | TaskCapability;
