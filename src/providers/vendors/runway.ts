import { defineVendor } from '../vendor.ts';
import { runwayImages } from '../wire/images/runway.ts';
import { everyWay } from '../wire/images/ways.ts';
import { runwayVideo } from '../wire/video/runway.ts';

/** docs.dev.runwayml.com, 2026-08. */
export const runway = defineVendor({
  id: 'runway',
  baseUrl: 'https://api.dev.runwayml.com',
  consoleUrl: 'https://dev.runwayml.com',
  env: { apiKey: 'RUNWAYML_API_SECRET' },
  speaks: { ...everyWay(runwayImages), video: runwayVideo },
});
