import {
  type Documented,
  isObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  utf8,
} from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import type {
  VendorAnswer,
  VendorCall,
  StreamCollector,
  StreamMeter,
  StreamTranslator,
} from '../adapter.ts';
import type { ChatChoice, ChatCompletion, ChatToolCall } from '../formats/openai-chat/types.ts';
import { chatUsage } from './client-usage.ts';
import { withDetails } from './call-signatures.ts';

interface CollectedCall {
  readonly id: unknown;
  readonly type: unknown;
  readonly function?: { readonly name: string; arguments: string };
  readonly custom?: { readonly name: string; input: string };
}

interface Collected {
  readonly message: Record<string, unknown>;
  readonly calls: CollectedCall[];
  readonly rest: Record<string, unknown>;
  finish: string | undefined;
}

/**
 * Puts a stream together from the events written for the client: the translator has already made
 * them regular.
 */
export class ChatCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #call: VendorCall;
  readonly #stream: StreamTranslator;
  readonly #choices = new Map<number, Collected>();
  readonly #rest: Record<string, unknown> = {};
  #usage: unknown;

  constructor(call: VendorCall, translator: (call: VendorCall) => StreamTranslator) {
    this.#call = call;
    this.#stream = translator({ ...call, stream: true, includeUsage: true });
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#add(this.#stream.push(piece));
  }

  answer(cut?: Quantities): VendorAnswer {
    this.#add(cut ? this.#stream.cutShort(cut) : this.#stream.end());
    const choices = [...this.#choices]
      .sort(([a], [b]) => a - b)
      .map(([index, choice]) => {
        const { message } = choice;
        if (choice.calls.length) message['tool_calls'] = choice.calls.filter(Boolean);
        // `content` stays null only in a message with calls, a refusal or audio.
        else if (
          message['content'] === null &&
          message['refusal'] == null &&
          message['audio'] == null
        )
          message['content'] = '';
        return { index, message, ...choice.rest, finish_reason: choice.finish ?? 'stop' };
      });
    const { answerId: id, created, publicModel: model } = this.#call;
    const usage = cut ? parse(chatUsage(cut)) : this.#usage;
    const quantities = cut ?? this.meter.quantities;
    const body = {
      id,
      object: 'chat.completion',
      created,
      model,
      ...this.#rest,
      choices,
      ...(usage ? { usage } : {}),
    };
    return {
      body: Buffer.from(JSON.stringify(body)),
      quantities,
      pricingFacts: cut === undefined ? this.meter.pricingFacts : undefined,
      upstreamId: this.meter.upstreamId,
      signatures: cut ? undefined : this.meter.signatures,
      outputText: quantities ? '' : this.#outputText(),
    };
  }

  #add(events: string): void {
    if (events === '') return;
    for (const event of utf8(events).split('\n\n')) {
      const chunk = parse(event.slice('data: '.length));
      if (isObject(chunk)) this.#chunk(chunk);
    }
  }

  #chunk(chunk: Documented<ChatCompletion>): void {
    for (const [name, value] of Object.entries(chunk)) {
      if (name === 'usage') this.#usage = value ?? this.#usage;
      else if (name !== 'id' && name !== 'object' && name !== 'model' && name !== 'choices')
        this.#rest[name] = value;
    }
    for (const choice of objectsOf(chunk.choices)) this.#choice(choice);
  }

  #choice(choice: Documented<ChatChoice>): void {
    const index = Number(choice.index);
    let into = this.#choices.get(index);
    if (!into)
      this.#choices.set(
        index,
        (into = {
          message: { role: 'assistant', content: null },
          calls: [],
          rest: {},
          finish: undefined,
        }),
      );
    into.finish = textOf(choice.finish_reason) ?? into.finish;
    for (const [name, value] of Object.entries(objectOf(choice.delta) ?? {})) {
      if (name === 'tool_calls') addCalls(into, listOf(value));
      else if (name === 'reasoning_details')
        into.message[name] = withDetails(listOf(into.message[name]), listOf(value));
      else into.message[name] = joined(into.message[name], value);
    }
    for (const [name, value] of Object.entries(choice)) {
      if (name !== 'index' && name !== 'delta' && name !== 'finish_reason')
        into.rest[name] = joined(into.rest[name], value);
    }
  }

  #outputText(): string {
    let text = '';
    for (const { message, calls } of this.#choices.values()) {
      text += (textOf(message['content']) ?? '') + (textOf(message['reasoning_content']) ?? '');
      for (const call of calls)
        text +=
          (call?.function?.name ?? call?.custom?.name ?? '') +
          (call?.function?.arguments ?? call?.custom?.input ?? '');
    }
    return text;
  }
}

/**
 * Joins the pieces of a member: texts and lists grow, objects are merged (logprobs), any other
 * value is replaced. `role` and null add nothing.
 */
export function joined(before: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return before ?? null;
  if (typeof before === 'string' && typeof value === 'string')
    return before === 'assistant' && value === 'assistant' ? before : before + value;
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  if (isObject(before) && isObject(value))
    return Object.fromEntries(
      [...new Set([...Object.keys(before), ...Object.keys(value)])].map((name) => [
        name,
        joined(before[name], value[name]),
      ]),
    );
  return value;
}

function addCalls(into: Collected, deltas: readonly unknown[]): void {
  for (const one of deltas) {
    const delta: Documented<ChatToolCall> | undefined = objectOf(one);
    if (delta === undefined) continue;
    const index = Number(delta.index);
    const fn = objectOf(delta.function);
    const custom = objectOf(delta.custom);
    const known = into.calls[index];
    if (!known) {
      const { index: _, function: __, custom: ___, ...rest } = delta;
      into.calls[index] = {
        id: delta.id,
        type: delta.type,
        ...rest,
        ...(fn && {
          function: { name: textOf(fn.name) ?? '', arguments: textOf(fn.arguments) ?? '' },
        }),
        ...(custom && {
          custom: { name: textOf(custom.name) ?? '', input: textOf(custom.input) ?? '' },
        }),
      };
    } else if (known.function && fn) known.function.arguments += textOf(fn.arguments) ?? '';
    else if (known.custom && custom) known.custom.input += textOf(custom.input) ?? '';
  }
}
