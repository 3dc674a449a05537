/** Words, and each Chinese character by itself: what the search of the site finds. */
export const tokenize = (text: string): string[] =>
  text.toLowerCase().match(/\p{Script=Han}|[^\s\p{P}\p{Script=Han}]+/gu) ?? [];
