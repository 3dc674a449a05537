import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** docs.perplexity.ai/api-reference/chat-completions-post, 2026-08. Every chunk repeats the message, the usage and the sources. */
export const perplexity = defineVendor({
  id: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  env: { apiKey: 'PERPLEXITY_API_KEY' },
  speaks: {
    chat: openaiChat({
      outputLimit: { name: 'max_tokens', takesBoth: false },
      // Sonar's reasoning models think aloud before they answer; no other text begins so.
      thinkTags: true,
      faults: [{ code: /^too_many_prompt_tokens$/, kind: 'context_length' }],
    }),
  },
});
