import { defineVendor } from '../vendor.ts';

/** Every installation has a region of its own, and so a base URL. */
export const bedrock = defineVendor({
  id: 'bedrock',
  ownedBy: 'amazon',
  env: { apiKey: 'AWS_BEARER_TOKEN_BEDROCK', baseUrl: 'BEDROCK_BASE_URL' },
  speaks: {},
});
