import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** inference-docs.cerebras.ai/api-reference/chat-completions and /support/error, 2026-08. Errors are not wrapped in `error`. */
export const cerebras = defineVendor({
  id: 'cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  consoleUrl: 'https://cloud.cerebras.ai',
  env: { apiKey: 'CEREBRAS_API_KEY' },
  speaks: {
    chat: openaiChat({
      faults: [
        { code: /^(queue_exceeded|too_many_requests_error)$/, kind: 'rate_limited' },
        { code: /^(token_quota_exceeded|request_quota_exceeded)$/, kind: 'rate_limited' },
      ],
    }),
  },
});
