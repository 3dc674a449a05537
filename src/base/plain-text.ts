/**
 * Control characters, lone surrogates, line separators, and marks that change the direction of
 * text.
 */
const hiding = /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u;

/** Whether the text is one line without hidden characters. */
export const isPlainText = (text: string): boolean => !hiding.test(text);

/** The text as one line, safe for a terminal as well: hidden characters become spaces. */
export const toPlainText = (text: string): string =>
  [...text].map((character) => (isPlainText(character) ? character : ' ')).join('');
