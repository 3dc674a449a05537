/** What a client can ask of a model and get as a whole or as a stream; each is one adapter key of a vendor. A capability that a vendor lacks is an absent key. */
export const streamed = ['chat', 'messages', 'responses', 'compact', 'completions'] as const;

/** The same for what is always answered as a whole: vectors, verdicts, scores. */
export const whole = ['embeddings', 'moderations', 'rerank'] as const;

export const capabilities = [...streamed, ...whole] as const;

export type StreamedCapability = (typeof streamed)[number];
export type WholeCapability = (typeof whole)[number];
export type Capability = StreamedCapability | WholeCapability;
