import { openaiChat } from '../formats/openai-chat/adapter.ts';
import type { SupportRow } from '../support/rows.ts';
import { defineVendor } from '../vendor.ts';

const takes: readonly SupportRow[] = [
  // The roles depend on the provider to which it routes; every provider knows `system`.
  {
    source: 'huggingface.co/docs/inference-providers/tasks/chat-completion, 2026-08',
    developer: 'system',
    messages: { assistant: ['reasoning_content', 'reasoning'] },
  },
];

/**
 * The router to many inference providers:
 * huggingface.co/docs/inference-providers/tasks/chat-completion, 2026-08.
 */
export const huggingface = defineVendor({
  id: 'huggingface',
  baseUrl: 'https://router.huggingface.co/v1',
  consoleUrl: 'https://huggingface.co/settings/tokens',
  env: { apiKey: 'HF_TOKEN' },
  adapters: {
    chat: openaiChat({
      takes,
      faults: [{ text: /exceeded your monthly included credits/i, kind: 'quota' }],
    }),
  },
});
