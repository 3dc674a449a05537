import { defineVendor } from '../vendor.ts';
import { replicateImages } from '../formats/images/replicate.ts';
import { forAllImageOperations } from '../formats/adapters.ts';

/** replicate.com/docs/reference/http, 2026-11. */
export const replicate = defineVendor({
  id: 'replicate',
  baseUrl: 'https://api.replicate.com/v1',
  consoleUrl: 'https://replicate.com/account',
  env: { apiKey: 'REPLICATE_API_TOKEN' },
  adapters: forAllImageOperations(replicateImages),
});
