import type { Vendor } from './adapter.ts';

/** `Authorization: Bearer`, or nothing for servers without a secret. */
export const bearer: Vendor['sign'] = (secret) =>
  secret === undefined || secret === '' ? {} : { authorization: `Bearer ${secret}` };

/** A vendor as its file tells it. Most sign with a bearer token and own their models. */
export function defineVendor(
  vendor: Omit<Vendor, 'sign' | 'ownedBy'> & Partial<Pick<Vendor, 'sign' | 'ownedBy'>>,
): Vendor {
  return { sign: bearer, ownedBy: vendor.id, ...vendor };
}
