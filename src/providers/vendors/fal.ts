import { defineVendor } from '../vendor.ts';
import { falImages } from '../formats/images/fal.ts';
import { forAllImageOperations } from '../formats/adapters.ts';

/**
 * docs.fal.ai/documentation/model-apis/inference/queue, 2026-11: a key of two parts, and a scheme
 * of its own.
 */
export const fal = defineVendor({
  id: 'fal',
  baseUrl: 'https://queue.fal.run',
  consoleUrl: 'https://fal.ai/dashboard',
  domains: ['.fal.run'],
  env: { apiKey: 'FAL_KEY' },
  sign: (secret) => (secret === undefined ? {} : { authorization: `Key ${secret}` }),
  adapters: forAllImageOperations(falImages),
});
