import { refuse } from '../../base/refusal.ts';
import type { Call } from '../adapter.ts';

/**
 * What is sold is the standard tier: the catalogue's prices are its prices, and a vendor takes a multiple of them for answers that come first
 * (developers.openai.com/api/docs/guides/priority-processing, 2026-08). Throws the Refusal of a request that asks for such.
 */
export function refuseDearTier({ body: { service_tier: tier } }: Pick<Call, 'body'>): void {
  if (tier === 'priority' || tier === 'fast')
    refuse('invalid_value', { param: 'service_tier', why: 'only the standard tier is sold.' });
}
