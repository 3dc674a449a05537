import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** platform.moonshot.cn/docs/api/chat and /docs/api/errors, 2026-08. */
export const moonshot = defineVendor({
  id: 'moonshot',
  provider: 'moonshot_ai',
  baseUrl: 'https://api.moonshot.cn/v1',
  consoleUrl: 'https://platform.moonshot.cn',
  env: { apiKey: 'MOONSHOT_API_KEY' },
  speaks: {
    chat: openaiChat({
      // "thinking is enabled but reasoning_content is missing in assistant tool call message" (public reports, 2026-01 to 2026-05)
      thoughtsWithCalls: /^kimi-k(?:2\.[5-9]|[3-9])|thinking/,
      // Images and videos as base64 or by file id alone (platform.moonshot.cn/docs/guide/use-kimi-vision-model, 2026-08).
      readsAddresses: [],
      models: [
        {
          // Sampling is fixed from k2.5 on; other values are refused.
          models: /^kimi-k(2\.[5-9]|[3-9])/,
          drop: [
            { member: 'temperature' },
            { member: 'top_p' },
            { member: 'presence_penalty' },
            { member: 'frequency_penalty' },
            { member: 'n', but: 1 },
          ],
        },
      ],
      faults: [
        { code: /^exceeded_current_quota_error$/, kind: 'quota' },
        { code: /^engine_overloaded_error$/, kind: 'overloaded' },
        { code: /^content_filter$/, kind: 'content_policy' },
        { status: 400, text: /exceeded model token limit/i, kind: 'context_length' },
      ],
    }),
  },
});
