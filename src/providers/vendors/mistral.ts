import { completionsAnsweredAsChat, completionsOverChat } from '../bridges/completions-over-chat.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import { asksPlainly } from '../wire/openai-completions-ask.ts';
import { perCall } from '../wire/per-call.ts';
import { defineVendor } from '../vendor.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { openaiModerations } from '../wire/openai-moderations.ts';

const faults: readonly FaultRule[] = [
  { text: /too large for model with \d+ maximum context length/i, kind: 'context_length' },
  { code: /^invalid_model$/, kind: 'unknown_model' },
  { status: 422, kind: 'bad_request' },
];

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
  faults,
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
    embeddings: openaiEmbeddings({ textOnly: true, rename: { dimensions: 'output_dimension' }, drop: [{ member: 'user' }], faults }),
    moderations: openaiModerations({ faults }),
    completions: perCall((call) => (call.upstreamModel.startsWith('codestral') && asksPlainly(call) ? fim : bridged), chat.fault),
  },
});
