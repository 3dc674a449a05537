import type { Fault } from '../../base/fault.ts';
import { jsonText } from '../../base/json-edit.ts';
import type { Adapter, Answer, Call, StreamMeter } from '../adapter.ts';
import { type AnswerCall, type ChatChunks, chatAnswer, type FinishReason } from './chat-chunks.ts';
import { ChatCollector } from './chat-collect.ts';
import { type EventReader, TranslatedStream } from './chat-stream.ts';
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
import { faultOf, faultWithin, protocolFault } from './openai-chat-fault.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { askResponses, type EffortFloor, unsignedResponses } from './openai-responses-chat-ask.ts';
import { reasoningDetails } from './openai-responses-reasoning.ts';
import { responsesQuantities } from './openai-responses-usage.ts';
import { StopText, stopWords } from './stop-text.ts';

export interface ResponsesQuirks {
  readonly floors?: readonly EffortFloor[];
  readonly faults?: readonly FaultRule[];
}

/** Chat for models that give some of it on `/responses` only: the wire format `openai-responses` seen from a client of chat. */
export function chatOverResponses(quirks: ResponsesQuirks = {}): Adapter {
  const faults = quirks.faults ? { faults: quirks.faults } : {};
  const stream = (call: Call): TranslatedStream =>
    new TranslatedStream(
      call,
      (_, chunks, meter) => new ResponsesReader(call, chunks, meter, faults),
    );
  return {
    ask: (call) => askResponses(call, quirks.floors ?? []),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readResponse(reply, call, faults);
      const collector = new ChatCollector(call, stream);
      collector.push(reply);
      const answer = collector.answer();
      return collector.meter.fault ?? answer;
    },
    stream,
    collect: (call) => new ChatCollector(call, stream),
    needsBytes: ({ kind }) => kind === 'file',
    unsigned: unsignedResponses,
    fault: (status, headers, reply) => faultOf(status, headers, reply, faults),
  };
}

/** What a response that ended says of its failure; undefined when it did not fail. */
export function failureOf(
  response: JsonObject,
  quirks: { faults?: readonly FaultRule[] },
): Fault | undefined {
  if (response['status'] !== 'failed' && response['status'] !== 'cancelled')
    return faultWithin(response, quirks);
  return faultWithin(response, quirks) ?? { kind: 'server_error', message: 'the response failed' };
}

function finishOf(response: JsonObject, calls: number): FinishReason {
  const reason = textOf(objectOf(response['incomplete_details'])?.['reason']);
  if (response['status'] === 'incomplete' || reason)
    return reason === 'content_filter' ? 'content_filter' : 'length';
  return calls > 0 ? 'tool_calls' : 'stop';
}

interface Collected {
  content: string;
  refusal: string;
  reasoning: string;
  readonly calls: AnswerCall[];
  readonly details: JsonObject[];
}

function readResponse(
  reply: Buffer,
  call: Call,
  quirks: { faults?: readonly FaultRule[] },
): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  if (!isObject(body))
    return protocolFault(`an answer that is no JSON object: ${reply.toString('utf8', 0, 120)}`);
  const fault = failureOf(body, quirks);
  if (fault) return fault;
  if (!Array.isArray(body['output'])) return protocolFault('a response without output');
  const said: Collected = { content: '', refusal: '', reasoning: '', calls: [], details: [] };
  listOf(body['output'])
    .filter(isObject)
    .forEach((item, index) => collect(said, item, index));
  const stop = new StopText(stopWords(call.body['stop']));
  const content = stop.push(said.content) + stop.end();
  const calls = stop.met ? [] : said.calls;
  return chatAnswer(call, {
    content,
    reasoning: said.reasoning,
    calls,
    finish: stop.met ? 'stop' : finishOf(body, calls.length),
    quantities: responsesQuantities(objectOf(body['usage'])),
    upstreamId: textOf(body['id']),
    ...(said.refusal === '' ? {} : { refusal: said.refusal }),
    ...(said.details.length ? { more: { reasoning_details: said.details } } : {}),
  });
}

function collect(said: Collected, item: JsonObject, index: number): void {
  if (item['type'] === 'message') {
    for (const part of listOf(item['content']).filter(isObject)) {
      said.content += textOf(part['text']) ?? '';
      said.refusal += textOf(part['refusal']) ?? '';
    }
  } else if (item['type'] === 'reasoning') {
    const summary = listOf(item['summary']);
    const thoughts = (summary.length ? summary : listOf(item['content']))
      .filter(isObject)
      .map((part) => textOf(part['text']) ?? '');
    said.reasoning += (said.reasoning && thoughts.length ? '\n\n' : '') + thoughts.join('\n\n');
    said.details.push(...reasoningDetails(item, index));
  } else if (item['type'] === 'function_call') {
    said.calls.push({
      id: textOf(item['call_id']) ?? '',
      name: textOf(item['name']) ?? '',
      arguments: textOf(item['arguments']) ?? '',
    });
  } else if (item['type'] === 'custom_tool_call') {
    said.calls.push({
      id: textOf(item['call_id']) ?? '',
      name: textOf(item['name']) ?? '',
      arguments: textOf(item['input']) ?? '',
      custom: true,
    });
  }
}

/** A call whose arguments are on their way. */
interface OpenCall {
  readonly index: number;
  told: boolean;
}

/** The events of a response (wire-formats §1.7) as chat's chunks. */
class ResponsesReader implements EventReader {
  readonly #chunks: ChatChunks;
  readonly #meter: StreamMeter;
  readonly #quirks: { faults?: readonly FaultRule[] };
  readonly #stop: StopText;
  readonly #calls = new Map<number, OpenCall>();
  /** The part of the reasoning that spoke last: parts are paragraphs. */
  #thought = '';
  #thinking: string | undefined;

  constructor(
    call: Call,
    chunks: ChatChunks,
    meter: StreamMeter,
    quirks: { faults?: readonly FaultRule[] },
  ) {
    this.#chunks = chunks;
    this.#meter = meter;
    this.#quirks = quirks;
    this.#stop = new StopText(stopWords(call.body['stop']));
  }

  event(data: string, name: string): string {
    if (data.startsWith('[DONE]')) return '';
    const body = parse(utf8(data));
    if (isObject(body)) return this.#tell(body, textOf(body['type']) ?? name);
    this.#meter.fault = protocolFault('an event that is not JSON');
    return '';
  }

  rest(rest: string): Fault | undefined {
    const body = parse(utf8(rest));
    return isObject(body) ? failureOf(body, this.#quirks) : undefined;
  }

  #tell(body: JsonObject, type: string): string {
    const delta = textOf(body['delta']) ?? '';
    switch (type) {
      case 'response.created':
        this.#meter.upstreamId ??= textOf(objectOf(body['response'])?.['id']);
        return '';
      case 'response.output_text.delta':
        return this.#chunks.content(this.#stop.push(delta));
      case 'response.refusal.delta':
        return delta === '' ? '' : this.#chunks.delta(`"refusal":${jsonText(delta)}`);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#think(
          delta,
          type,
          `${String(body['output_index'])} ${String(body['summary_index'] ?? body['content_index'])}`,
        );
      case 'response.output_item.added':
        return this.#begin(countOf(body['output_index']) ?? 0, objectOf(body['item']) ?? {});
      case 'response.function_call_arguments.delta':
        return this.#argue(this.#calls.get(countOf(body['output_index']) ?? 0), delta);
      case 'response.output_item.done':
        return this.#finished(countOf(body['output_index']) ?? 0, objectOf(body['item']) ?? {});
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(objectOf(body['response']) ?? {});
      case 'response.failed':
        this.#meter.fault = failureOf(
          objectOf(body['response']) ?? { status: 'failed' },
          this.#quirks,
        );
        return '';
      case 'error':
        this.#meter.fault = faultWithin(
          objectOf(body['error']) ? body : { error: body },
          this.#quirks,
        );
        return '';
      default:
        return '';
    }
  }

  #think(delta: string, type: string, part: string): string {
    // xAI tells the same thoughts as text and as summary (recorded 2026-08): whichever comes first is told.
    this.#thinking ??= type;
    if (this.#thinking !== type) return '';
    const before = this.#thought !== '' && this.#thought !== part ? '\n\n' : '';
    this.#thought = part;
    return this.#chunks.reasoning(before + delta);
  }

  #begin(at: number, item: JsonObject): string {
    if (item['type'] !== 'function_call' || this.#stop.met) return '';
    this.#calls.set(at, { index: this.#chunks.calls, told: false });
    return this.#chunks.call(textOf(item['call_id']) ?? '', textOf(item['name']) ?? '');
  }

  #argue(open: OpenCall | undefined, text: string): string {
    if (!open || text === '') return '';
    open.told = true;
    return this.#chunks.arguments(open.index, text);
  }

  #finished(at: number, item: JsonObject): string {
    if (item['type'] === 'reasoning') {
      const details = reasoningDetails(item, at);
      return details.length ? this.#chunks.delta(`"reasoning_details":${jsonText(details)}`) : '';
    }
    if (item['type'] === 'custom_tool_call' && !this.#stop.met)
      return this.#chunks.custom(
        textOf(item['call_id']) ?? '',
        textOf(item['name']) ?? '',
        textOf(item['input']) ?? '',
      );
    if (item['type'] !== 'function_call') return '';
    // Some servers send a call as a whole, with or without its beginning.
    const begun = this.#calls.has(at) ? '' : this.#begin(at, item);
    const open = this.#calls.get(at);
    return begun + (open?.told === false ? this.#argue(open, textOf(item['arguments']) ?? '') : '');
  }

  #end(response: JsonObject): string {
    this.#meter.quantities = responsesQuantities(objectOf(response['usage']));
    this.#meter.done = true;
    const rest = this.#chunks.content(this.#stop.end());
    return (
      rest + this.#chunks.finish(this.#stop.met ? 'stop' : finishOf(response, this.#chunks.calls))
    );
  }
}
