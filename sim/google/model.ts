/**
 * What Google's documents say of a model, by its id (ai.google.dev/gemini-api/docs/models,
 * /thinking, /gemini-3, 2026-08).
 */
export interface ModelFacts {
  readonly id: string;
  /** 2, 2.5, 3, 3.1 …; aliases (`gemini-flash-latest`) are of the newest. */
  readonly generation: number;
  readonly gemma: boolean;
  /** It calls functions, takes instructions and writes JSON on demand. */
  readonly able: boolean;
  readonly thinking: Thinking;
  /** Calls of its third generation come back signed. */
  readonly signs: boolean;
  readonly penalties: boolean;
  readonly logprobs: boolean;
  readonly candidatesMax: number;
  readonly outputMax: number;
}

export type Thinking =
  | { readonly kind: 'none' }
  /** `off`: a budget of 0 is taken. */
  | { readonly kind: 'budget'; readonly min: number; readonly max: number; readonly off: boolean }
  | { readonly kind: 'level'; readonly levels: readonly string[] };

const newest = 3.8;

export function modelFacts(id: string): ModelFacts {
  const gemma = id.startsWith('gemma-');
  const said = /gemini-(?:[a-z-]*?)(\d+(?:\.\d+)?)/.exec(id)?.[1];
  const generation = gemma
    ? 0
    : said === undefined
      ? id.startsWith('sim-')
        ? 2.5
        : newest
      : Number(said);
  return {
    id,
    generation,
    gemma,
    able: !/^gemma-[123]/.test(id),
    thinking: thinkingOf(id, generation),
    signs: generation >= 3,
    penalties: generation === 2,
    logprobs: generation === 2 || generation === 2.5,
    candidatesMax: generation >= 3 ? 1 : 8,
    outputMax: generation >= 2.5 ? 65_536 : 8_192,
  };
}

function thinkingOf(id: string, generation: number): Thinking {
  if (generation < 2.5 || /-tts|-image/.test(id)) return { kind: 'none' };
  if (generation >= 3) {
    const levels = ['LOW', 'HIGH'];
    if (!id.startsWith('gemini-3-pro')) levels.push('MEDIUM');
    // Flash models before 3.7 also think next to nothing.
    if (/flash/.test(id) && generation < 3.7) levels.push('MINIMAL');
    return { kind: 'level', levels };
  }
  if (id.includes('-pro')) return { kind: 'budget', min: 128, max: 32_768, off: false };
  return { kind: 'budget', min: id.includes('flash-lite') ? 512 : 0, max: 24_576, off: true };
}

/** Flash-Lite thinks only when it is told to; every other model that thinks does so by itself. */
export const thinksUnasked = ({ id, thinking }: ModelFacts): boolean =>
  thinking.kind !== 'none' && !/2\.5-flash-lite/.test(id);

/**
 * Listed by `models`; every other `gemini-…` and `gemma-…` answers too, under names that point at
 * one of these.
 */
export const listed: readonly string[] = [
  'gemini-2.5-pro',
  'gemini-2.5-flash',
  'gemini-2.5-flash-lite',
  'gemini-2.0-flash',
  'gemini-3-flash-preview',
  'gemini-3.1-pro-preview',
  'gemini-3.8-flash',
  'gemma-3-27b-it',
  'sim-chat',
];
