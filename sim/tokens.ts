/**
 * The tokens of the simulated models: short runs of letters, up to three digits, or one other
 * character, each with its leading space.
 */
const piece = /\s*[a-z]{1,7}|\s*\d{1,3}|\s*[^\sa-z\d]|\s+/giu;

/** The text in pieces; joined they are the text again. One piece is one token. */
export function pieces(text: string): string[] {
  return text.match(piece) ?? [];
}

export function countTokens(text: string): number {
  piece.lastIndex = 0;
  let count = 0;
  while (piece.test(text)) count++;
  return count;
}

/** FNV-1a, so that equal prompts get equal answers. */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
