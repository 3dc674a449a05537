import type { VendorCall } from '../../adapter.ts';
import { type ClaudeTraits, claudeTraits } from '../anthropic-messages/models.ts';
import type { JsonObject } from '../../../base/json.ts';

/** What a model behind Converse takes beyond the features of all models. */
export interface ConverseModel {
  /**
   * The traits in the terms of Claude's own format, so that tools, choices and structured outputs
   * are planned with the same code.
   */
  readonly traits: ClaudeTraits;
  /** The model thinks as Claude does, and signs its thinking. */
  readonly claude: boolean;
  /** The conversation may begin with a message of the assistant. */
  readonly assistantFirst: boolean;
  /** The strictest `toolChoice`: a tool by name, any tool, or none at all. */
  readonly chooses: 'named' | 'any' | 'nothing';
  /** Where the model takes `cachePoint` blocks. */
  readonly caches: 'nowhere' | 'messages' | 'everywhere';
  /** `toolResult.status`. */
  readonly resultStatus: boolean;
  /** Calls and their results must be in turns of their own, without text beside them. */
  readonly apart: boolean;
  /** `additionalModelRequestFields` for sampling by the `k` likeliest tokens. */
  readonly topK: ((k: number) => JsonObject) | undefined;
  /** The same for `reasoning_effort`. For some models it matters whether the output is limited. */
  readonly effort: ((effort: string, isLimited: boolean) => ConverseEffort) | undefined;
}

export interface ConverseEffort {
  readonly fields: JsonObject;
  /** Sampling is refused beside this effort. */
  readonly fixed?: boolean;
}

interface Row extends Partial<Omit<ConverseModel, 'traits'>> {
  readonly models: RegExp;
  readonly structured?: RegExp;
  readonly prefill?: boolean;
}

const topK = (k: number): JsonObject => ({ top_k: k });
const threeLevels = (effort: string): string =>
  effort === 'minimal' || effort === 'none'
    ? 'low'
    : effort === 'xhigh' || effort === 'max'
      ? 'high'
      : effort;

/**
 * The fields for Nova 2. At its highest effort it takes no output limit and no sampling, so that a
 * limited request gets the next lower one
 * (docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html, 2026-08).
 */
function novaEffort(effort: string, isLimited: boolean): ConverseEffort {
  if (effort === 'none') return { fields: { reasoningConfig: { type: 'disabled' } } };
  const level = threeLevels(effort) === 'high' && isLimited ? 'medium' : threeLevels(effort);
  return {
    fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: level } },
    fixed: level === 'high',
  };
}

const nova = {
  chooses: 'named',
  caches: 'messages',
  resultStatus: true,
  prefill: true,
  topK: (k: number) => ({ inferenceConfig: { topK: k } }),
} as const;

const claude = {
  claude: true,
  chooses: 'named',
  caches: 'everywhere',
  resultStatus: true,
  prefill: true,
  topK,
} as const;

/**
 * Families by their ids, as of 2026-11:
 * docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html, prompt-caching.html,
 * inference-reasoning.html, model-parameters.html and APIReference/API_runtime_ToolChoice.html. The
 * first row that matches decides; a model without a row gets the fewest features.
 */
const rows: readonly Row[] = [
  // Claude 3.5 Sonnet refuses a conversation that the assistant begins
  // (github.com/langgenius/dify/issues/12340, 2025-01).
  { models: /claude-(3|instant|v\d)/, ...claude },
  {
    models: /claude/,
    ...claude,
    assistantFirst: true,
    structured: /claude-(?!opus-4-1|(opus|sonnet)-4-2)/,
  },
  { models: /nova-2/, ...nova, effort: novaEffort },
  { models: /nova/, ...nova },
  {
    models: /mistral|pixtral/,
    chooses: 'any',
    structured: /mistral-large-3|ministral|magistral|voxtral/,
    topK,
  },
  { models: /llama/, apart: true },
  {
    models: /gpt-oss/,
    structured: /./,
    effort: (effort) => ({ fields: { reasoning_effort: threeLevels(effort) } }),
  },
  {
    models: /qwen/,
    structured: /qwen3/,
    effort: (effort) => ({
      fields: effort === 'none' ? {} : { reasoning_config: threeLevels(effort) },
    }),
  },
  { models: /deepseek/, structured: /v3/ },
  { models: /minimax|kimi|nemotron|gemma-3/, structured: /./ },
  { models: /cohere|command-r/, topK: (k) => ({ k }) },
];

/** Ids that do not name the model behind them. */
const opaque =
  /:(application-inference-profile|provisioned-model|imported-model|custom-model(-deployment)?|prompt|endpoint)\//;

/**
 * The model of a call, by the vendor's id, or by the public id where the vendor's is only an
 * address.
 */
export function converseModel({ upstreamModel, publicModel }: VendorCall): ConverseModel {
  const id = (opaque.test(upstreamModel) ? publicModel : upstreamModel).toLowerCase();
  const row: Row = rows.find(({ models }) => models.test(id)) ?? { models: /./ };
  const own = claudeTraits(id);
  return {
    traits: {
      ...own,
      structured: row.structured?.test(id) === true,
      prefill: own.prefill && row.prefill === true,
    },
    claude: row.claude === true,
    assistantFirst: row.assistantFirst === true,
    chooses: row.chooses ?? 'nothing',
    caches: row.caches ?? 'nowhere',
    resultStatus: row.resultStatus === true,
    apart: row.apart === true,
    topK: row.topK,
    effort: row.effort,
  };
}
