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
  stringAfter,
  type Unchecked,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import type { VendorAnswer, VendorCall, StreamMeter } from '../../adapter.ts';
import {
  chatAnswer,
  type FinishReason,
  type ChatChunks,
  type EventReader,
} from '../../conversation/chat-stream.ts';
import { stopsBeyond } from '../../conversation/stop-text.ts';
import { protocolFault } from '../fault.ts';
import { objectIn } from '../reply.ts';
import { cohereStopsMax } from './request.ts';
import { cohereFaultWithin } from './fault.ts';
import type {
  CohereChatRequest,
  ChatResponseV2,
  CohereDelta,
  CohereEvent,
  CohereUsage,
  LogprobItem,
  ToolCallV2,
} from './types.ts';

const reasons: Readonly<Record<string, FinishReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_TOXIC: 'content_filter',
};

/**
 * OpenAI's finish reason for the vendor's, or the fault for `ERROR` and `TIMEOUT`, after which an
 * answer is not whole.
 */
export function cohereFinish(reason: unknown, error: unknown, calls: number): FinishReason | Fault {
  if (reason === 'TIMEOUT')
    return {
      kind: 'timeout',
      message: textOf(error) ?? 'the vendor stopped after its own time limit',
    };
  if (reason === 'ERROR' || reason === 'ERROR_LIMIT')
    return {
      kind: 'server_error',
      message: textOf(error) ?? 'the vendor ended its answer with an error',
    };
  const finish = reasons[textOf(reason) ?? ''] ?? 'stop';
  if (finish === 'stop' || finish === 'tool_calls') return calls > 0 ? 'tool_calls' : 'stop';
  return finish;
}

/**
 * The quantities of a usage. `tokens` holds all that the model read and wrote, cached and reasoning
 * tokens included; `billed_units` leaves out the vendor's own preamble. Clients see, and are
 * charged for, what OpenAI's format counts: all tokens.
 */
export function cohereQuantities(value: Unchecked<CohereUsage>): Quantities | undefined {
  const usage = objectOf(value);
  const counts = objectOf(usage?.tokens) ?? objectOf(usage?.billed_units);
  const prompt = countOf(counts?.input_tokens);
  const completion = countOf(counts?.output_tokens);
  if (prompt === undefined && completion === undefined) return undefined;
  const cached = Math.min(prompt ?? 0, countOf(usage?.cached_tokens) ?? 0);
  const reasoning = Math.min(completion ?? 0, countOf(counts?.reasoning_tokens) ?? 0);
  const all = {
    input: (prompt ?? 0) - cached,
    cached_input: cached,
    output: (completion ?? 0) - reasoning,
    reasoning,
  };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

/**
 * `logprobs` as a choice's (docs.cohere.com/reference/chat, 2026-11: `LogprobItem`). An item is a
 * piece of text and the probabilities of its tokens; a piece of several tokens is as probable as
 * all of them together. The vendor does not report alternative tokens.
 */
export function cohereLogprobs(items: readonly unknown[]): object | undefined {
  const content = objectsOf(items).map((item: Documented<LogprobItem>) => {
    const token = textOf(item.text) ?? '';
    const logprob = listOf(item.logprobs).reduce(
      (sum: number, one) => sum + (typeof one === 'number' ? one : 0),
      0,
    );
    return { token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] };
  });
  return content.length === 0 ? undefined : { content, refusal: null };
}

export function readCohere(
  reply: Buffer,
  call: VendorCall<CohereChatRequest>,
): VendorAnswer | Fault {
  const body: Documented<ChatResponseV2> | undefined = objectIn(reply);
  if (body === undefined)
    return protocolFault(`an answer that is not a JSON object: ${reply.toString('utf8', 0, 120)}`);
  const message = objectOf(body.message);
  if (!message) return cohereFaultWithin(body) ?? protocolFault('an answer without a message');
  const parts = objectsOf(message.content);
  const texts = (type: 'text' | 'thinking'): string =>
    parts.map((part) => (part.type === type ? (textOf(part[type]) ?? '') : '')).join('');
  const calls = objectsOf(message.tool_calls).map(callIn);
  const finish = cohereFinish(body.finish_reason, body.error, calls.length);
  if (typeof finish !== 'string') return finish;
  const citations = listOf(message.citations);
  const whole = {
    content: textOf(message.content) ?? texts('text'),
    // The plan of a model without thinking, which it writes before its calls, stands for thinking.
    reasoning: texts('thinking') + (textOf(message.tool_plan) ?? ''),
    calls,
    finish,
    quantities: cohereQuantities(body.usage),
    upstreamId: textOf(body.id),
    logprobs: cohereLogprobs(listOf(body.logprobs)),
    ...(citations.length ? { more: { citations } } : {}),
  };
  return chatAnswer(call, whole, stopsBeyond(call.body.stop, cohereStopsMax));
}

function callIn(
  call: Documented<ToolCallV2>,
  index: number,
): { id: string; name: string; arguments: string } {
  const fn = objectOf(call.function);
  return {
    id: textOf(call.id) || `call_${index}`,
    name: textOf(fn?.name) ?? '',
    arguments: textOf(fn?.arguments) || '{}',
  };
}

/** The beginning of nearly every event, before its text. */
const beforeText = '"delta":{"message":{"content":{"text":';

/** Cohere's events (docs.cohere.com/v2/docs/streaming, 2026-08) as OpenAI's chunks. */
export class CohereReader implements EventReader {
  readonly #chunks: ChatChunks;
  readonly #meter: StreamMeter;
  /** The vendor's index of a call → the client's index, and whether its arguments have begun. */
  readonly #calls = new Map<number, { readonly call: number; told: boolean }>();

  readonly #tellsLogprobs: boolean;

  constructor(chunks: ChatChunks, meter: StreamMeter, tellsLogprobs: boolean) {
    this.#tellsLogprobs = tellsLogprobs;
    this.#chunks = chunks;
    this.#meter = meter;
  }

  event(data: string, name: string): string {
    const text = this.#tellsLogprobs ? undefined : stringAfter(data, beforeText);
    if (text !== undefined) return this.#chunks.contentJson(text);
    const body: Documented<CohereEvent> | undefined = objectOf(parse(utf8(data)));
    if (body === undefined) {
      if (data !== '[DONE]') this.#meter.fault = protocolFault('an event that is not JSON');
      return '';
    }
    return this.#tell(body, textOf(body.type) ?? name);
  }

  rest(rest: string): Fault | undefined {
    const body = parse(utf8(rest));
    return isObject(body) ? cohereFaultWithin(body) : undefined;
  }

  #tell(body: Documented<CohereEvent>, type: string): string {
    const delta = objectOf(body.delta);
    const message = objectOf(delta?.message);
    switch (type) {
      case 'message-start':
        this.#meter.upstreamId ??= textOf(body.id);
        return '';
      case 'content-start':
      case 'content-delta': {
        const content = objectOf(message?.content);
        const text = textOf(content?.text) ?? '';
        const logprobs =
          this.#tellsLogprobs && text !== '' ? cohereLogprobs([body.logprobs]) : undefined;
        const beside =
          logprobs === undefined ? '' : this.#chunks.beside(`"logprobs":${jsonText(logprobs)}`);
        return (
          this.#chunks.reasoning(textOf(content?.thinking) ?? '') +
          this.#chunks.content(text) +
          beside
        );
      }
      case 'tool-plan-delta':
        return this.#chunks.reasoning(textOf(message?.tool_plan) ?? '');
      case 'tool-call-start':
      case 'tool-call-delta':
      case 'tool-call-end':
        return this.#call(type, countOf(body.index) ?? 0, objectOf(message?.tool_calls));
      case 'citation-start':
        return message?.citations === undefined
          ? ''
          : this.#chunks.delta(`"citations":[${jsonText(message.citations)}]`);
      case 'message-end':
        return this.#end(delta ?? {});
      case 'content-end':
      case 'citation-end':
        return '';
      default:
        // Unknown events are dropped; errors have no documented type.
        if (type === '' || type.includes('error')) this.#meter.fault = cohereFaultWithin(body);
        return '';
    }
  }

  #call(type: string, index: number, call: Documented<ToolCallV2> | undefined): string {
    const fn = objectOf(call?.function);
    const args = textOf(fn?.arguments) ?? '';
    if (type === 'tool-call-start') {
      this.#calls.set(index, { call: this.#chunks.calls, told: args !== '' });
      return this.#chunks.call(textOf(call?.id) || `call_${index}`, textOf(fn?.name) ?? '', args);
    }
    const begun = this.#calls.get(index);
    if (!begun) return '';
    // A call without arguments gets `{}`.
    const more = type === 'tool-call-end' && !begun.told ? '{}' : args;
    begun.told ||= more !== '';
    return this.#chunks.arguments(begun.call, more);
  }

  #end(delta: Documented<CohereDelta>): string {
    this.#meter.quantities = cohereQuantities(delta.usage);
    const finish = cohereFinish(delta.finish_reason, delta.error, this.#chunks.calls);
    if (typeof finish !== 'string') {
      this.#meter.fault = finish;
      return '';
    }
    this.#meter.done = true;
    return this.#chunks.finish(finish);
  }
}
