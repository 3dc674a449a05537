/**
 * Calls of tools that the vendor runs: its fees for them are added to the price of the tokens that
 * they read and write.
 */
export const toolMeasures = [
  'web_search',
  'web_fetch',
  'file_search',
  'code_session',
  'grounding_query',
  'mcp_call',
] as const;

/**
 * What is metered. Token classes are disjoint: `input` excludes what was read from or written to
 * the vendor's cache and what came as audio or image, `output` excludes `reasoning` and audio.
 */
export const measures = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'audio_input',
  'audio_output',
  'image_input',
  'image_output',
  'image',
  'megapixel',
  'second',
  'character',
  'request',
  ...toolMeasures,
] as const;

export type Measure = (typeof measures)[number];

export type ToolMeasure = (typeof toolMeasures)[number];

/** The measures that count as input, and as output, where a client gets two figures. */
export const inputMeasures: readonly Measure[] = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'audio_input',
  'image_input',
];
export const outputMeasures: readonly Measure[] = [
  'output',
  'reasoning',
  'audio_output',
  'image_output',
];

export const isMeasure = (name: string): name is Measure => measures.some((one) => one === name);

export const isToolMeasure = (measure: string): measure is ToolMeasure =>
  toolMeasures.some((one) => one === measure);

/**
 * Amounts by measure: tokens, images, megapixels (a started one counts), seconds, characters,
 * requests or calls of a tool. Absent is zero.
 */
export type Quantities = Readonly<Partial<Record<Measure, number>>>;
