import { openaiChat } from '../wire/openai-chat.ts';
import type { TakesRow } from '../takes/contract.ts';
import { defineVendor } from '../vendor.ts';

const takes: readonly TakesRow[] = [
  // Which roles there are is up to the provider that it routes to; each knows a system.
  {
    source: 'huggingface.co/docs/inference-providers/tasks/chat-completion, 2026-08',
    developer: 'system',
    turns: { assistant: ['reasoning_content', 'reasoning'] },
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
  speaks: {
    chat: openaiChat({
      takes,
      faults: [{ text: /exceeded your monthly included credits/i, kind: 'quota' }],
    }),
  },
});
