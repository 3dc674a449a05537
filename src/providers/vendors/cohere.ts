import { defineVendor } from '../vendor.ts';
import { cohereChat } from '../wire/cohere-chat.ts';

export const cohere = defineVendor({
  id: 'cohere',
  baseUrl: 'https://api.cohere.com/v2',
  env: { apiKey: 'COHERE_API_KEY', baseUrl: 'COHERE_BASE_URL' },
  speaks: { chat: cohereChat },
});
