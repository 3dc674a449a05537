import {
  stringEnd,
  editJson,
  isObject,
  type Documented,
  objectOf,
  parse,
  stringBytes,
  textOf,
  utf8,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import {
  type VendorAnswer,
  type VendorCall,
  type StreamCollector,
  type StreamMeter,
  type StreamTranslator,
  newMeter,
} from '../../adapter.ts';
import { responsesUsage } from '../../conversation/client-usage.ts';
import { faultWithin, type FaultRule, protocolFault } from '../fault.ts';
import { servedTier } from '../../billable-features.ts';
import { SseFrames } from '../../stream/frames.ts';
import { responseFailure } from './chat.ts';
import {
  cutResponse,
  memberText,
  outputWords,
  rewriteResponse,
  toolCallCounts,
  responseExtras,
  withExtras,
  responsesQuantities,
} from './response.ts';
import type { ResponseItem, ResponseResource, ResponseStreamEvent } from './types.ts';

const counted = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.function_call_arguments.delta',
  'response.custom_tool_call_input.delta',
  'response.code_interpreter_call_code.delta',
  'response.mcp_call_arguments.delta',
]);
/**
 * Events that only announce a response. They wait for the first event with content, so that until
 * then another channel may replace the vendor.
 */
const preliminary = new Set(['response.created', 'response.in_progress', 'response.queued']);
const last = new Set(['response.completed', 'response.incomplete']);

function upstreamIdIn(data: string): string | undefined {
  const event: Documented<ResponseStreamEvent> | undefined = objectOf(parse(data));
  return textOf(objectOf(event?.response)?.id);
}

/**
 * A vendor's response stream for a client of the same format: events keep their bytes, except for
 * the response objects inside some of them.
 */
export class ResponsesStream implements StreamTranslator {
  readonly meter: StreamMeter = { ...newMeter(), nextEvent: 0 };
  /** The client's response object (`latin1`), set by the last event. */
  response = '';
  readonly #call: VendorCall;
  readonly #faults: readonly FaultRule[] | undefined;
  readonly #frames = new SseFrames((data, name) => this.#hear(data, name));
  readonly #output = new OutputSoFar();
  /** Finished calls of the vendor's tools. */
  readonly #ran: Documented<ResponseItem>[] = [];
  #begun = '';
  #waiting = '';
  #out = '';
  #tail = '';

  constructor(call: VendorCall, faults: readonly FaultRule[] | undefined) {
    this.#call = call;
    this.#faults = faults;
  }

  push(piece: Buffer): string {
    const { meter } = this;
    if (meter.done || meter.fault !== undefined) return '';
    const problem = this.#frames.push(piece);
    if (problem !== undefined) meter.fault ??= protocolFault(problem);
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #hear(data: string, name: string): boolean {
    if (data.startsWith('[DONE]')) return true;
    const type = typeOf(data) ?? name;
    if (counted.has(type)) this.#deltas(data, type);
    else if (type.startsWith('response.output_item.')) this.#item(data, type);
    else if (last.has(type)) return this.#finish(data, type);
    else if (type === 'error' || type === 'response.failed') return this.#fail(data, type);
    else if (preliminary.has(type)) {
      this.#begin(data, type);
      return true;
    }
    this.#say(`event: ${type}\ndata: ${data}\n\n`);
    return true;
  }

  #say(event: string): void {
    this.#out += this.#waiting + event;
    this.#waiting = '';
    this.meter.nextEvent = (this.meter.nextEvent ?? 0) + 1;
  }

  #begin(data: string, type: string): void {
    const rewritten = rewriteResponse(data, this.#call, ['response']);
    this.#begun = memberText(rewritten, 'response');
    this.meter.upstreamId ??= upstreamIdIn(data);
    this.#waiting += `event: ${type}\ndata: ${rewritten}\n\n`;
    this.meter.nextEvent = (this.meter.nextEvent ?? 0) + 1;
  }

  #item(data: string, type: string): void {
    this.#output.item(data, type);
    if (type !== 'response.output_item.done') return;
    const item: Documented<ResponseItem> | undefined = objectOf(
      parse(utf8(memberText(data, 'item'))),
    );
    if (item === undefined || toolCallCounts([item]) === undefined) return;
    this.#ran.push(item);
    this.meter.calls = toolCallCounts(this.#ran);
  }

  /** Counts and collects the text of a delta; the event stays as it is. */
  #deltas(data: string, type: string): void {
    const at = data.indexOf('"delta":"');
    // Some servers write a space behind the colon.
    const json = at < 0 ? memberText(data, 'delta') : data.slice(at + 8, stringEnd(data, at + 8));
    if (!json.startsWith('"')) return;
    this.meter.outputBytes += stringBytes(json);
    this.#output.delta(data, type, json);
  }

  #finish(data: string, type: string): boolean {
    const { meter } = this;
    const rewritten = rewriteResponse(data, this.#call, ['response']);
    this.response = memberText(rewritten, 'response');
    const response: Documented<ResponseResource> = objectOf(parse(utf8(this.response))) ?? {};
    meter.upstreamId ??= upstreamIdIn(data);
    meter.fault = responseFailure(response, this.#faults);
    const own = responsesQuantities(objectOf(response.usage));
    const extras = responseExtras(response, own);
    meter.quantities = withExtras(own, extras);
    meter.pricingFacts = { ...extras.told, ...servedTier(this.#call, response).told };
    meter.finished = meter.fault === undefined;
    meter.done = true;
    this.#tail = `${this.#waiting}event: ${type}\ndata: ${rewritten}\n\n`;
    this.#waiting = '';
    return false;
  }

  #fail(data: string, type: string): boolean {
    const event: Documented<ResponseStreamEvent> = objectOf(parse(utf8(data))) ?? {};
    this.meter.fault =
      type === 'error'
        ? (faultWithin(objectOf(event.error) ? event : { error: event }, this.#faults) ?? {
            kind: 'server_error',
            message: 'the response failed',
          })
        : responseFailure(objectOf(event.response) ?? { status: 'failed' }, this.#faults);
    return false;
  }

  end(): string {
    const { meter } = this;
    if (!meter.done && meter.fault === undefined) {
      const rest = this.#frames.end();
      const body = rest === '' ? undefined : parse(utf8(rest));
      if (isObject(body)) meter.fault = responseFailure(body, this.#faults);
      if (!meter.finished) meter.fault ??= protocolFault('the stream ended without its last event');
    }
    const out = this.#out + (meter.fault === undefined ? this.#tail : '');
    this.#out = '';
    this.#tail = '';
    return out;
  }

  cutShort(quantities: Quantities): string {
    const output = this.#output.soFar();
    this.response = cutResponse(
      this.#begun === '' ? '{}' : this.#begun,
      output,
      responsesUsage(quantities),
    );
    this.meter.finished = true;
    const number = this.meter.nextEvent ?? 0;
    return `${this.#waiting}event: response.incomplete\ndata: {"type":"response.incomplete","sequence_number":${number},"response":${this.response}}\n\n`;
  }
}

/**
 * The type of an event. All vendors but xAI begin with `{"type":"…"`; else the member is searched.
 */
function typeOf(data: string): string | undefined {
  if (data.startsWith('{"type":"')) return data.slice(9, data.indexOf('"', 9));
  const json = memberText(data, 'type');
  return json.startsWith('"') ? json.slice(1, -1) : undefined;
}

/** Collects the same stream for a client that requests a whole response. */
export class ResponsesCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #stream: ResponsesStream;

  constructor(call: VendorCall, faults: readonly FaultRule[] | undefined) {
    this.#stream = new ResponsesStream(call, faults);
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#stream.push(piece);
  }

  answer(cut?: Quantities): VendorAnswer {
    if (cut) this.#stream.cutShort(cut);
    else this.#stream.end();
    const quantities = cut ?? this.meter.quantities;
    const { response } = this.#stream;
    return {
      body: Buffer.from(response, 'latin1'),
      quantities,
      pricingFacts: cut === undefined ? this.meter.pricingFacts : undefined,
      upstreamId: this.meter.upstreamId,
      outputText: quantities ? '' : wordsOf(response),
    };
  }
}

function wordsOf(response: string): string {
  const body: Documented<ResponseResource> | undefined = objectOf(parse(utf8(response)));
  return outputWords(body?.output);
}

/** Puts the text of a delta into an item, by the delta's type. */
const filled: Readonly<Record<string, (item: string, text: string) => string>> = {
  'response.output_text.delta': (item, text) =>
    editJson(item, [
      {
        path: ['content'],
        json: `[{"type":"output_text","text":"${text}","annotations":[],"logprobs":[]}]`,
      },
    ]),
  'response.refusal.delta': (item, text) =>
    editJson(item, [{ path: ['content'], json: `[{"type":"refusal","refusal":"${text}"}]` }]),
  'response.function_call_arguments.delta': (item, text) =>
    editJson(item, [{ path: ['arguments'], json: `"${text}"` }]),
  'response.custom_tool_call_input.delta': (item, text) =>
    editJson(item, [{ path: ['input'], json: `"${text}"` }]),
};

interface Open {
  readonly item: string;
  type: string;
  readonly pieces: string[];
}

/**
 * The items of a stream so far, kept as JSON text and put together only if the stream is cut short.
 */
class OutputSoFar {
  readonly #done = new Map<number, string>();
  readonly #open = new Map<number, Open>();

  item(data: string, type: string): void {
    const index = Number(memberText(data, 'output_index'));
    const item = memberText(data, 'item');
    if (type === 'response.output_item.done') {
      this.#done.set(index, item);
      this.#open.delete(index);
    } else this.#open.set(index, { item, type: '', pieces: [] });
  }

  /** `json` is the delta as JSON text of a string. */
  delta(data: string, type: string, json: string): void {
    if (this.#open.size === 0) return;
    const at = data.indexOf('"output_index":');
    const open = this.#open.get(Number.parseInt(data.slice(at + 15, at + 25), 10));
    if (open === undefined || filled[type] === undefined) return;
    open.type = type;
    open.pieces.push(json.slice(1, -1));
  }

  soFar(): string[] {
    const all = new Map(this.#done);
    for (const [index, { item, type, pieces }] of this.#open) {
      const filledItem = filled[type]?.(item, pieces.join('')) ?? item;
      all.set(index, editJson(filledItem, [{ path: ['status'], json: '"incomplete"' }]));
    }
    return [...all].sort(([a], [b]) => a - b).map(([, item]) => item);
  }
}
