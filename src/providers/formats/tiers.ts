import type { JsonChange } from '../../base/json-edit.ts';
import { refuse } from '../../base/refusal.ts';
import type { VendorCall, PricingFacts } from '../adapter.ts';
import { type JsonObject, textOf } from '../../base/json-value.ts';

/**
 * Prices decide which tiers are sold, before an adapter is called (billable-features.ts). Adapters
 * do two things. They send `auto` as the name of the standard tier: with `auto`, the settings of
 * the operator's account at the vendor may choose a dearer tier (OpenAPI description, ServiceTier,
 * 2026-11). And an adapter whose endpoint offers no tiers refuses the request, so that the client
 * does not pay for the tier.
 */
export function serviceTierChanges(
  { body }: Pick<VendorCall, 'body'>,
  standard = 'default',
): readonly JsonChange[] {
  return body['service_tier'] === 'auto'
    ? [{ path: ['service_tier'], json: JSON.stringify(standard) }]
    : noChanges;
}

const noChanges: readonly JsonChange[] = [];

/**
 * Throws the Refusal of a request for a tier or speed that this vendor's endpoint does not offer.
 */
export function refuseServiceTier({
  asksForTier: asksMode,
  body,
}: Pick<VendorCall, 'asksForTier' | 'body'>): void {
  if (asksMode !== true) return;
  const param = body['speed'] != null && body['speed'] !== 'standard' ? 'speed' : 'service_tier';
  refuse('invalid_value', { param, why: 'this model cannot be asked for it over this endpoint.' });
}

/**
 * The tier that served an answer in OpenAI's format, if the client requested another than the
 * standard one.
 */
export function servedTier(
  { asksForTier: asksMode }: Pick<VendorCall, 'asksForTier'>,
  answer: JsonObject,
): { readonly told?: PricingFacts } {
  const served = asksMode === true ? textOf(answer['service_tier']) : undefined;
  return served === undefined ? noTold : { told: { servedTier: served } };
}

const noTold = {};
