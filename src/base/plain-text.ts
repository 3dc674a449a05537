/**
 * Control characters, halves of characters, further lines, and what turns the order of letters
 * around.
 */
const hiding = /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u;

/** Whether it is one line in which nothing hides. */
export const isPlainText = (text: string): boolean => !hiding.test(text);

/** As one line, for a terminal as well: what hides is a space. */
export const toPlainText = (text: string): string =>
  [...text].map((character) => (isPlainText(character) ? character : ' ')).join('');
