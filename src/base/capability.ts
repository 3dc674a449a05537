/**
 * Capabilities that clients get as a whole or as a stream; each is one adapter key of a vendor. A
 * capability that a vendor lacks is an absent key.
 */
const streamedCapabilities = [
  'chat',
  'messages',
  'responses',
  'compact',
  'completions',
  'generate_content',
] as const;

/**
 * Capabilities whose answer is text as it is made, which no vendor keeps: another model may answer,
 * and an attempt may run twice.
 */
export const textCapabilities: ReadonlySet<string> = new Set([
  'chat',
  'messages',
  'completions',
  'responses',
  'generate_content',
]);

/** Capabilities that are always answered as a whole: vectors, verdicts, scores. */
const wholeCapabilities = ['embeddings', 'embed_content', 'moderations', 'rerank'] as const;

/** Images: also answered as a whole; many vendors deliver them some time after the request. */
const imageCapabilities = ['images', 'image_edits', 'image_variations'] as const;

/**
 * Audio as input or output: answered as a whole or as a stream. Funds are reserved for all of it
 * before it begins.
 */
const audioCapabilities = ['transcriptions', 'translations', 'speech'] as const;

/** Work that outlives its request: the client submits it, and polls until it ends. */
const taskCapabilities = ['video'] as const;

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
/** Capabilities whose result is the response to the request itself. */
export type SynchronousCapability =
  | StreamedCapability
  | WholeCapability
  | ImageCapability
  | AudioCapability;
export type Capability = SynchronousCapability | TaskCapability;

export const isImageCapability = (capability: Capability): capability is ImageCapability =>
  imageCapabilities.some((one) => one === capability);
