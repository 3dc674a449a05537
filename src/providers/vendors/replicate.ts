import { defineVendor } from '../vendor.ts';
import { replicateImages } from '../wire/images/replicate.ts';
import { everyWay } from '../wire/images/ways.ts';

/** replicate.com/docs/reference/http, 2026-11. */
export const replicate = defineVendor({
  id: 'replicate',
  baseUrl: 'https://api.replicate.com/v1',
  consoleUrl: 'https://replicate.com/account',
  env: { apiKey: 'REPLICATE_API_TOKEN' },
  speaks: everyWay(replicateImages),
});
