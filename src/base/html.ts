/**
 * A template in which an indented line continues the line above it: after a space, but with nothing
 * between when it begins with a tag or with an inserted value. Inserted values stay as they are.
 *
 * @example
 * folded`<p>
 *   two
 *   words
 *   </p>` === '<p> two words</p>'
 */
export function folded(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts
    .map((part) => part.replace(/\n +(?=<|$)/g, '').replace(/\n +/g, ' '))
    .map((part, index) => part + (values[index] ?? ''))
    .join('');
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** The text as the content of an element or of a quoted attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => escapes[sign] ?? sign);
