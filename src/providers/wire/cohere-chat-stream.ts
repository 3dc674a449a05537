import { jsonText } from '../../base/json-edit.ts';
import type { Fault } from '../../base/fault.ts';
import type { StreamMeter } from '../adapter.ts';
import type { ChatChunks } from './chat-chunks.ts';
import type { EventReader } from './chat-stream.ts';
import { cohereFinish, cohereLogprobs, cohereQuantities } from './cohere-chat-answer.ts';
import { cohereFaultWithin } from './cohere-chat-fault.ts';
import { countOf, isObject, type JsonObject, objectOf, parse, textOf, utf8 } from './json.ts';
import { protocolFault } from './openai-chat-fault.ts';
import { stringAfter } from './string-after.ts';

/** What stands before the text of nearly every event. */
const beforeText = '"delta":{"message":{"content":{"text":';

/** Cohere's events (docs.cohere.com/v2/docs/streaming, 2026-08) as OpenAI's chunks. */
export class CohereReader implements EventReader {
  readonly #chunks: ChatChunks;
  readonly #meter: StreamMeter;
  /** The vendor's index of a call → ours, and whether its arguments have begun. */
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
    const body = parse(utf8(data));
    if (!isObject(body)) {
      if (data !== '[DONE]') this.#meter.fault = protocolFault('an event that is not JSON');
      return '';
    }
    return this.#tell(body, textOf(body['type']) ?? name);
  }

  rest(rest: string): Fault | undefined {
    const body = parse(utf8(rest));
    return isObject(body) ? cohereFaultWithin(body) : undefined;
  }

  #tell(body: JsonObject, type: string): string {
    const delta = objectOf(body['delta']);
    const message = objectOf(delta?.['message']);
    switch (type) {
      case 'message-start':
        this.#meter.upstreamId ??= textOf(body['id']);
        return '';
      case 'content-start':
      case 'content-delta': {
        const content = objectOf(message?.['content']);
        const text = textOf(content?.['text']) ?? '';
        const logprobs =
          this.#tellsLogprobs && text !== '' ? cohereLogprobs([body['logprobs']]) : undefined;
        const beside =
          logprobs === undefined ? '' : this.#chunks.beside(`"logprobs":${jsonText(logprobs)}`);
        return (
          this.#chunks.reasoning(textOf(content?.['thinking']) ?? '') +
          this.#chunks.content(text) +
          beside
        );
      }
      case 'tool-plan-delta':
        return this.#chunks.reasoning(textOf(message?.['tool_plan']) ?? '');
      case 'tool-call-start':
      case 'tool-call-delta':
      case 'tool-call-end':
        return this.#call(type, countOf(body['index']) ?? 0, objectOf(message?.['tool_calls']));
      case 'citation-start':
        return message?.['citations'] === undefined
          ? ''
          : this.#chunks.delta(`"citations":[${jsonText(message['citations'])}]`);
      case 'message-end':
        return this.#end(delta ?? {});
      case 'content-end':
      case 'citation-end':
        return '';
      default:
        // Events of tomorrow say nothing; errors have no type that is documented.
        if (type === '' || type.includes('error')) this.#meter.fault = cohereFaultWithin(body);
        return '';
    }
  }

  #call(type: string, index: number, call: JsonObject | undefined): string {
    const fn = objectOf(call?.['function']);
    const args = textOf(fn?.['arguments']) ?? '';
    if (type === 'tool-call-start') {
      this.#calls.set(index, { call: this.#chunks.calls, told: args !== '' });
      return this.#chunks.call(
        textOf(call?.['id']) || `call_${index}`,
        textOf(fn?.['name']) ?? '',
        args,
      );
    }
    const begun = this.#calls.get(index);
    if (!begun) return '';
    // A call that has said nothing of its arguments has none.
    const more = type === 'tool-call-end' && !begun.told ? '{}' : args;
    begun.told ||= more !== '';
    return this.#chunks.arguments(begun.call, more);
  }

  #end(delta: JsonObject): string {
    this.#meter.quantities = cohereQuantities(delta['usage']);
    const finish = cohereFinish(delta['finish_reason'], delta['error'], this.#chunks.calls);
    if (typeof finish !== 'string') {
      this.#meter.fault = finish;
      return '';
    }
    this.#meter.done = true;
    return this.#chunks.finish(finish);
  }
}
