/** What a client can ask of a model and get as a whole or as a stream; each is one adapter key of a vendor. A capability that a vendor lacks is an absent key. */
export const streamed = ['chat', 'messages', 'responses', 'compact', 'completions'] as const;

/** The same for what is always answered as a whole: vectors, verdicts, scores, pictures. */
export const whole = ['embeddings', 'moderations', 'rerank', 'images', 'image_edits', 'image_variations'] as const;

/** Work that outlives its request: submitted, and asked for until it ends. */
export const tasks = ['video'] as const;

export const capabilities = [...streamed, ...whole, ...tasks] as const;

export type StreamedCapability = (typeof streamed)[number];
export type WholeCapability = (typeof whole)[number];
export type TaskCapability = (typeof tasks)[number];
/** What the request that asks for it answers. */
export type AnsweredCapability = StreamedCapability | WholeCapability;
export type Capability = AnsweredCapability | TaskCapability;
