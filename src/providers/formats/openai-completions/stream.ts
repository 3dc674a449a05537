import {
  editJson,
  jsonText,
  type Documented,
  isObject,
  type JsonObject,
  objectsOf,
  parse,
  rawMembers,
  isPresent,
  textOf,
  utf8,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import {
  type VendorCall,
  type StreamMeter,
  type StreamTranslator,
  newMeter,
} from '../../adapter.ts';
import { servedTier } from '../../billable-features.ts';
import { chatUsage } from '../../conversation/client-usage.ts';
import { SseFrames } from '../../stream/frames.ts';
import { faultWithin, mayTellFault, type FaultRule } from '../fault.ts';
import { readUsage, type ChatUsage, upstreamIdOf } from '../openai-chat/response.ts';
import { completionChanges } from './response.ts';
import type { TextCompletion } from './types.ts';

/**
 * A stream of text completions for a client of the same format: chunks keep the vendor's bytes;
 * usage comes at the end, and only if the client requested it.
 */
export class CompletionsStream implements StreamTranslator {
  readonly meter: StreamMeter = newMeter();
  readonly #call: VendorCall;
  readonly #faults: readonly FaultRule[] | undefined;
  readonly #frames = new SseFrames((data, name) => this.#hear(data, name));
  /** Which choices have begun, and whether they have ended. */
  readonly #ended = new Map<number, boolean>();
  #created: unknown;
  #usage: ChatUsage | undefined;
  #out = '';
  #closed = false;

  constructor(call: VendorCall, faults?: readonly FaultRule[]) {
    this.#call = call;
    this.#faults = faults;
  }

  push(piece: Buffer): string {
    if (this.#closed) return '';
    const problem = this.#frames.push(piece);
    if (problem !== undefined) this.#fail(problem);
    return this.#take();
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#frames.end().trim();
    // The vendor sent one JSON value instead of a stream: an error with a good status, or a whole
    // answer.
    if (rest.startsWith('{') && !this.#closed) this.#hear(rest, '');
    if (!this.#closed) this.#conclude();
    return this.#take();
  }

  cutShort(quantities: Quantities): string {
    if (this.#ended.size === 0) this.#ended.set(0, false);
    const open = [...this.#ended].filter(([, ended]) => !ended).map(([index]) => index);
    const choices = open.map(
      (index) => `{"text":"","index":${index},"logprobs":null,"finish_reason":"length"}`,
    );
    this.meter.finished = true;
    this.#closed = true;
    return (
      (choices.length > 0 ? this.#chunk(choices.join(','), '') : '') +
      this.#usageChunk(chatUsage(quantities))
    );
  }

  #take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #hear(data: string, name: string): boolean {
    if (data.trim() === '') return true;
    if (data.startsWith('[DONE]')) {
      this.meter.done = true;
      this.#conclude();
      return false;
    }
    const body = parse(data);
    if (!isObject(body)) {
      this.#fail('an event that is not JSON');
      return false;
    }
    const decoded = mayTellFault(body) || name === 'error' ? parse(utf8(data)) : undefined;
    if (isObject(decoded))
      this.meter.fault =
        faultWithin(decoded, this.#faults) ??
        (name === 'error' ? faultWithin({ error: decoded }, this.#faults) : undefined);
    if (this.meter.fault === undefined) this.#event(data, body);
    else this.#closed = true;
    return !this.#closed;
  }

  #event(data: string, body: JsonObject): void {
    const { meter } = this;
    meter.upstreamId ??= upstreamIdOf(body);
    meter.pricingFacts = servedTier(this.#call, body).told ?? meter.pricingFacts;
    const { created, usage, choices: told }: Documented<TextCompletion> = body;
    this.#created ??= typeof created === 'number' ? created : undefined;
    if (isObject(usage)) this.#noteUsage(rawMembers(data).get('usage'));
    const choices = objectsOf(told);
    for (const choice of choices) {
      const index = Number(choice.index ?? 0) || 0;
      meter.outputBytes += (textOf(choice.text) ?? '').length;
      this.#ended.set(index, (this.#ended.get(index) ?? false) || Boolean(choice.finish_reason));
    }
    meter.finished = this.#ended.size > 0 && [...this.#ended.values()].every(Boolean);
    if (choices.length === 0) return;
    const changes = completionChanges(body, this.#call);
    if (changes.some(({ json }) => json === '"error"')) return this.#broken();
    if (usage !== undefined && (usage !== null || !this.#call.includeUsage))
      changes.push({ path: ['usage'] });
    this.#out += `data: ${editJson(data, changes)}\n\n`;
  }

  #noteUsage(text: string | undefined): void {
    if (isPresent(text)) this.#usage = readUsage(text) ?? this.#usage;
    this.meter.quantities = this.#usage?.quantities;
  }

  #broken(): void {
    this.meter.finished = false;
    this.meter.fault = {
      kind: 'server_error',
      message: 'the vendor ended its answer with an error',
    };
    this.#closed = true;
  }

  #conclude(): void {
    if (!this.meter.finished) return this.#fail('the stream ended without a finish reason');
    this.#closed = true;
    if (this.#usage) this.#out += this.#usageChunk(this.#usage.json);
  }

  #fail(message: string): void {
    if (!this.meter.finished) this.meter.fault ??= { kind: 'protocol', message };
    this.#closed = true;
  }

  #usageChunk(usage: string): string {
    return this.#call.includeUsage ? this.#chunk('', `,"usage":${usage}`) : '';
  }

  #chunk(choices: string, rest: string): string {
    const { answerId, publicModel, created } = this.#call;
    const head = `{"id":${jsonText(answerId)},"object":"text_completion","created":${Number(this.#created ?? created)}`;
    return `data: ${head},"model":${jsonText(publicModel)},"choices":[${choices}]${rest}}\n\n`;
  }
}
