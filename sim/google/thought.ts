import { isJson, type Json, object } from '../json.ts';
import { hash } from '../tokens.ts';

/** The signed content: a call by name and arguments, or that the part is a text. */
function signed(part: Json): string {
  const call = part['functionCall'];
  if (!isJson(call)) return 'text';
  return `${String(call['name'])} ${JSON.stringify(sorted(call['args'] ?? {}))}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJson(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}

const mark = 'simulated thought ';
const sealOf = (part: Json): string => `${mark}${hash(`seal ${signed(part)}`).toString(16)}`;

/** A signature that only its vendor can read, bound to its part. */
export const signature = (part: Json): string => Buffer.from(sealOf(part)).toString('base64');

/**
 * Values that a client may send where a model never gave a signature
 * (ai.google.dev/gemini-api/docs/thought-signatures, 2026-08).
 */
const excuses = new Set([
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
]);

/** Whether it is the vendor's signature of this part, or one of `excuses`. */
export function isSignature(given: string, part: Json): boolean {
  if (excuses.has(given)) return true;
  return Buffer.from(given, 'base64').toString('utf8') === sealOf(object(part));
}
