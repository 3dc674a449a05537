/** What a generation of Claude takes. */
export interface Traits {
  /**
   * What is asked for when the client sets no limit, thinking included, because `max_tokens` is
   * required: all that the model is documented to write.
   */
  readonly outputUsual: number;
  /** More than this it has never been seen to take. */
  readonly outputMax: number;
  /** How thinking is asked for: not at all, by a budget of tokens, or by an effort alone. */
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /**
   * What "no thinking" is in its words; `'never'` where it always thinks, and then the least effort
   * is the nearest.
   */
  readonly rest: 'disabled' | 'between_tools' | 'never';
  /** Takes the effort `xhigh`. */
  readonly xhigh: boolean;
  /** Thinking is told only when asked for: `thinking.display`. */
  readonly silent: boolean;
  /** `temperature`, `top_p` and `top_k`: all of them, one of temperature and top_p, or none. */
  readonly sampling: 'any' | 'one' | 'none';
  /** A conversation may end with the assistant's words, which are then continued. */
  readonly prefill: boolean;
  /** `tool_choice` may be `any` or `tool`. */
  readonly forcing: boolean;
  /** `output_config.format` and `strict` tools. */
  readonly structured: boolean;
}

const old: Traits = {
  outputUsual: 4096,
  outputMax: 4096,
  thinking: 'none',
  rest: 'disabled',
  xhigh: false,
  silent: false,
  sampling: 'any',
  prefill: true,
  forcing: true,
  structured: false,
};
const stranger: Traits = { ...old, outputMax: Number.POSITIVE_INFINITY };
const claude35: Traits = { ...old, outputUsual: 8192, outputMax: 8192 };
const claude37: Traits = {
  ...claude35,
  outputUsual: 64_000,
  outputMax: 128_000,
  thinking: 'budget',
};
const sonnet40: Traits = { ...claude37, outputMax: 64_000 };
const opus40: Traits = { ...sonnet40, outputUsual: 32_000, outputMax: 32_000 };
const opus41: Traits = { ...opus40, sampling: 'one', structured: true };
const claude45: Traits = { ...opus41, outputUsual: 64_000, outputMax: 64_000 };
const sonnet46: Traits = { ...claude45, outputMax: 128_000, thinking: 'adaptive', prefill: false };
const opus46: Traits = { ...sonnet46, outputUsual: 128_000 };
const claude47: Traits = { ...opus46, xhigh: true, silent: true, sampling: 'none' };
const fable50: Traits = { ...claude47, rest: 'never' };
const claude55: Traits = { ...fable50, forcing: false };
const sonnet55: Traits = { ...claude55, rest: 'between_tools' };

/** Families that came after Opus: their 5.1 is of the generation of Opus 5.5. */
const newFamilies = new Set(['fable', 'mythos']);

/**
 * `claude-opus-4-5-20251101`, `anthropic.claude-sonnet-4-20250514-v1:0`, `claude-opus-4@20250514`,
 * `claude-sonnet-4.5`, `claude-3-7-sonnet-latest`.
 */
const named = /claude-(?:([a-z]+)-(\d)(?:[-.](\d{1,2})(?!\d))?|(\d)(?:[-.](\d))?-([a-z]+))/;

/**
 * The traits of a model by its upstream id:
 * platform.claude.com/docs/en/about-claude/models/overview, /build-with-claude/adaptive-thinking,
 * /build-with-claude/structured-outputs and what's new in 4.6, 4.7 and 5.5, as of 2026-11. A Claude
 * of an unknown name is taken for the newest, which refuses the most; a model that is no Claude for
 * the oldest, which asks the least.
 */
export function traitsOf(model: string): Traits {
  const id = model.toLowerCase();
  const match = named.exec(id);
  if (!id.includes('claude')) return stranger;
  if (!match) return /claude-(instant|v?[12])/.test(id) ? old : claude55;
  const family = match[1] ?? match[6] ?? '';
  const version = Number(match[2] ?? match[4]) * 10 + Number(match[3] ?? match[5] ?? 0);
  if (newFamilies.has(family)) return version <= 50 ? fable50 : claude55;
  if (version < 35) return old;
  if (version < 37) return claude35;
  if (version < 40) return claude37;
  if (version < 41) return family === 'opus' ? opus40 : sonnet40;
  if (version < 45) return family === 'opus' ? opus41 : sonnet40;
  if (version < 46) return claude45;
  if (version < 47) return family === 'opus' ? opus46 : sonnet46;
  if (version < 55) return claude47;
  return family === 'sonnet'
    ? sonnet55
    : family === 'haiku' && version === 55
      ? claude47
      : claude55;
}
