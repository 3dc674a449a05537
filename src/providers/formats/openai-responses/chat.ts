import type { Fault } from '../../../base/fault.ts';
import {
  jsonText,
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  stringOf,
  textOf,
  type Unchecked,
  utf8,
} from '../../../base/json.ts';
import type { Adapter, VendorAnswer, VendorCall, StreamMeter } from '../../adapter.ts';
import { servedTier } from '../../billable-features.ts';
import { ChatCollector } from '../../conversation/chat-collector.ts';
import {
  type AnswerCall,
  type ChatChunks,
  chatAnswer,
  type FinishReason,
  type EventReader,
  TranslatedStream,
} from '../../conversation/chat-stream.ts';
import { characters, chatAnnotation, citationOfAnnotation } from '../../conversation/citations.ts';
import { StopText, stopWords } from '../../conversation/stop-text.ts';
import type { SupportRow } from '../../support/rows.ts';
import { foreignEffort, reasons, supportTable, type SupportTable } from '../../support/rules.ts';
import { unsupportedInChat } from '../../support/unsupported.ts';
import { perCall } from '../adapters.ts';
import type { ChatAnnotation, ChatRequest } from '../openai-chat/types.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { objectIn, noObject, readStreamed } from '../reply.ts';
import { chatOverResponsesRequest, unsignedResponses, reasoningDetails } from './chat-request.ts';
import { responsesQuantities } from './response.ts';
import type { ResponseItem, ResponseResource, ResponseStreamEvent } from './types.ts';

export interface ChatOverResponsesQuirks {
  /** The members of chat that the models take on `/responses`. */
  readonly takes?: readonly SupportRow[];
  readonly faults?: readonly FaultRule[];
}

/**
 * Chat for models with features that only `/responses` offers: the wire format `openai-responses`
 * for clients of chat.
 */
export function chatOverResponses(quirks: ChatOverResponsesQuirks = {}): Adapter {
  const { faults, takes = [] } = quirks;
  const rulesOf = supportTable(takes, unsupportedInChat);
  const stream = (call: VendorCall): TranslatedStream =>
    new TranslatedStream(
      call,
      (_, chunks, meter) => new ResponsesReader(call, chunks, meter, faults),
    );
  return {
    ask: (call) => chatOverResponsesRequest(call, rulesOf(call.upstreamModel)),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readResponse(reply, call, faults);
      return readStreamed(reply, new ChatCollector(call, stream));
    },
    stream,
    collect: (call) => new ChatCollector(call, stream),
    needsBytes: ({ kind }) => kind === 'file',
    unsigned: unsignedResponses,
    fault: faultReader(faults),
  };
}

/** The fault of a response that ended with a failure; undefined when it did not fail. */
export function responseFailure(
  response: Documented<ResponseResource>,
  faults: readonly FaultRule[] | undefined,
): Fault | undefined {
  if (response.status !== 'failed' && response.status !== 'cancelled')
    return faultWithin(response, faults);
  return faultWithin(response, faults) ?? { kind: 'server_error', message: 'the response failed' };
}

function finishOf(response: Documented<ResponseResource>, calls: number): FinishReason {
  const reason = textOf(objectOf(response.incomplete_details)?.reason);
  if (response.status === 'incomplete' || reason)
    return reason === 'content_filter' ? 'content_filter' : 'length';
  return calls > 0 ? 'tool_calls' : 'stop';
}

interface Collected {
  content: string;
  refusal: string;
  reasoning: string;
  readonly calls: AnswerCall[];
  readonly details: JsonObject[];
  readonly annotations: JsonObject[];
  readonly phases: Phase[];
}

function readResponse(
  reply: Buffer,
  call: VendorCall<ChatRequest>,
  faults: readonly FaultRule[] | undefined,
): VendorAnswer | Fault {
  const body: Documented<ResponseResource> | undefined = objectIn(reply);
  if (body === undefined) return noObject(reply);
  const fault = responseFailure(body, faults);
  if (fault) return fault;
  if (!Array.isArray(body.output)) return protocolFault('a response without output');
  const collected: Collected = {
    content: '',
    refusal: '',
    reasoning: '',
    calls: [],
    details: [],
    annotations: [],
    phases: [],
  };
  objectsOf(body.output).forEach((item, index) => collect(collected, item, index));
  const stop = new StopText(stopWords(call.body.stop));
  const content = stop.push(collected.content) + stop.end();
  const calls = stop.met ? [] : collected.calls;
  const answer = chatAnswer(call, {
    content,
    reasoning: collected.reasoning,
    calls,
    finish: stop.met ? 'stop' : finishOf(body, calls.length),
    quantities: responsesQuantities(objectOf(body.usage)),
    upstreamId: textOf(body.id),
    ...(collected.refusal === '' ? {} : { refusal: collected.refusal }),
    more: moreOf(collected),
  });
  return { ...answer, ...servedTier(call, body) };
}

/**
 * The purpose of a message in the model's own plan (commentary, final_answer), and where its text
 * begins in the answer's.
 */
interface Phase {
  readonly phase: string;
  readonly at: number;
}

/**
 * Extension members of chat's message: reasoning, annotations, `phase`, and the phases of further
 * messages of the same answer. A client that sends them back keeps the model's plan.
 */
function moreOf({ details, annotations, phases: [first, ...others] }: Collected): JsonObject {
  return {
    ...(details.length ? { reasoning_details: details } : {}),
    ...(annotations.length ? { annotations } : {}),
    ...(first ? { phase: first.phase } : {}),
    ...(others.length ? { phases: others } : {}),
  };
}

/**
 * Turns an annotation of a part into one of the answer, in whose text the part begins at `from`.
 */
function annotationAt(annotation: Unchecked<ChatAnnotation>, from: number): JsonObject | undefined {
  const page = citationOfAnnotation(annotation);
  return page && chatAnnotation({ ...page, start: page.start + from, end: page.end + from });
}

function collect(collected: Collected, item: Documented<ResponseItem>, index: number): void {
  if (item.type === 'message') {
    const phase = textOf(item.phase);
    if (phase !== undefined) collected.phases.push({ phase, at: characters(collected.content) });
    for (const part of objectsOf(item.content)) {
      const from = characters(collected.content);
      for (const one of listOf(part.annotations)) {
        const cited = annotationAt(one, from);
        if (cited) collected.annotations.push(cited);
      }
      collected.content += textOf(part.text) ?? '';
      collected.refusal += textOf(part.refusal) ?? '';
    }
  } else if (item.type === 'reasoning') {
    const hasSummary = listOf(item.summary).length > 0;
    const thoughts = objectsOf(hasSummary ? item.summary : item.content).map(
      (part) => textOf(part.text) ?? '',
    );
    collected.reasoning +=
      (collected.reasoning && thoughts.length ? '\n\n' : '') + thoughts.join('\n\n');
    collected.details.push(...reasoningDetails(item, index));
  } else if (item.type === 'function_call') {
    collected.calls.push({
      id: textOf(item.call_id) ?? '',
      name: textOf(item.name) ?? '',
      arguments: textOf(item.arguments) ?? '',
    });
  } else if (item.type === 'custom_tool_call') {
    collected.calls.push({
      id: textOf(item.call_id) ?? '',
      name: textOf(item.name) ?? '',
      arguments: textOf(item.input) ?? '',
      custom: true,
    });
  }
}

/** A call whose arguments are still coming. */
interface OpenCall {
  readonly index: number;
  told: boolean;
}

/**
 * Translates the events of a response (developers.openai.com/api/reference/responses, 2026-08) into
 * chat's chunks.
 */
class ResponsesReader implements EventReader {
  readonly #call: VendorCall;
  readonly #chunks: ChatChunks;
  readonly #meter: StreamMeter;
  readonly #faults: readonly FaultRule[] | undefined;
  readonly #stop: StopText;
  readonly #calls = new Map<number, OpenCall>();
  /** The current part of the reasoning: parts are paragraphs. */
  #thought = '';
  #thinking: string | undefined;
  /** The length of the text so far in characters, and the start of the current part. */
  #length = 0;
  #from = 0;
  #phase: string | undefined;
  #phased = false;

  constructor(
    call: VendorCall<ChatRequest>,
    chunks: ChatChunks,
    meter: StreamMeter,
    faults: readonly FaultRule[] | undefined,
  ) {
    this.#call = call;
    this.#chunks = chunks;
    this.#meter = meter;
    this.#faults = faults;
    this.#stop = new StopText(stopWords(call.body.stop));
  }

  event(data: string, name: string): string {
    if (data.startsWith('[DONE]')) return '';
    const body: Documented<ResponseStreamEvent> | undefined = objectOf(parse(utf8(data)));
    if (body !== undefined) return this.#tell(body, textOf(body.type) ?? name);
    this.#meter.fault = protocolFault('an event that is not JSON');
    return '';
  }

  rest(rest: string): Fault | undefined {
    const body = parse(utf8(rest));
    return isObject(body) ? responseFailure(body, this.#faults) : undefined;
  }

  #tell(body: Documented<ResponseStreamEvent>, type: string): string {
    const delta = textOf(body.delta) ?? '';
    switch (type) {
      case 'response.created':
        this.#meter.upstreamId ??= textOf(objectOf(body.response)?.id);
        return '';
      case 'response.output_text.delta':
        return this.#say(delta);
      case 'response.content_part.added':
        this.#from = this.#length;
        return '';
      case 'response.output_text.annotation.added':
        return this.#cite(body.annotation);
      case 'response.refusal.delta':
        return delta === '' ? '' : this.#chunks.delta(`"refusal":${jsonText(delta)}`);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#think(
          delta,
          type,
          `${stringOf(body.output_index)} ${stringOf(body.summary_index ?? body.content_index)}`,
        );
      case 'response.output_item.added':
        return this.#begin(countOf(body.output_index) ?? 0, objectOf(body.item) ?? {});
      case 'response.function_call_arguments.delta':
        return this.#argue(this.#calls.get(countOf(body.output_index) ?? 0), delta);
      case 'response.output_item.done':
        return this.#finished(countOf(body.output_index) ?? 0, objectOf(body.item) ?? {});
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(objectOf(body.response) ?? {});
      case 'response.failed':
        this.#meter.fault = responseFailure(
          objectOf(body.response) ?? { status: 'failed' },
          this.#faults,
        );
        return '';
      case 'error':
        this.#meter.fault = faultWithin(
          objectOf(body.error) ? body : { error: body },
          this.#faults,
        );
        return '';
      default:
        return '';
    }
  }

  #think(delta: string, type: string, part: string): string {
    // xAI sends the same reasoning as text and as summary (recorded 2026-08): the client gets the
    // kind that comes first.
    this.#thinking ??= type;
    if (this.#thinking !== type) return '';
    const before = this.#thought !== '' && this.#thought !== part ? '\n\n' : '';
    this.#thought = part;
    return this.#chunks.reasoning(before + delta);
  }

  #cite(annotation: Unchecked<ChatAnnotation>): string {
    const cited = this.#stop.met ? undefined : annotationAt(annotation, this.#from);
    return cited === undefined ? '' : this.#chunks.delta(`"annotations":[${jsonText(cited)}]`);
  }

  /**
   * Sends text, with the phase of its message before the first of it: until then, another channel
   * may still replace the vendor.
   */
  #say(text: string): string {
    const words = this.#stop.push(text);
    const phase = this.#phase;
    if (words === '' || phase === undefined) {
      this.#length += characters(text);
      return this.#chunks.content(words);
    }
    const member = this.#phased
      ? `"phases":[{"phase":${jsonText(phase)},"at":${this.#length}}]`
      : `"phase":${jsonText(phase)}`;
    this.#length += characters(text);
    this.#phase = undefined;
    this.#phased = true;
    return this.#chunks.delta(member) + this.#chunks.content(words);
  }

  #begin(at: number, item: Documented<ResponseItem>): string {
    if (item.type === 'message') this.#phase = textOf(item.phase);
    if (item.type !== 'function_call' || this.#stop.met) return '';
    this.#calls.set(at, { index: this.#chunks.calls, told: false });
    return this.#chunks.call(textOf(item.call_id) ?? '', textOf(item.name) ?? '');
  }

  #argue(open: OpenCall | undefined, text: string): string {
    if (!open || text === '') return '';
    open.told = true;
    return this.#chunks.arguments(open.index, text);
  }

  #finished(at: number, item: Documented<ResponseItem>): string {
    if (item.type === 'reasoning') {
      const details = reasoningDetails(item, at);
      return details.length ? this.#chunks.delta(`"reasoning_details":${jsonText(details)}`) : '';
    }
    if (item.type === 'custom_tool_call' && !this.#stop.met)
      return this.#chunks.custom(
        textOf(item.call_id) ?? '',
        textOf(item.name) ?? '',
        textOf(item.input) ?? '',
      );
    if (item.type !== 'function_call') return '';
    // Some servers send a call whole, with or without an event for its start.
    const begun = this.#calls.has(at) ? '' : this.#begin(at, item);
    const open = this.#calls.get(at);
    return begun + (open?.told === false ? this.#argue(open, textOf(item.arguments) ?? '') : '');
  }

  #end(response: Documented<ResponseResource>): string {
    this.#meter.quantities = responsesQuantities(objectOf(response.usage));
    this.#meter.pricingFacts = servedTier(this.#call, response).told;
    this.#meter.done = true;
    const rest = this.#chunks.content(this.#stop.end());
    return (
      rest + this.#chunks.finish(this.#stop.met ? 'stop' : finishOf(response, this.#chunks.calls))
    );
  }
}

/**
 * An adapter that picks one of two for each call: `/responses` for requests with functions to these
 * models while they reason, chat for all others.
 */
export function chatOrResponses(
  chat: Adapter,
  responses: Adapter,
  models: RegExp,
  takes: readonly SupportRow[],
): Adapter {
  const rulesOf = supportTable(takes, unsupportedInChat);
  return perCall((call) => (isDemanded(call, models, rulesOf) ? responses : chat), chat.fault);
}

function isDemanded(
  { body, upstreamModel }: VendorCall<ChatRequest>,
  models: RegExp,
  rulesOf: SupportTable,
): boolean {
  const { tools, functions } = body;
  if (tools === undefined && functions === undefined) return false;
  if (
    !listOf(tools).some((tool) => isObject(tool) && (tool.type ?? 'function') === 'function') &&
    listOf(functions).length === 0
  )
    return false;
  if (!models.test(upstreamModel)) return false;
  const { effort } = rulesOf(upstreamModel);
  return reasons(
    body,
    effort,
    body.reasoning_effort ?? (effort && foreignEffort(body, effort)?.effort),
  );
}
