import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';

/** docs.mistral.ai/api, 2026-08. Unknown members are refused with 422. */
export const mistral = defineVendor({
  id: 'mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  env: { apiKey: 'MISTRAL_API_KEY' },
  speaks: {
    chat: openaiChat({
      // Usage comes on the finish chunk unasked.
      streamOptions: false,
      outputLimit: { name: 'max_tokens', takesBoth: false },
      rename: { seed: 'random_seed' },
      toolIds: { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
      drop: [
        { member: 'user' },
        { member: 'logit_bias' },
        { member: 'store' },
        { member: 'service_tier' },
        { member: 'logprobs', but: true },
        // docs.mistral.ai/capabilities/reasoning, 2026-08
        { member: 'reasoning_effort', but: ['high', 'none'] },
      ],
      faults: [
        { text: /too large for model with \d+ maximum context length/i, kind: 'context_length' },
        { status: 422, kind: 'bad_request' },
      ],
    }),
  },
});
