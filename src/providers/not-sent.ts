import type { VendorCall } from './adapter.ts';

/** `auto` leaves a choice to the model, as an absent member does. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 'auto';

/**
 * The client's members that the vendor does not get, for `VendorRequest.dropped`; undefined: it gets
 * all. For media and vectors, whose adapters read members one by one. `read`: the names that reach
 * the vendor in some form, or that Tollgate serves itself.
 */
export function notSent(
  { body }: Pick<VendorCall, 'body'>,
  ...read: readonly (readonly string[])[]
): readonly string[] | undefined {
  const known = new Set(read.flat());
  return namesOrNone(Object.keys(body).filter((name) => !known.has(name) && isSet(body[name])));
}

/** The same for an adapter that passes on all members but these. */
export const setAmong = (
  { body }: Pick<VendorCall, 'body'>,
  members: readonly string[],
): readonly string[] | undefined => namesOrNone(members.filter((name) => isSet(body[name])));

/** A list of a form has brackets in its name: the header names it without. */
const namesOrNone = (names: readonly string[]): readonly string[] | undefined =>
  names.length === 0 ? undefined : names.map((name) => name.replace(/\[\]$/, ''));
