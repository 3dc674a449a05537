import { jsonText } from '../../base/json-edit.ts';
import type { Fault } from '../../base/fault.ts';
import type { Call, StreamMeter } from '../adapter.ts';
import type { ChatChunks, FinishReason } from './chat-chunks.ts';
import type { EventReader } from './chat-stream.ts';
import { chatAnnotation } from './citations.ts';
import { geminiCitations } from './gemini-citations.ts';
import { geminiFaultWithin } from './gemini-fault.ts';
import { exactArguments } from './gemini-exact.ts';
import { logprobsOf } from './gemini-logprobs.ts';
import { geminiQuantities } from './gemini-usage.ts';
import {
  countOf,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parse,
  textOf,
  utf8,
} from './json.ts';
import { newCallId } from './openai-chat-chunk.ts';
import { protocolFault } from './openai-chat-fault.ts';

/** Why an answer was held back (googleapis/js-genai types.ts FinishReason, 2026-08). */
const filtered = new Set(
  'SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR LANGUAGE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION'.split(
    ' ',
  ),
);
/** The model's own failures: worth another try when nothing was said before. */
const failed = new Set(
  'MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE NO_IMAGE IMAGE_OTHER OTHER'.split(
    ' ',
  ),
);

/**
 * Proxies in front of gRPC write enums as numbers; those that both generations of the API count
 * alike.
 */
const numbered: readonly (string | undefined)[] = [
  undefined,
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
];

/** How long speech can be referred to by its id in the convention; nobody keeps it here. */
const audioLifetimeS = 3_600;

/**
 * What a client's answer is made of: a stream for it to see, a stream that is put together first,
 * or a whole reply.
 */
export type Reading = 'stream' | 'collected' | 'reply';

/**
 * Reads Gemini's answers: each event of a stream, and a whole answer as the one event that it is
 * (wire-formats §4.6).
 */
export class GeminiReader implements EventReader {
  readonly #call: Call;
  readonly #chunks: ChatChunks;
  readonly #meter: StreamMeter;
  readonly #reading: Reading;
  #usage: JsonObject = {};
  #calls = 0;
  #details = 0;
  #spoken = false;
  /** Choices that have said something beside their thoughts. */
  readonly #said = new Set<number>();
  /** What each choice has said: offsets of citations count its bytes. */
  readonly #texts = new Map<number, string>();
  readonly #sources = new Map<number, JsonObject>();

  constructor(call: Call, chunks: ChatChunks, meter: StreamMeter, reading: Reading) {
    this.#call = call;
    this.#chunks = chunks;
    this.#meter = meter;
    this.#reading = reading;
  }

  event(data: string): string {
    const body = parse(/[\x80-\xff]/.test(data) ? utf8(data) : data);
    if (!isObject(body)) return this.#fail(protocolFault('an event that is not JSON'));
    if ('error' in body)
      return this.#fail(geminiFaultWithin(body) ?? protocolFault('an error that is not told'));
    this.#meter.upstreamId ??= textOf(body['responseId']);
    const candidates = listOf(body['candidates']);
    const exact = exactArguments(data);
    let out = '';
    for (const [i, candidate] of candidates.entries())
      if (isObject(candidate)) out += this.#candidate(candidate, exact?.[i]);
    const feedback = objectOf(body['promptFeedback']);
    if (feedback?.['blockReason'] !== undefined && candidates.length === 0) this.#block(feedback);
    this.#count(objectOf(body['usageMetadata']));
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
   * A prompt that was refused: a refusal where nothing has left, else an empty answer with that
   * reason (wire-formats §4.6).
   */
  #block(feedback: JsonObject): void {
    const words =
      textOf(feedback['blockReasonMessage']) ??
      `The prompt was blocked (${textOf(feedback['blockReason']) ?? 'OTHER'}).`;
    if (this.#reading !== 'stream') this.#fail({ kind: 'content_policy', message: words });
    else this.#chunks.finishLater('content_filter');
  }

  /**
   * Counts are cumulative, and early ones of some models leave the output out: those are no count
   * of what was delivered.
   */
  #count(usage: JsonObject | undefined): void {
    if (usage === undefined) return;
    this.#usage = { ...this.#usage, ...usage };
    if (this.#chunks.finished || 'candidatesTokenCount' in this.#usage)
      this.#meter.quantities = geminiQuantities(this.#usage);
  }

  #candidate(candidate: JsonObject, exact: readonly (string | undefined)[] | undefined): string {
    const index = countOf(candidate['index']) ?? 0;
    this.#chunks.choose(index);
    let out = '';
    for (const [i, part] of listOf(objectOf(candidate['content'])?.['parts']).entries())
      if (isObject(part)) out += this.#part(part, index, exact?.[i]);
    const logprobs = logprobsOf(objectOf(candidate['logprobsResult']));
    if (logprobs !== undefined) out += this.#chunks.beside(`"logprobs":${jsonText(logprobs)}`);
    const { groundingMetadata, citationMetadata } = candidate;
    const before = this.#sources.get(index);
    if (groundingMetadata !== undefined || citationMetadata !== undefined)
      this.#sources.set(index, {
        groundingMetadata: groundingMetadata ?? before?.['groundingMetadata'],
        citationMetadata: citationMetadata ?? before?.['citationMetadata'],
      });
    const reason =
      textOf(candidate['finishReason']) ?? numbered[countOf(candidate['finishReason']) ?? 0];
    if (reason !== undefined) this.#finish(reason, index, textOf(candidate['finishMessage']));
    // Models that speak do not always say that they have ended; a whole reply has.
    else if (this.#reading === 'reply' && this.#said.has(index))
      this.#finish('STOP', index, undefined);
    return reason === undefined && this.#reading !== 'reply' ? out : out + this.#cite(index);
  }

  /** Streams tell their sources more than once, and where they are cited at the end. */
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

  #part(part: JsonObject, index: number, exact: string | undefined): string {
    const call = objectOf(part['functionCall']);
    const signature = textOf(part['thoughtSignature']);
    if (call !== undefined) {
      this.#said.add(index);
      return this.#functionCall(call, exact, signature);
    }
    let out = '';
    const text = textOf(part['text']) ?? codeOf(part);
    if (text !== undefined && text !== '') {
      if (part['thought'] === true) out = this.#chunks.reasoning(text);
      else {
        this.#said.add(index);
        this.#texts.set(index, (this.#texts.get(index) ?? '') + text);
        out = this.#chunks.content(text);
      }
    }
    const media = objectOf(part['inlineData']);
    if (media !== undefined && part['thought'] !== true) {
      this.#said.add(index);
      out += this.#media(textOf(media['mimeType']) ?? '', textOf(media['data']) ?? '');
    }
    if (signature !== undefined) out += this.#signed(signature);
    return out;
  }

  #functionCall(
    call: JsonObject,
    exact: string | undefined,
    signature: string | undefined,
  ): string {
    const number = this.#calls++;
    const id = textOf(call['id']) || newCallId(this.#call)(number);
    const more =
      signature === undefined
        ? ''
        : `"extra_content":{"google":{"thought_signature":${jsonText(signature)}}}`;
    return this.#chunks.call(
      id,
      textOf(call['name']) ?? '',
      exact ?? JSON.stringify(call['args'] ?? {}),
      more,
    );
  }

  /**
   * A signature that came with text: kept where clients of OpenRouter keep it
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

/** What a model ran by itself, and what came of it, as text. */
function codeOf(part: JsonObject): string | undefined {
  const code = objectOf(part['executableCode']);
  if (code !== undefined)
    return `\n\`\`\`${(textOf(code['language']) ?? '').toLowerCase()}\n${textOf(code['code']) ?? ''}\n\`\`\`\n`;
  const result = objectOf(part['codeExecutionResult']);
  return result === undefined ? undefined : `\n\`\`\`\n${textOf(result['output']) ?? ''}\n\`\`\`\n`;
}
