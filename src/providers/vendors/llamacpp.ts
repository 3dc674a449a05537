import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { rerank } from '../formats/rerank.ts';
import type { SupportRow } from '../support/rows.ts';
import { defineVendor, pathUnderV1 } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { code: /^exceed_context_size_error$/, kind: 'context_length' },
  // Recorded: an input beyond the batch of an embedding server is a 500, a server that makes no
  // vectors a 501.
  { status: 500, text: /is too large to process/i, kind: 'context_length' },
  { status: 501, kind: 'unknown_model' },
];

const takes: readonly SupportRow[] = [
  {
    source: 'github.com/ggml-org/llama.cpp tools/server/README.md, 2026-08',
    limit: { name: 'max_tokens', takesBoth: false },
    // The model's template decides, and many refuse it (ggml-org/llama.cpp#20079, 2026-03).
    developer: 'system',
    messages: { assistant: ['reasoning_content'] },
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
  pathFor: pathUnderV1,
  adapters: {
    chat: openaiChat({
      takes,
      thinkTags: true,
      // A self-hosted server would fetch addresses inside its own network.
      readsAddresses: [],
      faults,
    }),
    completions: openaiCompletions({ faults }),
    embeddings: openaiEmbeddings({ faults }),
    rerank: rerank({ faults }),
  },
});
