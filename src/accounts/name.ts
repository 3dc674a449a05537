/** Longer is nothing that a list could show. */
export const nameCharactersMax = 100;
/** Control characters, halves of characters, further lines, and what turns the order of letters around. */
const hiding = /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u;

/** Whether it is one line in which nothing hides. */
export const isPlain = (text: string): boolean => !hiding.test(text);

/** A name that somebody else gave, as one of ours: what may not be in it is a space, what is too long is cut. May be empty. */
export function plainName(given: string): string {
  const plain = [...given].map((character) => (isPlain(character) ? character : ' ')).join('');
  let cut = '';
  for (const character of plain.replace(/\s+/gu, ' ').trim()) {
    if (cut.length + character.length > nameCharactersMax) break;
    cut += character;
  }
  return cut.trimEnd();
}
