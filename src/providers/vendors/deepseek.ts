import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** api-docs.deepseek.com/api/create-chat-completion and /quick_start/error_codes, 2026-08. */
export const deepseek = defineVendor({
  id: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  env: { apiKey: 'DEEPSEEK_API_KEY' },
  speaks: {
    chat: openaiChat({
      // `max_completion_tokens` is not documented and would be ignored: then no limit holds.
      outputLimit: { name: 'max_tokens', takesBoth: false },
      faults: [
        { status: 402, kind: 'quota' },
        { status: 400, text: /content exists risk/i, kind: 'content_policy' },
      ],
    }),
  },
});
