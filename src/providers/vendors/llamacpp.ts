import { openaiChat } from '../wire/openai-chat.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { defineVendor } from '../vendor.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { rerank } from '../wire/rerank.ts';
import type { TakesRow } from '../takes/contract.ts';

const faults: readonly FaultRule[] = [
  { code: /^exceed_context_size_error$/, kind: 'context_length' },
  // Recorded: an input beyond the batch of an embedding server is a 500, a server that makes no
  // vectors a 501.
  { status: 500, text: /is too large to process/i, kind: 'context_length' },
  { status: 501, kind: 'unknown_model' },
];

const takes: readonly TakesRow[] = [
  {
    source: 'github.com/ggml-org/llama.cpp tools/server/README.md, 2026-08',
    limit: { name: 'max_tokens', takesBoth: false },
    // the model's template decides, and many refuse it (ggml-org/llama.cpp#20079, 2026-03)
    developer: 'system',
    turns: { assistant: ['reasoning_content'] },
  },
];

/**
 * github.com/ggml-org/llama.cpp tools/server/README.md, 2026-08. `max_tokens` is read by every
 * version.
 */
export const llamacpp = defineVendor({
  id: 'llamacpp',
  baseUrl: 'http://127.0.0.1:8080/v1',
  env: { apiKey: 'LLAMACPP_API_KEY', baseUrl: 'LLAMACPP_BASE_URL' },
  place: (prefix, path) => (prefix === '' ? `/v1${path}` : path),
  speaks: {
    chat: openaiChat({
      takes,
      thinkTags: true,
      // As a server of one's own, it would read addresses inside the network that it stands in.
      readsAddresses: [],
      faults,
    }),
    completions: openaiCompletions({ faults }),
    embeddings: openaiEmbeddings({ faults }),
    rerank: rerank({ faults }),
  },
});
