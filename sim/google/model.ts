/**
 * The facts of a model in Google's documents, by its id (ai.google.dev/gemini-api/docs/models,
 * /thinking, /gemini-3, 2026-08).
 */
export interface ModelFacts {
  readonly id: string;
  /** 2, 2.5, 3, 3.1 …; aliases (`gemini-flash-latest`) belong to the newest. */
  readonly generation: number;
  readonly gemma: boolean;
  /** It calls functions, accepts instructions and writes JSON on request. */
  readonly able: boolean;
  readonly thinking: Thinking;
  /** Its calls come back signed: from the third generation on. */
  readonly signs: boolean;
  readonly penalties: boolean;
  readonly logprobs: boolean;
  readonly candidatesMax: number;
  readonly outputMax: number;
}

export type Thinking =
  | { readonly kind: 'none' }
  /** `off`: it accepts a budget of 0. */
  | { readonly kind: 'budget'; readonly min: number; readonly max: number; readonly off: boolean }
  | { readonly kind: 'level'; readonly levels: readonly string[] };

const newest = 3.8;

export function modelFacts(id: string): ModelFacts {
  const gemma = id.startsWith('gemma-');
  const version = /gemini-(?:[a-z-]*?)(\d+(?:\.\d+)?)/.exec(id)?.[1];
  const generation = gemma
    ? 0
    : version === undefined
      ? id.startsWith('sim-')
        ? 2.5
        : newest
      : Number(version);
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
    // Flash models before 3.7 also have the level for almost no thinking.
    if (/flash/.test(id) && generation < 3.7) levels.push('MINIMAL');
    return { kind: 'level', levels };
  }
  if (id.includes('-pro')) return { kind: 'budget', min: 128, max: 32_768, off: false };
  return { kind: 'budget', min: id.includes('flash-lite') ? 512 : 0, max: 24_576, off: true };
}

/** Models that think by default: all that think, except Flash-Lite. */
export const thinksUnasked = ({ id, thinking }: ModelFacts): boolean =>
  thinking.kind !== 'none' && !/2\.5-flash-lite/.test(id);

/**
 * The ids that `models` lists; other `gemini-…` and `gemma-…` ids also work, as aliases of one of
 * these.
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
