/** A table in Markdown. The first `texts` columns are text, the others figures: right-aligned. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  texts = 1,
): string {
  const rule = head.map((_, index) => (index < texts ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
