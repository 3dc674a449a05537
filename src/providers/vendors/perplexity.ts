import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { defineVendor } from '../vendor.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import { openaiOnlyExcept, openrouterOnly } from '../support/unsupported.ts';
import type { SupportRow } from '../support/rows.ts';

const reference = 'docs.perplexity.ai/api-reference/chat-completions-post, 2026-08';

const takes: readonly SupportRow[] = [
  {
    source: reference,
    limit: { name: 'max_tokens', takesBoth: false },
    // Roles are system, user, assistant and tool.
    developer: 'system',
    lacks: [
      ...openaiOnlyExcept('web_search_options'),
      ...openrouterOnly,
      'tools',
      'tool_choice',
      'functions',
      'function_call',
      'parallel_tool_calls',
      'n',
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'seed',
      'user',
    ],
    stops: 16,
    members: { temperature: { within: [0, 1.99] } }, // "0 <= x < 2"
    messages: { lacks: { assistant: ['name'] }, assistant: ['reasoning_steps'] },
    effort: { takes: [], usual: 'none' },
  },
  {
    source: reference,
    models: /deep-research|reasoning/,
    effort: { takes: ['minimal', 'low', 'medium', 'high'] },
  },
];

/**
 * docs.perplexity.ai/api-reference/chat-completions-post, 2026-08. Every chunk repeats the message,
 * the usage and the sources.
 */
export const perplexity = defineVendor({
  id: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  consoleUrl: 'https://www.perplexity.ai/settings/api',
  env: { apiKey: 'PERPLEXITY_API_KEY' },
  // All Sonar models search; deep research counts the tokens that it reads
  // (docs.perplexity.ai/getting-started/pricing, 2026-08).
  readsBeyond: (model) => /sonar/.test(model),
  adapters: {
    // docs.perplexity.ai/api-reference/embeddings-post, 2026-08: signed bytes unless bits are
    // requested; a path unlike those of the other endpoints.
    embeddings: openaiEmbeddings({
      path: '/v1/embeddings',
      textOnly: true,
      bytes: true,
      drop: [{ member: 'encoding_format' }],
    }),
    chat: openaiChat({
      takes,
      // Sonar's reasoning models think aloud before they answer; no other text begins so.
      thinkTags: true,
      // "After the (optional) system message(s), user or tool message(s) should alternate with
      // assistant message(s)" (opencode#9416, perplexityai/api-discussion#265).
      alternates: true,
      faults: [{ code: /^too_many_prompt_tokens$/, kind: 'context_length' }],
    }),
  },
});
