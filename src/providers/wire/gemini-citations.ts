import { characters, type Citation } from './citations.ts';
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';

/**
 * A candidate's citations: of pages that it found (ai.google.dev/gemini-api/docs/google-search,
 * 2026-08), and of works that its text resembles (`citationMetadata`). Gemini's offsets count
 * bytes. A page that is cited for no passage counts as a source of the whole text.
 */
export function geminiCitations(candidate: JsonObject, text: string): Citation[] {
  const grounding = objectOf(candidate['groundingMetadata']);
  const pages = listOf(grounding?.['groundingChunks']).map(pageOf);
  const bytes = Buffer.from(text);
  const named = new Set<number>();
  const cited: Citation[] = [];
  for (const support of listOf(grounding?.['groundingSupports'])) {
    const segment = objectOf(objectOf(support)?.['segment']) ?? {};
    for (const index of listOf(objectOf(support)?.['groundingChunkIndices'])) {
      const page = pages[Number(index)];
      if (page === undefined) continue;
      named.add(Number(index));
      cited.push({ ...page, ...stretch(segment, text, bytes) });
    }
  }
  const all = { start: 0, end: characters(text) };
  pages.forEach((page, i) => {
    if (page !== undefined && !named.has(i)) cited.push({ ...page, ...all });
  });
  const resembled = objectOf(candidate['citationMetadata']);
  for (const source of listOf(resembled?.['citationSources'] ?? resembled?.['citations']).filter(
    isObject,
  )) {
    const url = textOf(source['uri']);
    if (url)
      cited.push({ url, title: textOf(source['title']) ?? '', ...stretch(source, text, bytes) });
  }
  return cited;
}

function pageOf(chunk: unknown): Pick<Citation, 'url' | 'title' | 'quote'> | undefined {
  const told = objectOf(chunk) ?? {};
  const page =
    objectOf(told['web']) ?? objectOf(told['maps']) ?? objectOf(told['retrievedContext']) ?? {};
  const url = textOf(page['uri']);
  return url ? { url, title: textOf(page['title']) ?? '', quote: textOf(page['text']) } : undefined;
}

/** The position of a segment: by its offsets, if its words stand there, else by its words. */
function stretch(
  segment: JsonObject,
  text: string,
  bytes: Buffer,
): Pick<Citation, 'start' | 'end'> {
  const [from, to] = [
    countOf(segment['startIndex']) ?? 0,
    countOf(segment['endIndex']) ?? bytes.length,
  ];
  const words = textOf(segment['text']);
  const before = bytes.toString('utf8', 0, from);
  const meant = bytes.toString('utf8', from, to);
  if (words === undefined || words === meant)
    return { start: characters(before), end: characters(before) + characters(meant) };
  const at = text.indexOf(words);
  if (at < 0) return { start: 0, end: characters(text) };
  const start = characters(text.slice(0, at));
  return { start, end: start + characters(words) };
}
