import { toPlainText } from '../base/plain-text.ts';

/** A list could not show a longer name. */
export const nameCharactersMax = 100;
/**
 * Turns a provider's name into a user's name: forbidden characters become spaces, and a long name
 * is cut. May be empty.
 */
export function plainName(given: string): string {
  let cut = '';
  for (const character of toPlainText(given).replace(/\s+/gu, ' ').trim()) {
    if (cut.length + character.length > nameCharactersMax) break;
    cut += character;
  }
  return cut.trimEnd();
}

/**
 * Whether the text is one address and nothing else: no name, no second one, nothing that begins a
 * header.
 */
export const isEmail = (text: string): boolean =>
  text.length <= 254 &&
  /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+\.[^\s@<>,;:"()[\]\\]+$/.test(text);
