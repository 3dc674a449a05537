import {
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  jsonText,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  utf8,
} from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { StreamTranslator, VendorAnswer, VendorCall } from '../adapter.ts';
import { withDetails } from '../conversation/call-signatures.ts';
import { joined } from '../conversation/chat-collector.ts';
import { type Citation, citedPages, pagesIn, sourcesBeside } from '../conversation/citations.ts';
import { generateUsage } from '../conversation/client-usage.ts';
import { clientToolName } from '../conversation/tool-names.ts';
import { generateEvent } from '../formats/gemini/native-stream.ts';
import type { GenerateContentRequest } from '../formats/gemini/request-types.ts';
import { ownSignature } from '../formats/gemini/signature.ts';
import { inCamelCase } from '../conversation/spelling.ts';
import type {
  ChatCompletion,
  ChatLogprobs,
  ChatMessage,
  ChatToolCall,
} from '../formats/openai-chat/types.ts';
import {
  completionOf,
  type MadePicture,
  picturesIn,
  plainTextOf,
  StreamOverChat,
} from './bridge.ts';
import { estimatedUsage } from './messages-over-chat-answer.ts';

/** Google's finish reasons, by chat's. It has none for calls. */
const finishReasons: Readonly<Record<string, string>> = {
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
};

/** The type of an answer that is one word of a list, which chat answers as a JSON string. */
export const enumType = 'text/x.enum';

/** What the client wants to see of an answer. */
interface Wishes {
  readonly thoughts: boolean;
  /** The answer is a JSON string, of which the client gets the text. */
  readonly isEnum: boolean;
}

function wishesOf({ body }: Pick<VendorCall, 'body'>): Wishes {
  const request: Documented<GenerateContentRequest> = inCamelCase(body);
  const config = objectOf(request.generationConfig);
  const thoughts = objectOf(config?.thinkingConfig)?.includeThoughts === true;
  return { thoughts, isEnum: config?.responseMimeType === enumType };
}

/** A choice of a chat completion, gathered from its pieces or read as a whole. */
interface Answered {
  /** While a stream runs: the inside of a JSON string in latin1, parsed at the end if needed. */
  text: string;
  details: readonly unknown[];
  readonly calls: ToolCallDraft[];
  finish: string | undefined;
  refused: boolean;
  logprobs: unknown;
  cited: Citation[];
}

interface ToolCallDraft {
  readonly id: string;
  readonly name: string;
  args: string;
}

const nothingYet = (): Answered => ({
  text: '',
  details: [],
  calls: [],
  finish: undefined,
  refused: false,
  logprobs: undefined,
  cited: [],
});

/** A chat completion as an answer of `generateContent`, as JSON text in UTF-8. */
export function generateAnswer(answer: VendorAnswer, call: VendorCall): VendorAnswer {
  const body = completionOf(answer);
  const wishes = wishesOf(call);
  const candidates = objectsOf(body.choices).map((choice, i) => {
    const message = objectOf(choice.message) ?? {};
    const answered = answeredBy(message, body);
    answered.finish = textOf(choice.finish_reason);
    answered.logprobs = choice.logprobs;
    const thought = textOf(message.reasoning_content) ?? '';
    const thoughts =
      wishes.thoughts && thought !== '' ? [jsonText({ text: thought, thought: true })] : [];
    const text = wishes.isEnum ? enumText(answered.text) : answered.text;
    const texts = text === '' ? [] : [jsonText({ text })];
    const parts = [...thoughts, ...texts, ...picturesIn(message).map(picturePart)];
    return candidateText(call, countOf(choice.index) ?? i, answered, parts);
  });
  const quantities = answer.quantities ?? estimatedUsage(Buffer.byteLength(answer.outputText));
  const text = `{"candidates":[${candidates.join(',')}],${tailMembers(call, quantities)}}`;
  return { ...answer, body: Buffer.from(text, 'latin1') };
}

function answeredBy(message: Documented<ChatMessage>, body: Documented<ChatCompletion>): Answered {
  const refusal = textOf(message.refusal) ?? '';
  const text = (textOf(message.content) ?? '') + refusal;
  return {
    ...nothingYet(),
    text,
    details: listOf(message.reasoning_details),
    calls: objectsOf(message.tool_calls).map(draftOf),
    refused: refusal !== '',
    cited: citedPages(body, message, text),
  };
}

const picturePart = (picture: MadePicture): string => jsonText({ inlineData: picture });

function draftOf(call: Documented<ChatToolCall>): ToolCallDraft {
  const fn = objectOf(call.function) ?? objectOf(call.custom) ?? {};
  return {
    id: textOf(call.id) ?? '',
    name: textOf(fn.name) ?? '',
    args: textOf(fn.arguments) ?? '',
  };
}

/** The text of a JSON string; text that is none stays as it is. */
const enumText = (text: string): string => textOf(parse(text)) ?? text;

const tailMembers = (
  { publicModel, answerId }: Pick<VendorCall, 'publicModel' | 'answerId'>,
  quantities: Quantities,
): string =>
  `"usageMetadata":${jsonText(generateUsage(quantities))},${namesOf({ publicModel, answerId })}`;

const namesOf = ({ publicModel, answerId }: Pick<VendorCall, 'publicModel' | 'answerId'>): string =>
  `"modelVersion":${jsonText(publicModel)},"responseId":${jsonText(answerId)}`;

/**
 * The JSON text of a finished candidate, in latin1. `before`: the parts that stand before its calls
 * and have not been sent yet.
 */
function candidateText(
  call: VendorCall,
  index: number,
  answered: Answered,
  before: readonly string[],
): string {
  const calls = callParts(withoutCutCalls(answered), call);
  const parts = [...before, ...(calls ?? [])];
  if (calls?.length === 0 && answered.details.length > 0) sign(parts, answered.details);
  if (parts.length === 0) parts.push('{"text":""}');
  const reason =
    calls === undefined
      ? 'MALFORMED_FUNCTION_CALL'
      : answered.refused
        ? 'SAFETY'
        : (finishReasons[answered.finish ?? ''] ?? 'STOP');
  const grounding = groundingOf(answered.cited, answered.text);
  const logprobs = logprobsResultOf(answered.logprobs);
  return (
    `{"content":{"parts":[${parts.join(',')}],"role":"model"},"finishReason":"${reason}","index":${index}` +
    (grounding === undefined ? '' : `,"groundingMetadata":${jsonText(grounding)}`) +
    (logprobs === undefined ? '' : `,"logprobsResult":${jsonText(logprobs)}`) +
    '}'
  );
}

/** The signature of a text stands on its last part. */
function sign(parts: string[], details: readonly unknown[]): void {
  const last = parts.pop() ?? '{"text":""}';
  parts.push(`${last.slice(0, -1)},"thoughtSignature":"${ownSignature(details)}"}`);
}

/**
 * The calls of an answer. The first one is always signed: a model of Google's own that goes on with
 * the conversation refuses a call without a signature. Undefined: a call's arguments are no JSON
 * object, as after a limit on the output.
 */
function callParts({ calls, details }: Answered, call: VendorCall): string[] | undefined {
  const parts: string[] = [];
  for (const [i, { id, name, args }] of calls.entries()) {
    const text = /^(?:null)?$/.test(args.trim()) ? '{}' : args.trim();
    if (!isObject(parse(text))) return undefined;
    const signed = i === 0 ? `,"thoughtSignature":"${ownSignature(details)}"` : '';
    const own = clientToolName(name, call, declaredBy);
    const members = `"id":${jsonText(id)},"name":${jsonText(own)},"args":${latin1(text)}`;
    parts.push(`{"functionCall":{${members}}${signed}}`);
  }
  return parts;
}

function declaredBy({ body }: VendorCall): unknown {
  const { tools }: Documented<GenerateContentRequest> = inCamelCase(body);
  return objectsOf(tools).flatMap(({ functionDeclarations }) => listOf(functionDeclarations));
}

/** JSON text as latin1, on one line. */
const latin1 = (json: string): string =>
  Buffer.from(json.replace(/[\r\n]+/g, ' '), 'utf8').toString('latin1');

/**
 * Writes the events of `streamGenerateContent`. Calls are sent whole with the finish reason, in the
 * last event of their candidate, which leaves once the charge is committed.
 */
export class GenerateOverChatStream extends StreamOverChat {
  readonly #call: VendorCall;
  readonly #wishes: Wishes;
  readonly #names: string;
  readonly #choices = new Map<number, Answered>();
  /** The newest chunk that has sources beside its choices. */
  #sources: Documented<ChatCompletion> | undefined;

  constructor(call: VendorCall, chat: StreamTranslator) {
    super(chat);
    this.#call = call;
    this.#wishes = wishesOf(call);
    this.#names = namesOf(call);
  }

  protected conclude(quantities: Quantities | undefined, cut: boolean): string {
    if (this.#choices.size === 0) this.#choiceAt(0);
    if (cut) for (const choice of this.#choices.values()) choice.finish ??= 'length';
    const candidates = [...this.#choices].map(([index, answered]) => {
      if (this.#wishes.isEnum || answered.cited.length > 0 || this.#sources !== undefined)
        answered.text = textOf(parse(`"${utf8(answered.text)}"`)) ?? '';
      if (answered.cited.length === 0 && this.#sources !== undefined)
        answered.cited = sourcesBeside(this.#sources, answered.text);
      const held = this.#wishes.isEnum && answered.text !== '' ? [enumText(answered.text)] : [];
      const texts = held.map((text) => jsonText({ text }));
      return candidateText(this.#call, index, answered, texts);
    });
    const usage = quantities ?? estimatedUsage(this.meter.outputBytes);
    return generateEvent(
      `{"candidates":[${candidates.join(',')}],${tailMembers(this.#call, usage)}}`,
    );
  }

  #choiceAt(index: number): Answered {
    let choice = this.#choices.get(index);
    if (choice === undefined) this.#choices.set(index, (choice = nothingYet()));
    return choice;
  }

  protected readonly chunk = (json: string): string => {
    const plain = this.#isPlain(json) ? plainTextOf(json, '"delta":{"content":"') : undefined;
    if (plain !== undefined) return this.#text(0, plain, false);
    const body: Documented<ChatCompletion> | undefined = objectOf(parse(utf8(json)));
    if (body === undefined) return '';
    if (body.citations !== undefined || body.search_results !== undefined) this.#sources = body;
    let out = '';
    for (const choice of objectsOf(body.choices)) {
      const index = countOf(choice.index) ?? 0;
      const answered = this.#choiceAt(index);
      answered.finish = textOf(choice.finish_reason) ?? answered.finish;
      if (choice.logprobs != null) answered.logprobs = joined(answered.logprobs, choice.logprobs);
      out += this.#delta(index, answered, objectOf(choice.delta) ?? {});
    }
    return out;
  };

  /** The first choice's text is forwarded unparsed. */
  #isPlain(json: string): boolean {
    return !this.#wishes.isEnum && json.includes('"index":0,"delta":{"content":"');
  }

  #delta(index: number, answered: Answered, delta: Documented<ChatMessage>): string {
    let out = '';
    const thought = textOf(delta.reasoning_content) ?? '';
    if (thought !== '' && this.#wishes.thoughts) out += this.#text(index, jsonText(thought), true);
    answered.details = withDetails(answered.details, listOf(delta.reasoning_details));
    const refusal = textOf(delta.refusal) ?? '';
    answered.refused ||= refusal !== '';
    const text = (textOf(delta.content) ?? '') + refusal;
    if (text !== '' && this.#wishes.isEnum) answered.text += jsonText(text).slice(1, -1);
    else if (text !== '') out += this.#text(index, jsonText(text), false);
    if (delta.images !== undefined)
      for (const picture of picturesIn(delta)) out += this.#part(index, picturePart(picture));
    if (delta.annotations !== undefined || delta.citations !== undefined)
      answered.cited.push(...pagesIn(delta));
    for (const one of objectsOf(delta.tool_calls)) addCall(answered.calls, one);
    return out;
  }

  /** `json` is the JSON text of a string, as it was received. */
  #text(index: number, json: string, thought: boolean): string {
    if (json === '""') return '';
    if (!thought) this.#choiceAt(index).text += json.slice(1, -1);
    return this.#part(index, thought ? `{"text":${json},"thought":true}` : `{"text":${json}}`);
  }

  #part(index: number, part: string): string {
    const candidate = `{"content":{"parts":[${part}],"role":"model"},"index":${index}}`;
    return generateEvent(`{"candidates":[${candidate}],${this.#names}}`);
  }
}

function addCall(calls: ToolCallDraft[], delta: Documented<ChatToolCall>): void {
  const index = countOf(delta.index) ?? calls.length;
  const known = calls[index];
  const piece = draftOf(delta);
  if (known === undefined) calls[index] = piece;
  else known.args += piece.args;
}

/** A call that the limit on the output cut off is no mistake of the model. */
function withoutCutCalls(answered: Answered): Answered {
  if (answered.finish !== 'length') return answered;
  return {
    ...answered,
    calls: answered.calls.filter(({ args }) => args.trim() === '' || isObject(parse(args))),
  };
}

/**
 * Citations as `groundingMetadata`, whose offsets count bytes of the text
 * (ai.google.dev/api/generate-content#GroundingMetadata, 2026-11). Undefined without citations.
 */
function groundingOf(cited: readonly Citation[], text: string): JsonObject | undefined {
  if (cited.length === 0) return undefined;
  const pages = [...new Map(cited.map(({ url, title }) => [url, title]))];
  const points = [...text];
  const bytesTo = (end: number): number => Buffer.byteLength(points.slice(0, end).join(''));
  return {
    groundingChunks: pages.map(([uri, title]) => ({ web: { uri, title } })),
    groundingSupports: cited.map(({ url, start, end }) => ({
      segment: {
        startIndex: bytesTo(start),
        endIndex: bytesTo(end),
        text: points.slice(start, end).join(''),
      },
      groundingChunkIndices: [pages.findIndex(([uri]) => uri === url)],
    })),
  };
}

/** Chat's logprobs as `logprobsResult`; undefined without any. */
function logprobsResultOf(value: unknown): JsonObject | undefined {
  const told: Documented<ChatLogprobs> | undefined = objectOf(value);
  const tokens = objectsOf(told?.content);
  if (tokens.length === 0) return undefined;
  const candidate = (token: unknown, logprob: unknown): JsonObject => ({
    token: textOf(token) ?? '',
    logProbability: logprob,
  });
  return {
    chosenCandidates: tokens.map(({ token, logprob }) => candidate(token, logprob)),
    topCandidates: tokens.map(({ top_logprobs: top }) => ({
      candidates: objectsOf(top).map(({ token, logprob }) => candidate(token, logprob)),
    })),
  };
}
