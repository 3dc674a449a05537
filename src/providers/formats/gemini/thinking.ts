import { type ReasoningCall, reasoningRequest } from '../../conversation/reasoning-request.ts';
import { type GeminiModel, isThird } from './models.ts';

/** Whether the model thinks; the others refuse a setting for it. */
export const thinks = ({ generation, id }: GeminiModel): boolean =>
  generation !== undefined && generation >= 2.5 && !/-tts|2\.5-flash-image/.test(id);

/**
 * The `thinkingConfig` for the client's request: levels from Gemini 3 on, a budget for 2.5.
 * Undefined where the client says nothing of thinking, and for models that do not think.
 */
export function thinkingConfigOf(call: ReasoningCall, model: GeminiModel): object | undefined {
  const reasoning = reasoningRequest(call);
  if (reasoning === undefined || !thinks(model)) return undefined;
  const { effort, budget } = reasoning;
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
