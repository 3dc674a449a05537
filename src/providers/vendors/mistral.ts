import { completionsAnsweredAsChat, completionsOverChat } from '../bridges/completions-over-chat.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import { asksPlainly } from '../wire/openai-completions-ask.ts';
import { perCall } from '../wire/per-call.ts';
import { defineVendor } from '../vendor.ts';

const chat = openaiChat({
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
});

/** Fill in the middle (docs.mistral.ai/api/endpoint/fim, 2026-08; recorded): asked as completions are, answered as chat is. */
const fim = completionsAnsweredAsChat(chat, {
  path: '/fim/completions',
  onePrompt: true,
  streamOptions: false,
  rename: { seed: 'random_seed' },
  drop: ['user', 'echo', 'best_of', 'logprobs', 'logit_bias', 'n', 'presence_penalty', 'frequency_penalty'],
});
const bridged = completionsOverChat(chat);

/** docs.mistral.ai/api, 2026-08. Unknown members are refused with 422. */
export const mistral = defineVendor({
  id: 'mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  env: { apiKey: 'MISTRAL_API_KEY' },
  speaks: {
    chat,
    completions: perCall((call) => (call.upstreamModel.startsWith('codestral') && asksPlainly(call) ? fim : bridged), chat.fault),
  },
});
