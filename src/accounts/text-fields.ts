import { toPlainText } from '../base/plain-text.ts';

/** Longer is nothing that a list could show. */
export const nameCharactersMax = 100;
/**
 * A name that somebody else gave, as one of ours: what may not be in it is a space, what is too
 * long is cut. May be empty.
 */
export function plainName(given: string): string {
  let cut = '';
  for (const character of toPlainText(given).replace(/\s+/gu, ' ').trim()) {
    if (cut.length + character.length > nameCharactersMax) break;
    cut += character;
  }
  return cut.trimEnd();
}

/** One address and nothing else: no name, no second one, nothing that begins a header. */
export const isEmail = (text: string): boolean =>
  text.length <= 254 &&
  /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+\.[^\s@<>,;:"()[\]\\]+$/.test(text);
