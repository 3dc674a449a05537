import { defineVendor } from '../vendor.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import { rerank } from '../formats/rerank.ts';

/** api.jina.ai/redoc, 2026-08: the encoding has a name of its own. */
export const jina = defineVendor({
  id: 'jina',
  baseUrl: 'https://api.jina.ai/v1',
  consoleUrl: 'https://jina.ai/api-dashboard',
  env: { apiKey: 'JINA_API_KEY' },
  adapters: {
    embeddings: openaiEmbeddings({
      inputsMax: 512,
      textOnly: true,
      rename: { encoding_format: 'embedding_type' },
      drop: [{ member: 'user' }],
    }),
    rerank: rerank(),
  },
});
