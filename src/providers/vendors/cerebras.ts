import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { defineVendor } from '../vendor.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import type { SupportRow } from '../support/rows.ts';

const reference = 'inference-docs.cerebras.ai/api-reference/chat-completions, 2026-08';
const reasoning = 'inference-docs.cerebras.ai/capabilities/reasoning, 2026-08';

/** Unknown members are refused: "property '…' is unsupported", code `wrong_api_format`. */
const takes: readonly SupportRow[] = [
  {
    source: reference,
    closed: true,
    refusesItself: true,
    stops: 4,
    members: { temperature: { within: [0, 1.5] } },
    tools: ['function'],
    toolsLack: toolHints,
    lacks: [
      ...openaiOnlyExcept('prediction'),
      ...openrouterOnly,
      'n',
      'logit_bias',
      'top_k',
      'min_p',
      'repetition_penalty',
      'thinking_budget',
      'include_reasoning',
    ],
  },
  // "messages.2.assistant.reasoning_content … is unsupported" (Kilo-Org/kilocode#10375, 2026-05;
  // anomalyco/opencode#33413, 2026-06).
  {
    source: 'Kilo-Org/kilocode#10375, 2026-05',
    messages: {
      assistant: [],
      partsLack: ['cache_control', 'prompt_cache_breakpoint'],
    },
  },
  { source: reasoning, effort: { takes: [], usual: 'none' } },
  { source: reasoning, models: /gpt-oss/, effort: { takes: ['low', 'medium', 'high'] } },
  // `none` is the documented way to turn reasoning off; other values mean the model's default.
  { source: reasoning, models: /glm/, effort: { takes: ['none'] } },
  { source: reasoning, models: /qwen-3-\d+b(?!.*instruct)/, effort: { takes: [] } },
];

/**
 * inference-docs.cerebras.ai/api-reference/chat-completions and /support/error, 2026-08. Errors are
 * not wrapped in `error`.
 */
export const cerebras = defineVendor({
  id: 'cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  consoleUrl: 'https://cloud.cerebras.ai',
  env: { apiKey: 'CEREBRAS_API_KEY' },
  adapters: {
    chat: openaiChat({
      takes,
      faults: [
        { code: /^(queue_exceeded|too_many_requests_error)$/, kind: 'rate_limited' },
        { code: /^(token_quota_exceeded|request_quota_exceeded)$/, kind: 'rate_limited' },
      ],
    }),
  },
});
