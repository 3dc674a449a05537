import { openaiChat } from '../wire/openai-chat.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [{ code: /^exceed_context_size_error$/, kind: 'context_length' }];

/** github.com/ggml-org/llama.cpp tools/server/README.md, 2026-08. `max_tokens` is read by every version. */
export const llamacpp = defineVendor({
  id: 'llamacpp',
  baseUrl: 'http://127.0.0.1:8080/v1',
  env: { apiKey: 'LLAMACPP_API_KEY', baseUrl: 'LLAMACPP_BASE_URL' },
  place: (prefix, path) => (prefix === '' ? `/v1${path}` : path),
  speaks: {
    chat: openaiChat({
      outputLimit: { name: 'max_tokens', takesBoth: false },
      thinkTags: true,
      faults,
    }),
    completions: openaiCompletions({ faults }),
  },
});
