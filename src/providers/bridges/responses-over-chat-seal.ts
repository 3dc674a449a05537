import { ownSeal } from '../wire/openai-responses.ts';
import { isObject, type JsonObject, listOf, parse } from '../wire/json.ts';

/**
 * Signatures and other things that a chat vendor wants back travel as a reasoning item's
 * `encrypted_content`: clients keep that member as it is. It is no secret: the client could read
 * the same from a chat completion.
 */
const mark = ownSeal;

export const sealed = (details: readonly unknown[]): string =>
  mark + Buffer.from(JSON.stringify(details)).toString('base64url');

const isOurs = (seal: unknown): boolean => typeof seal === 'string' && seal.startsWith(mark);

/** What was sealed here; nothing when another's vendor sealed it, or nobody did. */
export function opened(seal: string | undefined): readonly JsonObject[] {
  if (seal === undefined || !isOurs(seal)) return [];
  return listOf(parse(Buffer.from(seal.slice(mark.length), 'base64url').toString('utf8'))).filter(
    isObject,
  );
}
