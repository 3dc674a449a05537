import type { Quantities } from '../../base/quantities.ts';
import type { Answer, Call, StreamCollector, StreamMeter, StreamTranslator } from '../adapter.ts';
import { joined } from './chat-collect.ts';
import { usageText } from './chat-usage.ts';
import { isObject, type JsonObject, listOf, parse, textOf, utf8 } from './json.ts';

/** Puts a stream of text completions together from the client's own events. */
export class CompletionCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #call: Call;
  readonly #stream: StreamTranslator;
  readonly #choices = new Map<number, Record<string, unknown>>();
  #usage: unknown;

  constructor(call: Call, translator: (call: Call) => StreamTranslator) {
    this.#call = call;
    this.#stream = translator({ ...call, stream: true, includeUsage: true });
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#add(this.#stream.push(piece));
  }

  answer(cut?: Quantities): Answer {
    this.#add(cut ? this.#stream.cutShort(cut) : this.#stream.end());
    const { answerId: id, created, publicModel: model } = this.#call;
    const choices = [...this.#choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    const usage = cut ? parse(usageText(cut)) : this.#usage;
    const quantities = cut ?? this.meter.quantities;
    return {
      body: Buffer.from(
        JSON.stringify({
          id,
          object: 'text_completion',
          created,
          model,
          choices,
          ...(usage ? { usage } : {}),
        }),
      ),
      quantities,
      told: cut === undefined ? this.meter.told : undefined,
      upstreamId: this.meter.upstreamId,
      outputText: quantities ? '' : choices.map(({ text }) => textOf(text) ?? '').join(''),
    };
  }

  #add(events: string): void {
    if (events === '') return;
    for (const event of utf8(events).split('\n\n')) {
      const chunk = parse(event.slice('data: '.length));
      if (!isObject(chunk)) continue;
      this.#usage = chunk['usage'] ?? this.#usage;
      for (const choice of listOf(chunk['choices'])) if (isObject(choice)) this.#choice(choice);
    }
  }

  #choice({ index, finish_reason: finish, ...choice }: JsonObject): void {
    const at = Number(index) || 0;
    const into = this.#choices.get(at) ?? {
      text: '',
      index: at,
      logprobs: null,
      finish_reason: null,
    };
    this.#choices.set(at, into);
    for (const [name, value] of Object.entries(choice)) into[name] = joined(into[name], value);
    into['finish_reason'] = finish ?? into['finish_reason'];
  }
}
