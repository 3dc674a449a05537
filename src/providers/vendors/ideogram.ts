import { defineVendor, secretIn } from '../vendor.ts';
import { ideogramImages } from '../formats/images/ideogram.ts';
import { forAllImageOperations } from '../formats/adapters.ts';

/** developer.ideogram.ai, 2026-10. */
export const ideogram = defineVendor({
  id: 'ideogram',
  baseUrl: 'https://api.ideogram.ai',
  consoleUrl: 'https://ideogram.ai/manage-api',
  env: { apiKey: 'IDEOGRAM_API_KEY' },
  sign: secretIn('api-key'),
  adapters: forAllImageOperations(ideogramImages),
});
