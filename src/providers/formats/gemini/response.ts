import type { Fault } from '../../../base/fault.ts';
import {
  jsonText,
  countOf,
  type Documented,
  isObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  utf8,
  rawElements,
  rawMembers,
  type Unchecked,
} from '../../../base/json.ts';
import type { Measure, Quantities } from '../../../base/quantities.ts';
import type { VendorCall, StreamMeter } from '../../adapter.ts';
import type { ChatChunks, FinishReason, EventReader } from '../../conversation/chat-stream.ts';
import { chatAnnotation, characters, type Citation } from '../../conversation/citations.ts';
import { protocolFault } from '../fault.ts';
import { newCallId } from '../openai-chat/response.ts';
import { geminiFaultWithin } from './fault.ts';
import type {
  GeminiCandidate,
  CandidateSources,
  CodePart,
  GeminiFunctionCall,
  GenerateContentResponse,
  GroundingChunk,
  LogprobsResult,
  ModalityTokenCount,
  GeminiPart,
  PromptFeedback,
  Segment,
  TokenCandidate,
  UsageMetadata,
} from './types.ts';

/**
 * Finish reasons of an answer that was held back (googleapis/js-genai types.ts FinishReason,
 * 2026-08).
 */
const filtered = new Set(
  'SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR LANGUAGE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION'.split(
    ' ',
  ),
);
/** Finish reasons of the model's own failures: a retry may help if nothing was sent before. */
const failed = new Set(
  'MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE NO_IMAGE IMAGE_OTHER OTHER'.split(
    ' ',
  ),
);

/**
 * Finish reasons by number, as proxies in front of gRPC write enums: only those whose number is the
 * same in both generations of the API.
 */
const numbered: readonly (string | undefined)[] = [
  undefined,
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
];

/**
 * How long a client may refer to speech by its id in OpenAI's format; Tollgate does not store it.
 */
const audioLifetimeS = 3_600;

/**
 * The source of a client's answer: a stream that the client sees, a stream that is put together
 * first, or a whole reply.
 */
export type GeminiReading = 'stream' | 'collected' | 'reply';

/**
 * Reads Gemini's answers: each event of a stream, or a whole answer as one event
 * (ai.google.dev/api/generate-content, 2026-08).
 */
export class GeminiReader implements EventReader {
  readonly #call: VendorCall;
  readonly #chunks: ChatChunks;
  readonly #meter: StreamMeter;
  readonly #reading: GeminiReading;
  #usage: Documented<UsageMetadata> = {};
  #calls = 0;
  #details = 0;
  #spoken = false;
  /** Choices that have any content beside thinking. */
  readonly #said = new Set<number>();
  /** The text of each choice: the offsets of citations count its bytes. */
  readonly #texts = new Map<number, string>();
  readonly #sources = new Map<number, Documented<CandidateSources>>();

  constructor(call: VendorCall, chunks: ChatChunks, meter: StreamMeter, reading: GeminiReading) {
    this.#call = call;
    this.#chunks = chunks;
    this.#meter = meter;
    this.#reading = reading;
  }

  event(data: string): string {
    const body: Documented<GenerateContentResponse> | undefined = objectOf(
      parse(/[\x80-\xff]/.test(data) ? utf8(data) : data),
    );
    if (body === undefined) return this.#fail(protocolFault('an event that is not JSON'));
    if ('error' in body)
      return this.#fail(geminiFaultWithin(body) ?? protocolFault('an error that is not told'));
    this.#meter.upstreamId ??= textOf(body.responseId);
    const candidates = listOf(body.candidates);
    const exact = exactArguments(data);
    let out = '';
    for (const [i, candidate] of candidates.entries())
      if (isObject(candidate)) out += this.#candidate(candidate, exact?.[i]);
    const feedback = objectOf(body.promptFeedback);
    if (feedback?.blockReason !== undefined && candidates.length === 0) this.#block(feedback);
    this.#count(objectOf(body.usageMetadata));
    return out;
  }

  rest(text: string): Fault | undefined {
    return geminiFaultWithin(parse(utf8(text)));
  }

  #fail(fault: Fault): string {
    this.#meter.fault = fault;
    return '';
  }

  /**
   * A prompt that the vendor blocked becomes a refusal if nothing was sent, else an empty answer
   * with that finish reason (ai.google.dev/api/generate-content, 2026-08).
   */
  #block(feedback: Documented<PromptFeedback>): void {
    const words =
      textOf(feedback.blockReasonMessage) ??
      `The prompt was blocked (${textOf(feedback.blockReason) ?? 'OTHER'}).`;
    if (this.#reading !== 'stream') this.#fail({ kind: 'content_policy', message: words });
    else this.#chunks.finishLater('content_filter');
  }

  /**
   * Counts are cumulative. The early ones of some models leave the output out: they do not count
   * what was delivered.
   */
  #count(usage: Documented<UsageMetadata> | undefined): void {
    if (usage === undefined) return;
    this.#usage = { ...this.#usage, ...usage };
    if (this.#chunks.finished || 'candidatesTokenCount' in this.#usage)
      this.#meter.quantities = geminiQuantities(this.#usage);
  }

  #candidate(
    candidate: Documented<GeminiCandidate>,
    exact: readonly (string | undefined)[] | undefined,
  ): string {
    const index = countOf(candidate.index) ?? 0;
    this.#chunks.choose(index);
    let out = '';
    for (const [i, part] of listOf(objectOf(candidate.content)?.parts).entries())
      if (isObject(part)) out += this.#part(part, index, exact?.[i]);
    const logprobs = geminiLogprobs(objectOf(candidate.logprobsResult));
    if (logprobs !== undefined) out += this.#chunks.beside(`"logprobs":${jsonText(logprobs)}`);
    const { groundingMetadata, citationMetadata } = candidate;
    const before = this.#sources.get(index);
    if (groundingMetadata !== undefined || citationMetadata !== undefined)
      this.#sources.set(index, {
        groundingMetadata: groundingMetadata ?? before?.groundingMetadata,
        citationMetadata: citationMetadata ?? before?.citationMetadata,
      });
    const reason = textOf(candidate.finishReason) ?? numbered[countOf(candidate.finishReason) ?? 0];
    if (reason !== undefined) this.#finish(reason, index, textOf(candidate.finishMessage));
    // Models that speak do not always send a finish reason; a whole reply is at its end.
    else if (this.#reading === 'reply' && this.#said.has(index))
      this.#finish('STOP', index, undefined);
    return reason === undefined && this.#reading !== 'reply' ? out : out + this.#cite(index);
  }

  /** Sends the citations at the end: streams repeat their sources. */
  #cite(index: number): string {
    const sources = this.#sources.get(index);
    if (sources === undefined) return '';
    this.#sources.delete(index);
    const cited = geminiCitations(sources, this.#texts.get(index) ?? '');
    return cited.length === 0
      ? ''
      : this.#chunks.delta(`"annotations":${jsonText(cited.map(chatAnnotation))}`);
  }

  #finish(reason: string, index: number, words: string | undefined): void {
    if (failed.has(reason) && !this.#said.has(index)) {
      this.#fail({
        kind: 'server_error',
        message: `the vendor ended its answer with ${reason}${words === undefined ? '' : `: ${words}`}`,
      });
      return;
    }
    const meant: FinishReason =
      reason === 'MAX_TOKENS' ? 'length' : filtered.has(reason) ? 'content_filter' : 'stop';
    this.#chunks.finishLater(meant === 'stop' && this.#chunks.calls > 0 ? 'tool_calls' : meant);
  }

  #part(part: Documented<GeminiPart>, index: number, exact: string | undefined): string {
    const call = objectOf(part.functionCall);
    const signature = textOf(part.thoughtSignature);
    if (call !== undefined) {
      this.#said.add(index);
      return this.#functionCall(call, exact, signature);
    }
    let out = '';
    const text = textOf(part.text) ?? codeOf(part);
    if (text !== undefined && text !== '') {
      if (part.thought === true) out = this.#chunks.reasoning(text);
      else {
        this.#said.add(index);
        this.#texts.set(index, (this.#texts.get(index) ?? '') + text);
        out = this.#chunks.content(text);
      }
    }
    const media = objectOf(part.inlineData);
    if (media !== undefined && part.thought !== true) {
      this.#said.add(index);
      out += this.#media(textOf(media.mimeType) ?? '', textOf(media.data) ?? '');
    }
    if (signature !== undefined) out += this.#signed(signature);
    return out;
  }

  #functionCall(
    call: Documented<GeminiFunctionCall>,
    exact: string | undefined,
    signature: string | undefined,
  ): string {
    const number = this.#calls++;
    const id = textOf(call.id) || newCallId(this.#call)(number);
    const more =
      signature === undefined
        ? ''
        : `"extra_content":{"google":{"thought_signature":${jsonText(signature)}}}`;
    return this.#chunks.call(
      id,
      textOf(call.name) ?? '',
      exact ?? JSON.stringify(call.args ?? {}),
      more,
    );
  }

  /**
   * Sends a signature that came with text, in the member that clients of OpenRouter keep
   * (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-06).
   */
  #signed(signature: string): string {
    const detail = {
      type: 'reasoning.encrypted',
      data: signature,
      format: 'google-gemini-v1',
      index: this.#details++,
    };
    return this.#chunks.delta(`"reasoning_details":[${jsonText(detail)}]`);
  }

  #media(mimeType: string, data: string): string {
    if (!mimeType.startsWith('audio/'))
      return this.#chunks.delta(
        `"images":[{"type":"image_url","image_url":{"url":${jsonText(`data:${mimeType};base64,${data}`)}}}]`,
      );
    const begun = this.#spoken
      ? ''
      : `"id":${jsonText(`audio_${this.#call.answerId}`)},"expires_at":${this.#call.created + audioLifetimeS},"transcript":"",`;
    this.#spoken = true;
    return this.#chunks.delta(`"audio":{${begun}"data":${jsonText(data)}}`);
  }
}

/** Code that the model ran, or its result, as text. */
function codeOf(part: Documented<CodePart>): string | undefined {
  const code = objectOf(part.executableCode);
  if (code !== undefined)
    return `\n\`\`\`${(textOf(code.language) ?? '').toLowerCase()}\n${textOf(code.code) ?? ''}\n\`\`\`\n`;
  const result = objectOf(part.codeExecutionResult);
  return result === undefined ? undefined : `\n\`\`\`\n${textOf(result.output) ?? ''}\n\`\`\`\n`;
}

/**
 * A candidate's citations: of pages that it found (ai.google.dev/gemini-api/docs/google-search,
 * 2026-08), and of works that its text resembles (`citationMetadata`). Gemini's offsets count
 * bytes. A page without a passage counts as a source of the whole text.
 */
function geminiCitations(candidate: Documented<CandidateSources>, text: string): Citation[] {
  const grounding = objectOf(candidate.groundingMetadata);
  const pages = listOf(grounding?.groundingChunks).map(pageOf);
  const bytes = Buffer.from(text);
  const named = new Set<number>();
  const cited: Citation[] = [];
  for (const support of objectsOf(grounding?.groundingSupports)) {
    const segment = objectOf(support.segment) ?? {};
    for (const index of listOf(support.groundingChunkIndices)) {
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
  const resembled = objectOf(candidate.citationMetadata);
  for (const source of objectsOf(resembled?.citationSources ?? resembled?.citations)) {
    const url = textOf(source.uri);
    if (url)
      cited.push({ url, title: textOf(source.title) ?? '', ...stretch(source, text, bytes) });
  }
  return cited;
}

function pageOf(
  chunk: Unchecked<GroundingChunk>,
): Pick<Citation, 'url' | 'title' | 'quote'> | undefined {
  const told = objectOf(chunk) ?? {};
  const page = objectOf(told.web) ?? objectOf(told.maps) ?? objectOf(told.retrievedContext) ?? {};
  const url = textOf(page.uri);
  return url ? { url, title: textOf(page.title) ?? '', quote: textOf(page.text) } : undefined;
}

/**
 * The position of a segment in the text: by its offsets if its words stand there, else by a search
 * for its words.
 */
function stretch(
  segment: Documented<Segment>,
  text: string,
  bytes: Buffer,
): Pick<Citation, 'start' | 'end'> {
  const [from, to] = [countOf(segment.startIndex) ?? 0, countOf(segment.endIndex) ?? bytes.length];
  const words = textOf(segment.text);
  const before = bytes.toString('utf8', 0, from);
  const meant = bytes.toString('utf8', from, to);
  if (words === undefined || words === meant)
    return { start: characters(before), end: characters(before) + characters(meant) };
  const at = text.indexOf(words);
  if (at < 0) return { start: 0, end: characters(text) };
  const start = characters(text.slice(0, at));
  return { start, end: start + characters(words) };
}

/** Only a number of this many digits can exceed a double's precision. */
const long = /\d{16}/;

/** JSON text without the white space between its words. */
const compact = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

/**
 * The arguments of an event's function calls as the vendor wrote them, by candidate and part, if
 * parsing might change their numbers; undefined if it cannot. `data` is the event as `latin1` JSON
 * text.
 */
function exactArguments(data: string): readonly (readonly (string | undefined)[])[] | undefined {
  if (!data.includes('"functionCall"') || !long.test(data)) return undefined;
  return rawElements(rawMembers(data).get('candidates')).map((candidate) => {
    const content = rawMembers(rawMembers(candidate).get('content') ?? '');
    return rawElements(content.get('parts')).map((part) => {
      const args = rawMembers(rawMembers(part).get('functionCall') ?? '').get('args');
      return args === undefined ? undefined : compact(utf8(args));
    });
  });
}

function token(candidate: Documented<TokenCandidate>): object {
  const text = textOf(candidate.token) ?? '';
  const logprob = candidate.logProbability;
  return {
    token: text,
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: [...Buffer.from(text)],
  };
}

/**
 * A candidate's `logprobsResult` as a choice's `logprobs`
 * (developers.openai.com/api/reference/chat-completions, 2026-08).
 */
function geminiLogprobs(result: Documented<LogprobsResult> | undefined): object | undefined {
  const chosen = objectsOf(result?.chosenCandidates);
  if (chosen.length === 0) return undefined;
  const top = listOf(result?.topCandidates);
  const content = chosen.map((candidate, i) => ({
    ...token(candidate),
    top_logprobs: objectsOf(objectOf(top[i])?.candidates).map(token),
  }));
  return { content, refusal: null };
}

/** The tokens of one modality in a list of details. */
function modality(details: Unchecked<readonly ModalityTokenCount[]>, name: string): number {
  const detail = listOf(details)
    .map(objectOf)
    .find((one) => one?.modality === name);
  return countOf(detail?.tokenCount) ?? 0;
}

/**
 * The disjoint quantities of `usageMetadata`. Its traps (ai.google.dev/api/generate-content,
 * 2026-08): the prompt includes cached tokens and leaves out what tools read, the candidates leave
 * out the thinking, and the details by modality count cached tokens again.
 */
export function geminiQuantities(usage: Documented<UsageMetadata>): Quantities {
  const count = (tokens: Unchecked<number>): number => countOf(tokens) ?? 0;
  const into: Partial<Record<Measure, number>> = {};
  const take = (measure: Measure, tokens: number, left: number): number => {
    const taken = Math.max(0, Math.min(tokens, left));
    if (taken > 0) into[measure] = taken;
    return left - taken;
  };
  const fresh = (name: string): number =>
    modality(usage.promptTokensDetails, name) - modality(usage.cacheTokensDetails, name);
  let input = count(usage.promptTokenCount);
  input = take('cached_input', count(usage.cachedContentTokenCount), input);
  input = take('audio_input', fresh('AUDIO'), input);
  input = take('image_input', fresh('IMAGE'), input);
  take('input', input + count(usage.toolUsePromptTokenCount), Number.POSITIVE_INFINITY);
  let output = count(usage.candidatesTokenCount);
  output = take('audio_output', modality(usage.candidatesTokensDetails, 'AUDIO'), output);
  output = take('image_output', modality(usage.candidatesTokensDetails, 'IMAGE'), output);
  take('output', output, output);
  take('reasoning', count(usage.thoughtsTokenCount), Number.POSITIVE_INFINITY);
  return into;
}
