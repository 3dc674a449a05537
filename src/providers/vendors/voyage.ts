import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { rerank } from '../formats/rerank.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  // Recorded: an unknown model is a 400.
  { status: 400, text: /^Model .+ is not supported/, kind: 'unknown_model' },
  { status: 400, text: /(total|max).{0,40}tokens|context length/i, kind: 'context_length' },
];

/**
 * docs.voyageai.com/reference/embeddings-api and /reranker-api, 2026-08: a thousand texts at a
 * time; `base64` is the only encoding with a name.
 */
export const voyage = defineVendor({
  id: 'voyage',
  baseUrl: 'https://api.voyageai.com/v1',
  consoleUrl: 'https://dashboard.voyageai.com',
  env: { apiKey: 'VOYAGE_API_KEY' },
  adapters: {
    embeddings: openaiEmbeddings({
      inputsMax: 1_000,
      textOnly: true,
      rename: { dimensions: 'output_dimension' },
      drop: [{ member: 'encoding_format', but: 'base64' }, { member: 'user' }],
      faults,
    }),
    rerank: rerank({ rename: { top_n: 'top_k' }, faults }),
  },
});
