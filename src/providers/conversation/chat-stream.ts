import type { Fault } from '../../base/fault.ts';
import { jsonText, listOf, parse, stringBytes, textOf, utf8 } from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type Signatures,
  type StreamMeter,
  type StreamTranslator,
  newMeter,
} from '../adapter.ts';
import { type EventListener, type Frames, SseFrames } from '../stream/frames.ts';
import { signaturesOf, TurnSignatures } from './call-signatures.ts';
import { chatUsage } from './client-usage.ts';
import type { ChatRequest } from '../formats/openai-chat/types.ts';
import { StopText } from './stop-text.ts';

/** OpenAI's names for why an answer ended. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** The state of one of several choices. */
interface Choice {
  readonly index: number;
  begun: boolean;
  finished: boolean;
  /** The reason with which the stream finishes this choice at its end. */
  held: FinishReason | undefined;
  calls: number;
  /** Only where tools may be called. */
  readonly turn: TurnSignatures | undefined;
  /** Only where the vendor does not watch for all of the client's stop texts. */
  readonly stop: StopText | undefined;
}

/**
 * Writes OpenAI's chunks (developers.openai.com/api/reference/chat-completions, 2026-08) for
 * vendors of other formats: whole events as `latin1` text, built by joining and never by encoding
 * an object. The role travels with the first delta: nothing reaches the client before it, so that
 * another channel may still replace a vendor that fails. Texts come as JavaScript strings, or
 * (`…Json`) as the JSON text of a string, quotes included, in `latin1`.
 */
export class ChatChunks {
  /** Bytes of text, reasoning and arguments written so far. */
  outputBytes = 0;
  readonly #start: string;
  readonly #includeUsage: boolean;
  readonly #hasTools: boolean;
  readonly #stops: readonly string[] | undefined;
  readonly #choices: Choice[] = [];
  #choice: Choice;

  /** `stops`: texts before which the answer ends, where the vendor does not watch for them. */
  constructor(call: VendorCall<ChatRequest>, stops?: readonly string[]) {
    const { answerId, created, publicModel, includeUsage } = call;
    this.#start = `data: {"id":${jsonText(answerId)},"object":"chat.completion.chunk","created":${created},"model":${jsonText(publicModel)},"choices":[`;
    this.#includeUsage = includeUsage;
    this.#hasTools = call.body.tools !== undefined;
    this.#stops = stops?.length ? stops : undefined;
    this.#choice = this.#choiceAt(0);
  }

  #choiceAt(index: number): Choice {
    let choice = this.#choices.find((one) => one.index === index);
    if (!choice) {
      const turn = this.#hasTools ? new TurnSignatures() : undefined;
      const stop = this.#stops && new StopText(this.#stops);
      this.#choices.push(
        (choice = { index, begun: false, finished: false, held: undefined, calls: 0, turn, stop }),
      );
    }
    return choice;
  }

  /** Selects the choice to which the following deltas belong; 0 at the start. */
  choose(index: number): void {
    if (index !== this.#choice.index) this.#choice = this.#choiceAt(index);
  }

  /** Whether every choice has its finish reason, or holds one. */
  get finished(): boolean {
    for (const choice of this.#choices)
      if (!choice.finished && choice.held === undefined) return false;
    return true;
  }

  /** How many tool calls have begun. */
  get calls(): number {
    return this.#choice.calls;
  }

  /**
   * Writes a chunk whose delta has these members (`"refusal":"…"`), for members that have no method
   * of their own.
   */
  delta(members: string): string {
    this.#choice.turn?.delta(members);
    return this.#chunk(members, 'null');
  }

  content(text: string): string {
    return text === '' ? '' : this.contentJson(jsonText(text));
  }

  contentJson(json: string): string {
    if (json === '""') return '';
    this.outputBytes += stringBytes(json);
    const { stop } = this.#choice;
    if (stop === undefined) return this.#chunk(`"content":${json}`, 'null');
    return this.#shown(stop.push(textOf(parse(utf8(json))) ?? ''));
  }

  /** The chunk of text that the stop text filter lets through. */
  #shown(text: string): string {
    return text === '' ? '' : this.#chunk(`"content":${jsonText(text)}`, 'null');
  }

  /**
   * The text that the stop text filter holds back; it is released once something other than text
   * follows.
   */
  #held(): string {
    const { stop } = this.#choice;
    return stop === undefined ? '' : this.#shown(stop.end());
  }

  /** The answer has ended before one of the client's stop texts: later deltas are dropped. */
  get #stopped(): boolean {
    return this.#choice.stop?.met === true;
  }

  reasoning(text: string): string {
    return text === '' ? '' : this.reasoningJson(jsonText(text));
  }

  /**
   * `more`: further members of the delta, for vendors whose reasoning travels with an extension.
   */
  reasoningJson(json: string, more = ''): string {
    if (json === '""') return '';
    this.outputBytes += stringBytes(json);
    this.#choice.turn?.delta(more);
    return this.#chunk(`"reasoning_content":${json}${more && ','}${more}`, 'null');
  }

  /**
   * Begins a tool call; its index is the value of `calls` before. `args`: all of its arguments, if
   * the vendor sends them whole. `more`: further members of the call (`"extra_content":{…}`).
   */
  call(id: string, name: string, args = '', more = ''): string {
    return this.#call('function', 'arguments', id, name, args, more);
  }

  /** Writes a whole call of a custom tool. */
  custom(id: string, name: string, input: string): string {
    return this.#call('custom', 'input', id, name, input, '');
  }

  #call(
    type: 'function' | 'custom',
    member: 'arguments' | 'input',
    id: string,
    name: string,
    args: string,
    more: string,
  ): string {
    if (this.#stopped) return '';
    const before = this.#held();
    const json = jsonText(args);
    this.outputBytes += stringBytes(json);
    this.#choice.turn?.call(id, name, json, more);
    const called = `"${type}":{"name":${jsonText(name)},"${member}":${json}}${more && ','}${more}`;
    const call = `{"index":${this.#choice.calls++},"id":${jsonText(id)},"type":"${type}",${called}}`;
    return before + this.#chunk(`"tool_calls":[${call}]`, 'null');
  }

  /** Writes a further piece of the arguments of call `index`. */
  arguments(index: number, text: string): string {
    return text === '' ? '' : this.argumentsJson(index, jsonText(text));
  }

  argumentsJson(index: number, json: string): string {
    if (json === '""' || this.#stopped) return '';
    this.outputBytes += stringBytes(json);
    this.#choice.turn?.arguments(index, json);
    return this.#chunk(
      `"tool_calls":[{"index":${index},"function":{"arguments":${json}}}]`,
      'null',
    );
  }

  /** Writes a chunk whose choice has these members beside an empty delta: `"logprobs":{…}`. */
  beside(members: string): string {
    return this.#chunk('', 'null', `,${members}`);
  }

  /** Writes the chunk with the finish reason; `''` when the choice has finished already. */
  finish(reason: FinishReason): string {
    if (this.#choice.finished) return '';
    this.#choice.finished = true;
    return this.#held() + this.#chunk('', this.#stopped ? '"stop"' : `"${reason}"`);
  }

  /**
   * Sets the finish reason for the end of the stream, in formats that may send more after it. The
   * last one counts.
   */
  finishLater(reason: FinishReason): void {
    this.#choice.held = reason;
  }

  /** Finishes every open choice with the reason that it holds, or with `otherwise`. */
  finishAll(otherwise: FinishReason): string {
    let out = '';
    for (const choice of this.#choices) {
      this.#choice = choice;
      out += this.finish(choice.held ?? otherwise);
    }
    return out;
  }

  /** The usage chunk, if the client requested it; else `''`. */
  usage(quantities: Quantities | undefined): string {
    return this.#includeUsage && quantities !== undefined
      ? `${this.#start}],"usage":${chatUsage(quantities)}}\n\n`
      : '';
  }

  /** The signatures of all calls. */
  get signatures(): Signatures | undefined {
    const all = this.#hasTools
      ? this.#choices.flatMap(({ turn }) => [...(turn?.signatures() ?? [])])
      : [];
    return all.length === 0 ? undefined : new Map(all);
  }

  #chunk(members: string, reason: string, beside = ''): string {
    const choice = this.#choice;
    let delta = members;
    if (!choice.begun) {
      choice.begun = true;
      const content = members.includes('"content":')
        ? ''
        : members === ''
          ? ',"content":""'
          : ',"content":null';
      delta = `"role":"assistant"${content}${members && ','}${members}`;
    }
    return `${this.#start}{"index":${choice.index},"delta":{${delta}}${beside},"finish_reason":${reason}}]}\n\n`;
  }
}

export interface AnswerCall {
  readonly id: string;
  readonly name: string;
  /** JSON text; the input of a custom tool. */
  readonly arguments: string;
  readonly custom?: boolean;
  /** Further members of the call. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The content of a vendor's whole answer. */
interface AnswerContent {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly AnswerCall[];
  readonly finish: FinishReason;
  readonly quantities: Quantities | undefined;
  readonly upstreamId: string | undefined;
  readonly refusal?: string | undefined;
  /** The choice's `logprobs` in OpenAI's format. */
  readonly logprobs?: object | undefined;
  /** Further members of the message: `reasoning_details`, `images`. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

function callInMessage({ id, name, arguments: args, custom, more }: AnswerCall): object {
  if (custom === true) return { id, type: 'custom', custom: { name, input: args } };
  return { id, type: 'function', function: { name, arguments: args }, ...more };
}

/** Cuts an answer before the first of the client's stop texts. */
function stopped(
  { content, calls, finish }: AnswerContent,
  stops: readonly string[],
): Pick<AnswerContent, 'content' | 'calls' | 'finish'> {
  const stop = new StopText(stops);
  const shown = stop.push(content) + stop.end();
  return stop.met ? { content: shown, calls: [], finish: 'stop' } : { content, calls, finish };
}

/** A whole answer in OpenAI's format. `stops` as in `ChatChunks`. */
export function chatAnswer(
  call: VendorCall,
  answer: AnswerContent,
  stops?: readonly string[],
): VendorAnswer {
  const { reasoning, quantities, upstreamId, refusal, logprobs, more } = answer;
  const { content, calls, finish } = stops?.length ? stopped(answer, stops) : answer;
  const message = {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal !== undefined) ? null : content,
    reasoning_content: reasoning === '' ? undefined : reasoning,
    ...more,
    tool_calls: calls.length === 0 ? undefined : calls.map(callInMessage),
    refusal: refusal ?? null,
  };
  const json = JSON.stringify({
    id: call.answerId,
    object: 'chat.completion',
    created: call.created,
    model: call.publicModel,
    choices: [{ index: 0, message, logprobs, finish_reason: finish }],
  });
  const usage = quantities === undefined ? '' : `,"usage":${chatUsage(quantities)}`;
  return {
    body: Buffer.from(`${json.slice(0, -1)}${usage}}`),
    quantities,
    upstreamId,
    signatures: signaturesOf(
      calls.map((called) => ({ ...called, extra: called.more?.['extra_content'] })),
      listOf(more?.['reasoning_details']),
    ),
    outputText:
      quantities === undefined
        ? content + reasoning + calls.map((c) => c.name + c.arguments).join('')
        : '',
  };
}

/** Reads the events of one wire format. Made for each stream. */
export interface EventReader {
  /**
   * One whole event (`data` as the frames give it: `latin1` for server-sent events). Returns the
   * client's text, mostly by `chunks`. Sets `meter.quantities`, `meter.done`, `meter.fault` and
   * `meter.upstreamId`; the rest of the meter follows from `chunks`.
   */
  event(data: string, name: string): string;
  /** Reads the rest of a closed stream that is no event: usually JSON with an error. */
  rest?(rest: string): Fault | undefined;
}

export type MakeReader = (call: VendorCall, chunks: ChatChunks, meter: StreamMeter) => EventReader;

/**
 * Translates a vendor's stream of another format for a client of OpenAI's: frames, events, chunks.
 */
export class TranslatedStream implements StreamTranslator {
  readonly meter: StreamMeter = newMeter();
  readonly #chunks: ChatChunks;
  readonly #reader: EventReader;
  readonly #frames: Frames;
  #out = '';
  #closed = false;

  /** `stops`: texts before which the answer ends, where the vendor does not watch for them. */
  constructor(
    call: VendorCall,
    makeReader: MakeReader,
    makeFrames: (listener: EventListener) => Frames = (listener) => new SseFrames(listener),
    stops?: readonly string[],
  ) {
    this.#chunks = new ChatChunks(call, stops);
    this.#reader = makeReader(call, this.#chunks, this.meter);
    this.#frames = makeFrames(this.#hear);
  }

  readonly #hear = (data: string, name: string): boolean => {
    this.#out += this.#reader.event(data, name);
    return !this.meter.done && this.meter.fault === undefined;
  };

  push(piece: Buffer): string {
    if (this.#closed) return '';
    const problem = this.#frames.push(piece);
    if (problem !== undefined) this.meter.fault ??= { kind: 'protocol', message: problem };
    return this.#heard();
  }

  #heard(): string {
    const { meter } = this;
    const out = this.#out;
    this.#out = '';
    meter.outputBytes = this.#chunks.outputBytes;
    meter.finished = this.#chunks.finished;
    if (meter.fault === undefined && !meter.done) return out;
    this.#closed = true;
    return out + this.#conclude();
  }

  /**
   * Ends the stream with the usage, or with a fault if the answer has not finished. An answer that
   * has finished is whole, whatever came after.
   */
  #conclude(): string {
    const { meter } = this;
    if (meter.finished) meter.fault = undefined;
    else meter.fault ??= { kind: 'protocol', message: 'the stream ended without its last event' };
    if (meter.fault !== undefined) return '';
    const { signatures } = this.#chunks;
    if (signatures !== undefined) meter.signatures = signatures;
    return this.#chunks.finishAll('stop') + this.#chunks.usage(meter.quantities);
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#frames.end();
    if (rest !== '' && this.meter.fault === undefined) this.meter.fault = this.#reader.rest?.(rest);
    const out = this.#heard();
    if (this.#closed) return out;
    this.#closed = true;
    return out + this.#conclude();
  }

  cutShort(quantities: Quantities): string {
    this.#closed = true;
    const out = this.#chunks.finishAll('length') + this.#chunks.usage(quantities);
    this.meter.finished = true;
    return out;
  }
}
