/** Models that reason unless the request turns it off (docs.cohere.com/docs/reasoning, 2026-08). */
export const thinksByItself = (model: string): boolean =>
  /reasoning|command-a-plus|north|^sim-think/.test(model);

/** The known models (docs.cohere.com/docs/models, 2026-08); a scenario alone counts as a model. */
export const known = (model: string): boolean =>
  /^(?:command|c4ai|north|tiny-aya|sim-)/.test(model);

export const listed: readonly string[] = [
  'command-a-03-2025',
  'command-a-plus-05-2026',
  'command-a-reasoning-08-2025',
  'command-a-vision-07-2025',
  'command-r7b-12-2024',
];
