import { defineVendor } from '../vendor.ts';
import { ideogramImages } from '../wire/images/ideogram.ts';
import { everyWay } from '../wire/images/ways.ts';

/** developer.ideogram.ai, 2026-10. */
export const ideogram = defineVendor({
  id: 'ideogram',
  baseUrl: 'https://api.ideogram.ai',
  consoleUrl: 'https://ideogram.ai/manage-api',
  env: { apiKey: 'IDEOGRAM_API_KEY' },
  sign: (secret) => (secret === undefined ? {} : { 'api-key': secret }),
  speaks: everyWay(ideogramImages),
});
