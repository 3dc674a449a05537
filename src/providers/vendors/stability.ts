import { defineVendor } from '../vendor.ts';
import { stabilityImages } from '../wire/images/stability.ts';
import { everyWay } from '../wire/images/ways.ts';

/** platform.stability.ai/docs/api-reference, 2026-10. */
export const stability = defineVendor({
  id: 'stability',
  baseUrl: 'https://api.stability.ai',
  consoleUrl: 'https://platform.stability.ai',
  env: { apiKey: 'STABILITY_API_KEY' },
  speaks: everyWay(stabilityImages),
});
