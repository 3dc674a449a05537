/**
 * What a client can ask of a model and get as a whole or as a stream; each is one adapter key of a
 * vendor. A capability that a vendor lacks is an absent key.
 */
export const streamed = ['chat', 'messages', 'responses', 'compact', 'completions'] as const;

/** The same for what is always answered as a whole: vectors, verdicts, scores. */
export const whole = ['embeddings', 'moderations', 'rerank'] as const;

/** Pictures: always answered as a whole too, by many vendors later than they are asked. */
export const pictured = ['images', 'image_edits', 'image_variations'] as const;

/**
 * Sound that is heard or made: answered as a whole or as a stream, and reserved for to its end
 * before it begins.
 */
export const sounding = ['transcriptions', 'translations', 'speech'] as const;

/** Work that outlives its request: submitted, and asked for until it ends. */
export const tasks = ['video'] as const;

export const capabilities = [...streamed, ...whole, ...pictured, ...sounding, ...tasks] as const;

export type StreamedCapability = (typeof streamed)[number];
export type WholeCapability = (typeof whole)[number];
export type PicturedCapability = (typeof pictured)[number];
export type SoundCapability = (typeof sounding)[number];
export type TaskCapability = (typeof tasks)[number];
export const isPictured = (capability: Capability): capability is PicturedCapability =>
  pictured.some((one) => one === capability);
/** What the request that asks for it answers. */
export type AnsweredCapability =
  | StreamedCapability
  | WholeCapability
  | PicturedCapability
  | SoundCapability;
export type Capability = AnsweredCapability | TaskCapability;
