import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** The router to many inference providers: huggingface.co/docs/inference-providers/tasks/chat-completion, 2026-08. */
export const huggingface = defineVendor({
  id: 'huggingface',
  baseUrl: 'https://router.huggingface.co/v1',
  consoleUrl: 'https://huggingface.co/settings/tokens',
  env: { apiKey: 'HF_TOKEN' },
  speaks: {
    chat: openaiChat({
      faults: [{ text: /exceeded your monthly included credits/i, kind: 'quota' }],
    }),
  },
});
