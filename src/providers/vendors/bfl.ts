import { defineVendor, secretIn } from '../vendor.ts';
import { bflImages } from '../formats/images/bfl.ts';
import { forAllImageOperations } from '../formats/adapters.ts';

/**
 * Black Forest Labs: api.bfl.ai/openapi.json 0.0.1, 2026-08. A request is polled at the cluster
 * that accepted it (`api.us1.bfl.ai`).
 */
export const bfl = defineVendor({
  id: 'bfl',
  ownedBy: 'black-forest-labs',
  baseUrl: 'https://api.bfl.ai/v1',
  consoleUrl: 'https://dashboard.bfl.ai',
  domains: ['.bfl.ai'],
  env: { apiKey: 'BFL_API_KEY' },
  sign: secretIn('x-key'),
  adapters: forAllImageOperations(bflImages),
});
