import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** console.groq.com/docs/api-reference and /docs/errors, 2026-08. */
export const groq = defineVendor({
  id: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  env: { apiKey: 'GROQ_API_KEY' },
  speaks: {
    chat: openaiChat({
      // console.groq.com/docs/reasoning, 2026-08: other models do not reason and refuse to be told how much.
      models: [{ models: /^(?!openai\/gpt-oss|qwen)/, drop: [{ member: 'reasoning_effort' }] }],
      faults: [
        { code: /^tool_use_failed$/, kind: 'bad_request' },
        { status: 413, kind: 'context_length' },
        { status: 498, kind: 'overloaded' },
      ],
    }),
  },
});
