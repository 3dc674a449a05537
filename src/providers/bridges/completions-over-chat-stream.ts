import { jsonText } from '../../base/json-edit.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { Call, StreamMeter, StreamTranslator } from '../adapter.ts';
import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parse,
  rawMembers,
  says,
  textOf,
  utf8,
} from '../wire/json.ts';
import {
  completionEnd,
  echoOf,
  logprobsFrom,
  promptLength,
} from './completions-over-chat-answer.ts';
import { eachChunk, plainWords } from './chat-events.ts';

/** Chat chunks, which the vendor's own adapter has made regular, as chunks of text. */
export class CompletionEvents implements StreamTranslator {
  readonly meter: StreamMeter;
  readonly #call: Call;
  readonly #chat: StreamTranslator;
  /**
   * Where each choice's text has come to, in characters; a choice that is not here has not begun.
   */
  readonly #offsets = new Map<number, number>();
  /** Words alone can be read without parsing: one choice, and nothing told beside its words. */
  readonly #plain: boolean;
  #head: string | undefined;

  constructor(call: Call, chat: StreamTranslator) {
    this.#call = call;
    this.#chat = chat;
    this.meter = chat.meter;
    this.#plain = typeof call.body['logprobs'] !== 'number' && Number(call.body['n'] ?? 1) === 1;
  }

  push(piece: Buffer): string {
    return eachChunk(this.#chat.push(piece), this.#chunk);
  }

  end(): string {
    return eachChunk(this.#chat.end(), this.#chunk);
  }

  cutShort(quantities: Quantities): string {
    return eachChunk(this.#chat.cutShort(quantities), this.#chunk);
  }

  readonly #chunk = (json: string): string => {
    const plain =
      this.#plain && this.#offsets.has(0) ? plainWords(json, '"delta":{"content":"') : undefined;
    if (plain !== undefined) return this.#write(textChoice(plain, 0));
    const body = parse(utf8(json));
    if (!isObject(body)) return '';
    const created = typeof body['created'] === 'number' ? body['created'] : this.#call.created;
    this.#head ??= `{"id":${jsonText(this.#call.answerId)},"object":"text_completion","created":${created},"model":${jsonText(this.#call.publicModel)}`;
    const choices = listOf(body['choices']).filter(isObject);
    const out = choices.map((choice) => this.#choice(choice)).join('');
    const usage = this.#call.includeUsage ? rawMembers(json).get('usage') : undefined;
    return says(usage) ? out + this.#write('', `,"usage":${usage}`) : out;
  };

  #choice(choice: JsonObject): string {
    const index = Number(choice['index']) || 0;
    const delta = objectOf(choice['delta']) ?? {};
    const said = (textOf(delta['content']) ?? '') + (textOf(delta['refusal']) ?? '');
    const begun = this.#offsets.get(index);
    const text = begun === undefined ? echoOf(this.#call) + said : said;
    const from = begun ?? promptLength(this.#call);
    this.#offsets.set(index, from + said.length);
    const finish = choice['finish_reason'];
    const logprobs = logprobsFrom(choice['logprobs'], from);
    if (text === '' && logprobs === null && typeof finish !== 'string') return '';
    return this.#write(
      textChoice(
        jsonText(text),
        index,
        jsonText(logprobs),
        typeof finish === 'string' ? completionEnd(finish) : undefined,
      ),
    );
  }

  #write(choice: string, rest = ''): string {
    return `data: ${this.#head},"choices":[${choice}]${rest}}\n\n`;
  }
}

function textChoice(text: string, index: number, logprobs = 'null', finish?: string): string {
  return `{"text":${text},"index":${index},"logprobs":${logprobs},"finish_reason":${finish === undefined ? 'null' : `"${finish}"`}}`;
}
