import { defineVendor } from '../vendor.ts';
import { cohereChat } from '../formats/cohere/adapter.ts';
import { cohereEmbed } from '../formats/embeddings/cohere.ts';
import { cohereFaultRules } from '../formats/cohere/fault.ts';
import { rerank } from '../formats/rerank.ts';

export const cohere = defineVendor({
  id: 'cohere',
  baseUrl: 'https://api.cohere.com/v2',
  // The list has no second version (docs.cohere.com/reference/list-models, 2026-11).
  models: { path: '/../v1/models?page_size=1000' },
  consoleUrl: 'https://dashboard.cohere.com',
  env: { apiKey: 'COHERE_API_KEY', baseUrl: 'COHERE_BASE_URL' },
  adapters: {
    chat: cohereChat,
    embeddings: cohereEmbed,
    rerank: rerank({ faults: cohereFaultRules }),
  },
});
