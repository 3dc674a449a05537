import { defineVendor } from '../vendor.ts';
import { stabilityImages } from '../formats/images/stability.ts';
import { forAllImageOperations } from '../formats/adapters.ts';

/** platform.stability.ai/docs/api-reference, 2026-10. */
export const stability = defineVendor({
  id: 'stability',
  baseUrl: 'https://api.stability.ai',
  consoleUrl: 'https://platform.stability.ai',
  env: { apiKey: 'STABILITY_API_KEY' },
  adapters: forAllImageOperations(stabilityImages),
});
