const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * The `lang` of a model's text: unknown where it has no East Asian letters, so that the page's
 * language does not choose its typeface (`inter.css`); else the page's.
 */
export const langOf = (text: string): '' | undefined => (eastAsian.test(text) ? undefined : '');
