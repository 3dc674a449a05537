/** The facts of a PDF in a `data:` URL, read from its bytes; undefined when it is no PDF. */
export function decodeDocument(
  url: string,
): { readonly bytes: number; readonly pages: number } | undefined {
  const data = /^data:application\/pdf;base64,(.*)$/s.exec(url)?.[1];
  if (data === undefined) return undefined;
  const bytes = Buffer.from(data, 'base64');
  const written = bytes.toString('latin1');
  if (!written.startsWith('%PDF-')) return undefined;
  return {
    bytes: bytes.length,
    pages: Math.max(1, [...written.matchAll(/\/Type\s*\/Page\b/g)].length),
  };
}
