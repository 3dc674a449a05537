import type { SupportRow } from './rows.ts';
import { openrouterOnly, toolHints } from './unsupported.ts';

/**
 * The members that OpenAI's models take, on chat and on `/responses`; Azure sells the same models.
 */

const models = 'developers.openai.com/api/docs/models, 2026-08';
const reasoningGuide = 'developers.openai.com/api/docs/guides/reasoning, 2026-08';
const chatReference = 'developers.openai.com/api/docs/api-reference/chat/create, 2026-08';

/** Models that reason, or can. */
export const reasoningModels = /^(?:o[1-9]|gpt-(?:[5-9]|1\d)(?!\d))(?!.*-chat)/;
const nonReasoningModels = /^(?:gpt-[34](?!\d)|chatgpt-|gpt-\d[\d.]*-chat)/;

/**
 * Efforts by model. Models 5.1 to 5.4 reason only when a request sets an effort, earlier and later
 * ones unless it turns reasoning off.
 */
const efforts: readonly SupportRow[] = [
  { source: reasoningGuide, models: nonReasoningModels, effort: { takes: [], usual: 'none' } },
  { source: reasoningGuide, models: /^o[1-9]/, effort: { takes: ['low', 'medium', 'high'] } },
  {
    source: models,
    models: /^gpt-5(?:-(?!chat)|$)/,
    effort: { takes: ['minimal', 'low', 'medium', 'high'] },
  },
  { source: models, models: /^gpt-5-codex/, effort: { takes: ['low', 'medium', 'high'] } },
  { source: models, models: /^gpt-5-pro/, effort: { takes: ['high'] } },
  {
    source:
      'learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning, 2026-08; opencode#4451, 2025-11',
    models: /^gpt-5\.1(?!\d)(?!.*-chat)/,
    effort: { takes: ['none', 'low', 'medium', 'high'], usual: 'none' },
  },
  { source: models, models: /^gpt-5\.1-codex/, effort: { takes: ['low', 'medium', 'high'] } },
  {
    source: models,
    models: /^gpt-5\.1-codex-max/,
    effort: { takes: ['low', 'medium', 'high', 'xhigh'] },
  },
  {
    // 5.4 without an effort was recorded with functions on chat, answered with 200.
    source: 'developers.openai.com/api/docs/guides/latest-model, 2026-03; recorded 2026-08',
    models: /^gpt-5\.[234](?!\d)(?!.*-chat)/,
    effort: { takes: ['none', 'low', 'medium', 'high', 'xhigh'], usual: 'none' },
  },
  {
    source: models,
    models: /^gpt-5\.[23]-codex/,
    effort: { takes: ['low', 'medium', 'high', 'xhigh'] },
  },
  {
    source: models,
    models: /^gpt-5\.5(?!\d)(?!.*-chat)/,
    effort: { takes: ['none', 'low', 'medium', 'high', 'xhigh'] },
  },
  { source: models, models: /^gpt-5\.[2-5]-pro/, effort: { takes: ['medium', 'high', 'xhigh'] } },
  {
    source: models,
    models: /^gpt-(?:5\.(?:[6-9](?!\d)|[1-9]\d)|(?:[6-9]|1\d)(?!\d))(?!.*-chat)/,
    effort: { takes: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
  },
  {
    // Reasoning cannot be turned off: "none" is refused (public issues since 2026-09).
    source: 'developers.openai.com/api/docs/models, 2026-11',
    models: /^gpt-6(?:-astra|\.1-sol|\.2-)/,
    effort: { takes: ['low', 'medium', 'high', 'xhigh', 'max'] },
  },
];

/**
 * While a model reasons it takes only the default values of sampling (vercel/ai#10932), and no
 * penalties ("Unsupported parameter: 'presence_penalty' is not supported with this model":
 * nextai-translator#1781). Clients with a settings form send penalties of 0.
 */
const whileReasoning = {
  temperature: { takes: [1], otherwise: 'drop' },
  top_p: { takes: [1], otherwise: 'drop' },
  presence_penalty: { takes: [], idle: [0], otherwise: 'drop' },
  frequency_penalty: { takes: [], idle: [0], otherwise: 'drop' },
} satisfies SupportRow['members'];

/** On `/responses` the members themselves are refused, so that defaults are left out, too. */
const responsesWhileReasoning = {
  ...whileReasoning,
  temperature: { takes: [], idle: [1], otherwise: 'drop' },
  top_p: { takes: [], idle: [1], otherwise: 'drop' },
} satisfies SupportRow['members'];

/** Other vendors' members for sampling and reasoning. */
const othersSampling = [
  'top_k',
  'min_p',
  'repetition_penalty',
  'thinking_budget',
  'include_reasoning',
  'reasoning_format',
] as const;

export const openaiChatSupport: readonly SupportRow[] = [
  ...efforts,
  // Chat lacks the highest effort of /responses.
  {
    source: 'developers.openai.com/api/docs/models, 2026-11',
    models: /^gpt-6\.1-sol/,
    effort: { takes: ['low', 'medium', 'high', 'xhigh'] },
  },
  {
    source: chatReference,
    refusesItself: true,
    stops: 4,
    tools: ['function', 'custom'],
    allowedTools: true,
    messages: {
      assistant: ['refusal', 'audio.id', 'function_call', 'annotations', 'parsed'],
      partsLack: ['cache_control'],
      documents: 'file',
    },
    toolsLack: toolHints,
    // Members of other vendors: "Unrecognized request argument supplied".
    lacks: ['client_metadata', ...othersSampling, ...openrouterOnly],
  },
  {
    source: 'developers.openai.com/api/docs/guides/structured-outputs#supported-schemas, 2026-08',
    // "All fields must be required", "additionalProperties: false must always be set in objects".
    strict: 'closed',
  },
  {
    // "'tool_choice' is only allowed when 'tools' are specified", and so is `parallel_tool_calls`.
    source: chatReference,
    while: 'toolless',
    refusesItself: true,
    members: {
      parallel_tool_calls: { takes: [], idle: [true], otherwise: 'drop' },
      tool_choice: {
        takes: [],
        idle: ['none', 'auto'],
        otherwise: { refuse: 'there are no tools to choose among.' },
      },
    },
  },
  {
    source: chatReference,
    models: /^(?!.*search)/,
    refusesItself: true,
    lacks: ['web_search_options'],
  },
  {
    source: chatReference,
    models: /^(?:gpt-[34](?!\d)|chatgpt-|o[1-9])/,
    refusesItself: true,
    tools: ['function'],
    members: { verbosity: { takes: ['medium'], otherwise: 'drop' } },
  },
  {
    source: reasoningGuide,
    models: reasoningModels,
    limit: { name: 'max_completion_tokens', takesBoth: false },
    lacks: ['prediction'],
  },
  {
    source: reasoningGuide,
    while: 'reasoning',
    refusesItself: true,
    members: whileReasoning,
    lacks: ['logprobs', 'top_logprobs', 'logit_bias'],
  },
  // "Not supported with latest reasoning models o3 and o4-mini", and refused by gpt-5 and its
  // successors.
  {
    source: chatReference,
    models: /^(?:o3(?!-mini)|o[4-9]|gpt-(?:[5-9]|1\d)(?!\d)(?!.*-chat))/,
    stops: 0,
  },
  {
    source: 'run-llama/llama_index#20865, 2026-03',
    models: /^o[1-9]/,
    lacks: ['parallel_tool_calls'],
  },
];

/** Chat completions that are sent to `/responses`: the members that this endpoint lacks. */
export const openaiChatOverResponsesSupport: readonly SupportRow[] = [
  ...efforts,
  {
    source: 'developers.openai.com/api/docs/guides/migrate-to-responses, 2026-08',
    // Models on this path reason.
    members: responsesWhileReasoning,
    lacks: [
      'logit_bias',
      'seed',
      'prediction',
      'logprobs',
      'top_logprobs',
      'n',
      'modalities',
      'web_search_options',
      'moderation',
      'client_metadata',
      ...othersSampling,
      ...openrouterOnly,
    ],
  },
];

export const openaiResponsesSupport: readonly SupportRow[] = [
  ...efforts,
  // Codex sends it with every request; no page documents it (9router#1157, SEMOSS#2532).
  {
    source: 'developers.openai.com/api/docs/api-reference/responses/create, 2026-08',
    lacks: ['client_metadata'],
  },
  { source: reasoningGuide, models: nonReasoningModels, lacks: ['reasoning'] },
  {
    source: models,
    models: /^(?:gpt-[34](?!\d)|chatgpt-|o[1-9])/,
    members: { 'text.verbosity': { takes: ['medium'], otherwise: 'drop' } },
  },
  {
    source: reasoningGuide,
    while: 'reasoning',
    members: responsesWhileReasoning,
    lacks: ['top_logprobs'],
  },
  {
    source: 'run-llama/llama_index#20865, 2026-03',
    models: /^o[1-9]/,
    lacks: ['parallel_tool_calls'],
  },
];
