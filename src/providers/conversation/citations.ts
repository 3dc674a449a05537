import {
  jsonText,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  type Unchecked,
} from '../../base/json.ts';
import type { MessageCitation } from '../formats/anthropic-messages/types.ts';
import type {
  ChatAnnotation,
  ChatCompletion,
  ChatMessage,
  ChatSource,
} from '../formats/openai-chat/types.ts';

/**
 * A source that a model cites for a passage of its answer. `start` and `end` count characters (code
 * points, like OpenAI's and Anthropic's offsets) in the text of the answer; `end` is after the
 * passage.
 */
export interface Citation {
  readonly url: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
  /** The passage of the source that is cited. */
  readonly quote?: string | undefined;
}

/**
 * Chat's `annotations` (developers.openai.com/api/reference/chat-completions, 2026-08); `content`
 * is OpenRouter's name for the quote.
 */
export const chatAnnotation = ({ url, title, start, end, quote }: Citation): JsonObject => ({
  type: 'url_citation',
  url_citation: quote
    ? { start_index: start, end_index: end, url, title, content: quote }
    : { start_index: start, end_index: end, url, title },
});

/**
 * An annotation of Responses' `output_text` (developers.openai.com/api/reference/responses,
 * 2026-08). A place in a document that the client sent has no address; it is left out, since Open
 * Responses (2026-04-24) requires one.
 */
export const responsesAnnotation = ({ url, title, start, end }: Citation): JsonObject => ({
  type: 'url_citation',
  start_index: start,
  end_index: end,
  url,
  title,
});

/**
 * A citation of Anthropic's text block (platform.claude.com/docs/en/build-with-claude/citations,
 * 2026-11). Only Anthropic seals an index.
 */
export const messageCitation = ({ url, title, quote }: Citation): JsonObject => ({
  type: 'web_search_result_location',
  url,
  title,
  cited_text: quote ?? '',
  encrypted_index: '',
});

const address = /^https?:\/\//i;

/**
 * Reads Anthropic's citation of a page; undefined for a place in a document, which has no address.
 */
function citationOfClaude(
  citation: Documented<MessageCitation>,
  start: number,
  end: number,
): Citation | undefined {
  const url = textOf(citation.url) ?? textOf(citation.source) ?? '';
  if (!address.test(url)) return undefined;
  return {
    url,
    title: textOf(citation.title) ?? '',
    start,
    end,
    quote: textOf(citation.cited_text),
  };
}

/**
 * The citations of an answer: pages as chat's annotations, places in documents in the vendor's form
 * with their passage.
 */
export interface Cited {
  readonly annotations: JsonObject[];
  readonly citations: JsonObject[];
}

/** Adds Claude's citations for one passage of the answer. */
export function cite(into: Cited, citations: readonly unknown[], start: number, end: number): void {
  for (const citation of citations) {
    if (!isObject(citation)) continue;
    const page = citationOfClaude(citation, start, end);
    if (page === undefined) into.citations.push({ ...citation, start, end });
    else into.annotations.push(chatAnnotation(page));
  }
}

/** The citations as members of a message. Empty lists are left out. */
export const citedMembers = ({ annotations, citations }: Cited): JsonObject => ({
  ...(annotations.length ? { annotations } : {}),
  ...(citations.length ? { citations } : {}),
});

/** The citations as members of a delta. */
export const citedDelta = (cited: Cited): string => jsonText(citedMembers(cited)).slice(1, -1);

/** docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html, 2026-08. */
interface ConverseCitation {
  readonly title?: string;
  readonly source?: string;
  readonly sourceContent?: readonly { readonly text?: string }[];
  readonly location?: ConverseCitationLocation;
}

/** docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html, 2026-08. */
interface ConverseCitationLocation {
  readonly web?: { readonly url?: string };
  readonly documentChar?: ConversePlace;
  readonly documentPage?: ConversePlace;
  readonly documentChunk?: ConversePlace;
  readonly searchResultLocation?: ConversePlace;
}

/** docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html, 2026-08. */
interface ConversePlace {
  readonly documentIndex?: number;
  readonly searchResultIndex?: number;
  readonly start?: number;
  readonly end?: number;
}

/**
 * Adds Converse's citations for one passage of the answer, in Claude's form
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Citation.html, 2026-08).
 */
export function citeConverse(
  into: Cited,
  citations: readonly unknown[],
  start: number,
  end: number,
): void {
  const said = objectsOf(citations).map((citation: Documented<ConverseCitation>): JsonObject => {
    const location = objectOf(citation.location) ?? {};
    const quotes = listOf(citation.sourceContent).map((part) => textOf(objectOf(part)?.text) ?? '');
    const both = { cited_text: quotes.join(''), title: textOf(citation.title) ?? '' };
    const url = textOf(objectOf(location.web)?.url);
    if (url !== undefined) return { ...both, type: 'web_search_result_location', url };
    return { ...placeOfConverse(location, textOf(citation.source)), ...both };
  });
  cite(into, said, start, end);
}

/**
 * The kinds of places in Converse: its name, Claude's name, and Claude's names of start and end.
 */
const places = [
  ['documentChar', 'char_location', 'start_char_index', 'end_char_index'],
  ['documentPage', 'page_location', 'start_page_number', 'end_page_number'],
  ['documentChunk', 'content_block_location', 'start_block_index', 'end_block_index'],
  ['searchResultLocation', 'search_result_location', 'start_block_index', 'end_block_index'],
] as const;

function placeOfConverse(
  location: Documented<ConverseCitationLocation>,
  source: string | undefined,
): JsonObject {
  for (const [name, type, from, to] of places) {
    const at = objectOf(location[name]);
    if (at === undefined) continue;
    const found = type === 'search_result_location';
    const index = found
      ? { search_result_index: at.searchResultIndex, source }
      : { document_index: at.documentIndex };
    return { type, ...index, [from]: at.start, [to]: at.end };
  }
  return { type: 'content_block_location', document_index: 0 };
}

/**
 * Reads a page from an annotation of chat or Responses; undefined for another kind of annotation.
 */
export function citationOfAnnotation(annotation: Unchecked<ChatAnnotation>): Citation | undefined {
  const whole = objectOf(annotation);
  const told = objectOf(whole?.url_citation) ?? whole;
  const url = textOf(told?.url);
  if (told === undefined || url === undefined) return undefined;
  const [start, end] = [Number(told.start_index ?? 0), Number(told.end_index ?? 0)];
  return { url, title: textOf(told.title) ?? '', start, end, quote: textOf(told.content) };
}

/** docs.cohere.com/v2/docs/rag-citations, 2026-08. */
interface CohereCitation {
  readonly start?: number;
  readonly end?: number;
  readonly sources?: readonly { readonly document?: CohereDocument }[];
}

/** docs.cohere.com/v2/docs/rag-citations, 2026-08. */
interface CohereDocument {
  readonly url?: string;
  readonly title?: string;
  readonly snippet?: string;
}

/**
 * Reads Cohere's citations of documents that have an address
 * (docs.cohere.com/v2/docs/rag-citations, 2026-08).
 */
function citationsOfCohere(citation: Documented<CohereCitation>): Citation[] {
  return objectsOf(citation.sources).flatMap((source) => {
    const document = objectOf(source.document);
    const url = textOf(document?.url) ?? '';
    if (!address.test(url)) return [];
    const [start, end] = [Number(citation.start ?? 0), Number(citation.end ?? 0)];
    return [
      {
        url,
        title: textOf(document?.title) ?? '',
        start,
        end,
        quote: textOf(document?.snippet),
      },
    ];
  });
}

/** The pages that a chat message or a delta cites. */
export function pagesIn(message: Documented<ChatMessage>): Citation[] {
  const annotations = listOf(message.annotations).map(citationOfAnnotation);
  return [...annotations, ...objectsOf(message.citations).map(citationsOfCohere)]
    .flat()
    .filter((one) => one !== undefined);
}

/** The places in documents that a chat message or a delta cites. */
const documentsIn = (message: Documented<ChatMessage>): JsonObject[] =>
  objectsOf(message.citations).filter((one) => String(one['type']).endsWith('_location'));

/** The citations of a chat message, or of a delta, as the citations of Anthropic's text block. */
export const messageCitations = (message: Documented<ChatMessage>): JsonObject[] => [
  ...pagesIn(message).map(messageCitation),
  ...documentsIn(message).map(({ start: _, end: __, title, ...place }) =>
    place['document_index'] === undefined
      ? { ...place, title }
      : { document_title: title, ...place },
  ),
];

/**
 * The citations of a delta as annotations of Responses' `output_text`. `from`: where that part
 * begins in the message's text.
 */
export const responsesAnnotations = (delta: Documented<ChatMessage>, from: number): JsonObject[] =>
  pagesIn(delta).map((page) =>
    responsesAnnotation({ ...page, start: page.start - from, end: page.end - from }),
  );

/**
 * Reads sources that stand beside the choices: Perplexity's `search_results` and `citations`
 * (docs.perplexity.ai/api-reference/chat-completions-post, 2026-08), xAI's `citations`
 * (docs.x.ai/docs/guides/live-search, 2026-06). The text refers to them by number, `[1]`; a source
 * without a reference counts for the whole text.
 */
export function sourcesBeside(body: Documented<ChatCompletion>, text: string): Citation[] {
  const results = objectsOf(body.search_results);
  const sources = results.length
    ? results
    : listOf(body.citations).map(
        (source): Documented<ChatSource> => objectOf(source) ?? { url: textOf(source) },
      );
  if (sources.length === 0) return [];
  const marks = [...text.matchAll(/\[(\d{1,3})\]/g)];
  return sources.flatMap((source, i) => {
    const url = textOf(source.url);
    if (url === undefined) return [];
    const cited = { url, title: textOf(source.title) ?? '', quote: textOf(source.snippet) };
    const own = marks.filter(([, number]) => Number(number) === i + 1);
    if (own.length === 0) return [{ ...cited, start: 0, end: characters(text) }];
    return own.map((mark) => {
      const start = characters(text.slice(0, mark.index));
      return { ...cited, start, end: start + mark[0].length };
    });
  });
}

/** The pages that an answer cites: those of its message; without any, the sources beside it. */
export function citedPages(
  body: Documented<ChatCompletion>,
  message: Documented<ChatMessage>,
  text: string,
): Citation[] {
  const own = pagesIn(message);
  return own.length > 0 ? own : sourcesBeside(body, text);
}

/** The number of code points of a text. */
export function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--;
  return count;
}

/** The number of code points of a JSON string with its quotes, in `latin1`. */
export function charactersInJson(json: string): number {
  if (json.includes('\\'))
    return characters(String(JSON.parse(Buffer.from(json, 'latin1').toString('utf8'))));
  let count = json.length - 2;
  for (let i = 1; i < json.length - 1; i++) if ((json.charCodeAt(i) & 0xc0) === 0x80) count--;
  return count;
}
