import { rawElements, rawMembers, utf8 } from './json.ts';

/** Only a number of so many digits can be more than a double holds. */
const long = /\d{16}/;

/** JSON text without the white space between its words. */
const compact = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

/**
 * The arguments of an event's function calls as the vendor wrote them, by candidate and part, where
 * reading them as JavaScript's numbers might change them; undefined where it cannot. `data` is the
 * event as `latin1` JSON text.
 */
export function exactArguments(
  data: string,
): readonly (readonly (string | undefined)[])[] | undefined {
  if (!data.includes('"functionCall"') || !long.test(data)) return undefined;
  return rawElements(rawMembers(data).get('candidates')).map((candidate) => {
    const content = rawMembers(rawMembers(candidate).get('content') ?? '');
    return rawElements(content.get('parts')).map((part) => {
      const args = rawMembers(rawMembers(part).get('functionCall') ?? '').get('args');
      return args === undefined ? undefined : compact(utf8(args));
    });
  });
}
