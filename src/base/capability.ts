/** What a client can ask of a model; each is one adapter key of a vendor. A capability that a vendor lacks is an absent key. */
export type Capability = 'chat' | 'messages' | 'responses' | 'compact';
