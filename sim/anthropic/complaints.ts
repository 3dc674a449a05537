import { isJson, type Json } from '../json.ts';

/**
 * The errors of a request, in the order in which the vendor checks; callers take only the first.
 */
export type Complaints = Generator<string, void, undefined>;

export function firstOf(complaints: Complaints): string | undefined {
  const { value } = complaints.next();
  return typeof value === 'string' ? value : undefined;
}

/** The path of a member in an error text: `messages.0.content`. */
export const at = (...steps: readonly (string | number)[]): string =>
  steps.filter((step) => step !== '').join('.');

/**
 * Allows these members and no others; null counts as absent. Names in one string, separated by
 * spaces.
 */
export function* members(raw: Json, place: string, required: string, optional: string): Complaints {
  const needed = words(required);
  const missing = needed.find((name) => raw[name] === undefined || raw[name] === null);
  if (missing !== undefined) yield `${at(place, missing)}: Field required`;
  const known = new Set([...needed, ...words(optional)]);
  const extra = Object.keys(raw).find((name) => !known.has(name));
  if (extra !== undefined) yield `${at(place, extra)}: Extra inputs are not permitted`;
}

export function* oneOf(value: unknown, place: string, allowed: readonly string[]): Complaints {
  if (value !== undefined && value !== null && !allowed.includes(String(value)))
    yield `${place}: Input should be ${either(allowed)}`;
}

export function* dictionary(value: unknown, place: string): Complaints {
  if (!isJson(value)) yield `${place}: Input should be a valid dictionary`;
}

export function* textual(value: unknown, place: string): Complaints {
  if (typeof value !== 'string') yield `${place}: Input should be a valid string`;
}

/** `'a', 'b' or 'c'`. */
export function either(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  return quoted.length < 2
    ? quoted.join('')
    : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

const words = (names: string): string[] => names.split(' ').filter(Boolean);
