import { defineVendor } from '../vendor.ts';
import { recraftEdits, recraftImages } from '../formats/images/recraft.ts';

/** recraft.ai/docs/api-reference, 2026-11. */
export const recraft = defineVendor({
  id: 'recraft',
  baseUrl: 'https://external.api.recraft.ai/v1',
  consoleUrl: 'https://www.recraft.ai/profile/api',
  env: { apiKey: 'RECRAFT_API_TOKEN' },
  adapters: { images: recraftImages, image_edits: recraftEdits, image_variations: recraftEdits },
});
