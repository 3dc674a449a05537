import { defineVendor } from '../vendor.ts';
import { cohereChat } from '../wire/cohere-chat.ts';
import { cohereEmbed } from '../wire/cohere-embed.ts';
import { cohereFaultRules } from '../wire/cohere-chat-fault.ts';
import { rerank } from '../wire/rerank.ts';

export const cohere = defineVendor({
  id: 'cohere',
  baseUrl: 'https://api.cohere.com/v2',
  consoleUrl: 'https://dashboard.cohere.com',
  env: { apiKey: 'COHERE_API_KEY', baseUrl: 'COHERE_BASE_URL' },
  speaks: {
    chat: cohereChat,
    embeddings: cohereEmbed,
    rerank: rerank({ faults: cohereFaultRules }),
  },
});
