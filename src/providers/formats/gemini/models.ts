import type { ReasoningRequest } from '../anthropic-messages/models.ts';

/** The facts about a model that its request depends on, read from its id. */
export interface GeminiModel {
  /**
   * 2.5, 3, 3.1 …; aliases such as `gemini-flash-latest` count as the newest; undefined for other
   * models (Gemma, a tuned model's number).
   */
  readonly generation: number | undefined;
  readonly id: string;
}

export function geminiModel(id: string): GeminiModel {
  const version = /gemini-(?:[a-z-]*?)(\d+(?:\.\d+)?)/.exec(id)?.[1];
  return {
    id,
    generation:
      version === undefined
        ? /gemini-.*latest/.test(id)
          ? Number.POSITIVE_INFINITY
          : undefined
        : Number(version),
  };
}

/**
 * From this generation on, models think in levels, sign their calls, and take a schema for the
 * answer beside tools (ai.google.dev/gemini-api/docs/gemini-3, 2026-08).
 */
export const isThird = (model: GeminiModel): boolean => (model.generation ?? 0) >= 3;

/**
 * Gemma before its fourth generation takes no system instruction
 * (ai.google.dev/gemma/docs/core/prompt-structure, 2026-06).
 */
export const lacksSystem = (model: GeminiModel): boolean => /^gemma-(?:[123])/.test(model.id);

/**
 * Other models refuse penalties except zero: "Penalty is not enabled for this model"
 * (github.com/google-gemini/cookbook/issues/1290, 2026-07).
 */
export const takesPenalties = (model: GeminiModel): boolean => model.generation === 2;

/**
 * From 2.5 on, models fetch `https://…` addresses themselves (ai.google.dev/api/generate-content,
 * 2026-08).
 */
export const fetchesAddresses = (model: GeminiModel): boolean => (model.generation ?? 0) >= 2.5;

/**
 * Models of the third generation that take the level MINIMAL; the others answer it with a 400
 * (ai.google.dev/api/generate-content, 2026-08; ai.google.dev/gemini-api/docs/thinking, 2026-11).
 */
const takesMinimal = /^gemini-(?:3-flash|3\.1-flash-lite|3\.5-flash)/;
/** The first model of the generation had two levels only. */
const lacksMedium = /^gemini-3-pro/;

function levelOf(effort: string, model: GeminiModel): string | undefined {
  switch (effort) {
    case 'none':
    case 'minimal':
      return takesMinimal.test(model.id) ? 'MINIMAL' : 'LOW';
    case 'low':
      return 'LOW';
    case 'medium':
      return lacksMedium.test(model.id) ? 'HIGH' : 'MEDIUM';
    case 'high':
    case 'xhigh':
    case 'max':
      return 'HIGH';
    default:
      return undefined;
  }
}

/**
 * The budget of an effort: Google's own numbers (ai.google.dev/gemini-api/docs/openai, 2026-08).
 * Pro cannot stop thinking.
 */
function budgetOf(effort: string, model: GeminiModel): number | undefined {
  const pro = model.id.includes('-pro');
  const budgets: Readonly<Record<string, number>> = {
    none: pro ? 128 : 0,
    minimal: 512,
    low: 1_024,
    medium: 8_192,
    high: 24_576,
    xhigh: pro ? 32_768 : 24_576,
    max: pro ? 32_768 : 24_576,
  };
  return budgets[effort];
}

/**
 * The nearest budget that the model takes (ai.google.dev/gemini-api/docs/thinking, 2026-11): Pro
 * cannot stop thinking, Flash can, Flash-Lite thinks 512 tokens or not at all.
 */
function budgetWithin(budget: number, { id }: GeminiModel): number {
  if (id.includes('-pro')) return Math.min(32_768, Math.max(128, budget));
  if (budget === 0) return 0;
  return Math.min(24_576, Math.max(id.includes('-lite') ? 512 : 1, budget));
}

/** Whether the model thinks; the others refuse a setting for it. */
export const thinks = ({ generation, id }: GeminiModel): boolean =>
  generation !== undefined && generation >= 2.5 && !/-tts|2\.5-flash-image/.test(id);

/**
 * The `thinkingConfig` for the client's request: levels from Gemini 3 on, a budget for 2.5,
 * undefined for models that do not think.
 */
export function thinkingOf(
  { effort, budget }: ReasoningRequest,
  model: GeminiModel,
): object | undefined {
  if (!thinks(model)) return undefined;
  const includeThoughts = effort !== 'none';
  if (isThird(model)) {
    const thinkingLevel = levelOf(effort, model);
    return thinkingLevel === undefined ? undefined : { thinkingLevel, includeThoughts };
  }
  const thinkingBudget =
    budget !== undefined && effort !== 'none'
      ? budgetWithin(budget, model)
      : budgetOf(effort, model);
  return thinkingBudget === undefined ? undefined : { thinkingBudget, includeThoughts };
}
