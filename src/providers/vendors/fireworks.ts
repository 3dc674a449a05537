import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** docs.fireworks.ai/api-reference/post-chatcompletions and /guides/inference-error-codes, 2026-08. */
export const fireworks = defineVendor({
  id: 'fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  env: { apiKey: 'FIREWORKS_API_KEY' },
  speaks: {
    chat: openaiChat({
      faults: [
        { status: 412, kind: 'quota' },
        { status: 400, text: /prompt is too long/i, kind: 'context_length' },
      ],
    }),
  },
});
