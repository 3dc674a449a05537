import { openaiChat } from '../wire/openai-chat.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { status: 412, kind: 'quota' },
  { status: 400, text: /prompt is too long/i, kind: 'context_length' },
];

/** docs.fireworks.ai/api-reference/post-chatcompletions and /guides/inference-error-codes, 2026-08. */
export const fireworks = defineVendor({
  id: 'fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  env: { apiKey: 'FIREWORKS_API_KEY' },
  speaks: {
    chat: openaiChat({
      faults,
    }),
    completions: openaiCompletions({ faults }),
  },
});
