import type { Principal } from '../accounts/principal.ts';
import type { Offer, Snapshot } from '../catalog/snapshot.ts';
import type { Share } from '../limits/contract.ts';

/**
 * What is sold to a key under a model's name: its group's offer, unless the key is confined to
 * others.
 */
export function offerTo(
  catalog: Snapshot,
  { group, models }: Principal,
  model: string,
): Offer | undefined {
  return models === undefined || models.has(model) ? catalog.offer(group, model) : undefined;
}

/** The key's own limits, where it has any. */
export const shareOf = ({ keyId, allowance }: Principal): Share | undefined =>
  allowance === undefined ? undefined : { subject: `key/${keyId}`, allowance };
