import { stringEnd } from '../../base/json-edit.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Answer, Call, StreamCollector, StreamMeter, StreamTranslator } from '../adapter.ts';
import { isObject, type JsonObject, objectOf, parse, stringBytes, textOf, utf8 } from './json.ts';
import { faultWithin, protocolFault } from './openai-chat-fault.ts';
import type { ResponsesQuirks } from './openai-responses-chat.ts';
import { failureOf } from './openai-responses-chat.ts';
import { OutputSoFar } from './openai-responses-output.ts';
import { cutResponse, memberText, rewriteResponse } from './openai-responses-rewrite.ts';
import { responsesQuantities } from './openai-responses-usage.ts';
import { callsOf, responseExtras, withExtras } from './responses-told.ts';
import { responsesUsage } from './responses-usage.ts';
import { SseFrames } from './sse-frames.ts';
import { toldTier } from './tiers.ts';

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
 * Events that say nothing but that there is a response: they wait for the first that says more, so
 * that until then its vendor may be replaced.
 */
const preliminary = new Set(['response.created', 'response.in_progress', 'response.queued']);
const last = new Set(['response.completed', 'response.incomplete']);

/**
 * A vendor's response stream for a client of the same format: every event as it came, but for the
 * response objects inside some of them.
 */
export class NativeResponseStream implements StreamTranslator {
  readonly meter: StreamMeter = {
    quantities: undefined,
    outputBytes: 0,
    finished: false,
    done: false,
    fault: undefined,
    upstreamId: undefined,
    nextEvent: 0,
  };
  /** The client's response object (`latin1`), once the last event has told it. */
  response = '';
  readonly #call: Call;
  readonly #quirks: ResponsesQuirks;
  readonly #frames = new SseFrames((data, name) => this.#hear(data, name));
  readonly #output = new OutputSoFar();
  /** Calls of the vendor's tools that have ended. */
  readonly #ran: JsonObject[] = [];
  #begun = '';
  #waiting = '';
  #out = '';
  #tail = '';

  constructor(call: Call, quirks: ResponsesQuirks) {
    this.#call = call;
    this.#quirks = quirks;
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
    this.meter.upstreamId ??= textOf(objectOf(objectOf(parse(data))?.['response'])?.['id']);
    this.#waiting += `event: ${type}\ndata: ${rewritten}\n\n`;
    this.meter.nextEvent = (this.meter.nextEvent ?? 0) + 1;
  }

  #item(data: string, type: string): void {
    this.#output.item(data, type);
    if (type !== 'response.output_item.done') return;
    const item = parse(utf8(memberText(data, 'item')));
    if (!isObject(item) || callsOf([item]) === undefined) return;
    this.#ran.push(item);
    this.meter.calls = callsOf(this.#ran);
  }

  /** The delta's own text is counted and remembered; the event stays as it is. */
  #deltas(data: string, type: string): void {
    const at = data.indexOf('"delta":"');
    if (at < 0) return;
    const json = data.slice(at + 8, stringEnd(data, at + 8));
    this.meter.outputBytes += stringBytes(json);
    this.#output.delta(data, type, json);
  }

  #finish(data: string, type: string): boolean {
    const { meter } = this;
    const rewritten = rewriteResponse(data, this.#call, ['response']);
    this.response = memberText(rewritten, 'response');
    const response = objectOf(parse(utf8(this.response))) ?? {};
    meter.upstreamId ??= textOf(objectOf(objectOf(parse(data))?.['response'])?.['id']);
    meter.fault = failureOf(response, this.#quirks);
    const own = responsesQuantities(objectOf(response['usage']));
    const extras = responseExtras(response, own);
    meter.quantities = withExtras(own, extras);
    meter.told = { ...extras.told, ...toldTier(this.#call, response).told };
    meter.finished = meter.fault === undefined;
    meter.done = true;
    this.#tail = `${this.#waiting}event: ${type}\ndata: ${rewritten}\n\n`;
    this.#waiting = '';
    return false;
  }

  #fail(data: string, type: string): boolean {
    const body = parse(utf8(data));
    const told: JsonObject = isObject(body) ? body : {};
    this.meter.fault =
      type === 'error'
        ? (faultWithin(objectOf(told['error']) ? told : { error: told }, this.#quirks) ?? {
            kind: 'server_error',
            message: 'the response failed',
          })
        : failureOf(objectOf(told['response']) ?? { status: 'failed' }, this.#quirks);
    return false;
  }

  end(): string {
    const { meter } = this;
    if (!meter.done && meter.fault === undefined) {
      const rest = this.#frames.end();
      const body = rest === '' ? undefined : parse(utf8(rest));
      if (isObject(body)) meter.fault = failureOf(body, this.#quirks);
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

/** `{"type":"…"` is how every vendor but xAI begins; else it is looked for. */
function typeOf(data: string): string | undefined {
  if (data.startsWith('{"type":"')) return data.slice(9, data.indexOf('"', 9));
  const told = memberText(data, 'type');
  return told.startsWith('"') ? told.slice(1, -1) : undefined;
}

/** The same stream for a client that wants the response as a whole. */
export class NativeResponseCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #stream: NativeResponseStream;

  constructor(call: Call, quirks: ResponsesQuirks) {
    this.#stream = new NativeResponseStream(call, quirks);
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#stream.push(piece);
  }

  answer(cut?: Quantities): Answer {
    if (cut) this.#stream.cutShort(cut);
    else this.#stream.end();
    const quantities = cut ?? this.meter.quantities;
    const { response } = this.#stream;
    return {
      body: Buffer.from(response, 'latin1'),
      quantities,
      told: cut === undefined ? this.meter.told : undefined,
      upstreamId: this.meter.upstreamId,
      outputText: quantities ? '' : utf8(response),
    };
  }
}
