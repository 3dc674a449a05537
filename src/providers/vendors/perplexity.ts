import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';

/** docs.perplexity.ai/api-reference/chat-completions-post, 2026-08. Every chunk repeats the message, the usage and the sources. */
export const perplexity = defineVendor({
  id: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  consoleUrl: 'https://www.perplexity.ai/settings/api',
  env: { apiKey: 'PERPLEXITY_API_KEY' },
  speaks: {
    // docs.perplexity.ai/api-reference/embeddings-post, 2026-08: signed bytes unless asked for bits; no path of the others.
    embeddings: openaiEmbeddings({
      path: '/v1/embeddings',
      textOnly: true,
      bytes: true,
      drop: [{ member: 'encoding_format' }],
    }),
    chat: openaiChat({
      outputLimit: { name: 'max_tokens', takesBoth: false },
      // Sonar's reasoning models think aloud before they answer; no other text begins so.
      thinkTags: true,
      faults: [{ code: /^too_many_prompt_tokens$/, kind: 'context_length' }],
    }),
  },
});
