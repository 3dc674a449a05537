import { defineVendor } from '../vendor.ts';
import { runwayImages } from '../formats/images/runway.ts';
import { forAllImageOperations } from '../formats/adapters.ts';
import { runwayVideo } from '../formats/video/runway.ts';

/** docs.dev.runwayml.com, 2026-08. */
export const runway = defineVendor({
  id: 'runway',
  baseUrl: 'https://api.dev.runwayml.com',
  consoleUrl: 'https://dev.runwayml.com',
  env: { apiKey: 'RUNWAYML_API_SECRET' },
  adapters: { ...forAllImageOperations(runwayImages), video: runwayVideo },
});
