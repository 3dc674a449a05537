/**
 * What is metered. Token classes are disjoint: `input` excludes what was read from or written to the vendor's cache and
 * what came as audio or image, `output` excludes `reasoning` and audio.
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
] as const;

export type Measure = (typeof measures)[number];

/** Amounts by measure: tokens, images, megapixels (a started one counts), seconds, characters or requests. Absent is zero. */
export type Quantities = Readonly<Partial<Record<Measure, number>>>;
