import {
  jsonText,
  type Documented,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  utf8,
} from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { VendorCall, StreamTranslator } from '../adapter.ts';
import {
  characters,
  responsesAnnotation,
  responsesAnnotations,
  sourcesBeside,
} from '../conversation/citations.ts';
import type {
  ChatChoice,
  ChatCompletion,
  ChatMessage,
  ChatToolCall,
} from '../formats/openai-chat/types.ts';
import type { CreateResponse } from '../formats/openai-responses/types.ts';
import { picturesIn, plainTextOf, StreamOverChat } from './bridge.ts';
import { type IncompleteReason, incompleteReason } from './response-object.ts';
import {
  SequenceNumbers,
  OpenCall,
  type OpenItem,
  OpenMessage,
  OpenReasoning,
  type Output,
  pictureEvents,
} from './responses-over-chat-events.ts';
import {
  clientToolOf,
  ItemIds,
  type ItemStatus,
  type ClientTool,
  toolsByChatName,
} from './responses-over-chat-items.ts';

/**
 * Writes the events of a response (developers.openai.com/api/reference/responses, 2026-08).
 */
export class ResponsesOverChatStream extends StreamOverChat {
  readonly #call: VendorCall<CreateResponse>;
  readonly #output: Output;
  readonly #tools: ReadonlyMap<string, ClientTool>;
  readonly #calls = new Map<unknown, OpenCall>();
  #items = 0;
  /** The finished messages, and the open one. */
  readonly #messages: OpenMessage[] = [];
  /** The newest chunk that has sources beside its choices. */
  #sources: Documented<ChatCompletion> | undefined;
  #annotated = false;
  #speaking: OpenReasoning | OpenMessage | undefined;
  #begun = false;
  #incomplete: IncompleteReason | undefined;

  constructor(call: VendorCall<CreateResponse>, chat: StreamTranslator) {
    super(chat);
    this.#call = call;
    this.#output = {
      numbered: new SequenceNumbers(eventsOfBeginning),
      ids: new ItemIds(call.answerId),
      items: [],
    };
    this.#tools = toolsByChatName(call.body);
  }

  protected readonly chunk = (json: string): string => {
    const out = this.#plain(json) ?? this.#parsed(json);
    this.meter.nextEvent = this.#output.numbered.next;
    return out === '' || this.#begun ? out : this.#beginning() + out;
  };

  #parsed(json: string): string {
    const chunk: Documented<ChatCompletion> | undefined = objectOf(parse(utf8(json)));
    if (chunk === undefined) return '';
    if (chunk.citations !== undefined || chunk.search_results !== undefined) this.#sources = chunk;
    let out = '';
    for (const choice of objectsOf(chunk.choices))
      if (choice.index === 0) out += this.#choice(choice);
    return out;
  }

  /** Translates the usual chunk without parsing: more text of the open item. */
  #plain(json: string): string | undefined {
    const open = this.#speaking;
    if (open instanceof OpenMessage && open.saysText) {
      const words = json.includes('"logprobs":{')
        ? undefined
        : plainTextOf(json, '{"index":0,"delta":{"content":"');
      return words && open.words(words);
    }
    const thoughts =
      open instanceof OpenReasoning
        ? plainTextOf(json, '{"index":0,"delta":{"reasoning_content":"')
        : undefined;
    return thoughts && open?.words(thoughts);
  }

  /**
   * The first events are written only with the model's first output: until then another vendor may
   * still answer.
   */
  #beginning(): string {
    if (this.#begun) return '';
    this.#begun = true;
    const numbered = new SequenceNumbers(0);
    const state = { status: 'in_progress', output: [] } as const;
    return (
      numbered.response('response.created', this.#call, state) +
      numbered.response('response.in_progress', this.#call, state)
    );
  }

  #choice(choice: Documented<ChatChoice>): string {
    const delta = objectOf(choice.delta) ?? {};
    let out = this.#think(delta);
    const logprobs = listOf(objectOf(choice.logprobs)?.content);
    out += this.#say('output_text', textOf(delta.content), logprobs);
    if (delta.annotations !== undefined || delta.citations !== undefined)
      out += this.#annotate(delta);
    out += this.#say('refusal', textOf(delta.refusal), []);
    if (delta.images !== undefined)
      for (const picture of picturesIn(delta))
        out +=
          this.#closeSpeaking('completed') + pictureEvents(this.#output, this.#items++, picture);
    for (const one of objectsOf(delta.tool_calls)) out += this.#toolCall(one);
    this.#incomplete ??= incompleteReason(choice.finish_reason);
    return out;
  }

  #think(delta: Documented<ChatMessage>): string {
    const text = textOf(delta.reasoning_content) ?? '';
    const details = listOf(delta.reasoning_details);
    if (text === '' && details.length === 0) return '';
    let out = '';
    let open = this.#speaking;
    if (!(open instanceof OpenReasoning)) {
      out = this.#closeSpeaking('completed');
      open = this.#speaking = new OpenReasoning(this.#output, this.#items++);
      out += open.begin();
    }
    open.detail(details);
    return text === '' ? out : out + open.words(jsonText(text));
  }

  #say(
    type: 'output_text' | 'refusal',
    text: string | undefined,
    logprobs: readonly unknown[],
  ): string {
    if (!text) return '';
    let out = '';
    let open = this.#speaking;
    if (!(open instanceof OpenMessage)) {
      out = this.#closeSpeaking('completed');
      open = this.#speaking = new OpenMessage(this.#output, this.#items++);
      this.#messages.push(open);
      out += open.begin();
    }
    return out + open.delta(type, jsonText(text), logprobs);
  }

  /** Annotates the open message only. */
  #annotate(delta: Documented<ChatMessage>): string {
    const open = this.#speaking;
    if (!(open instanceof OpenMessage)) return '';
    let before = 0;
    for (const message of this.#messages) if (message !== open) before += characters(message.text);
    const annotations = responsesAnnotations(delta, before);
    this.#annotated ||= annotations.length > 0;
    return open.annotate(annotations);
  }

  /** Adds the sources that the message itself does not cite, once its text is complete. */
  #tellSources(): string {
    const open = this.#speaking;
    if (this.#sources === undefined || this.#annotated || !(open instanceof OpenMessage)) return '';
    return open.annotate(sourcesBeside(this.#sources, open.text).map(responsesAnnotation));
  }

  /** Calls stay open until the end: pieces of several calls may alternate. */
  #toolCall(delta: Documented<ChatToolCall>): string {
    const fn = objectOf(delta.function) ?? {};
    const args = textOf(fn.arguments) ?? '';
    const known = this.#calls.get(delta.index);
    if (known) return known.delta(args);
    const { custom, ...tool } = clientToolOf(textOf(fn.name) ?? '', this.#tools);
    const called = {
      ...tool,
      callId: textOf(delta.id) ?? '',
      arguments: '',
      extra: delta.extra_content,
    };
    const before = this.#closeSpeaking('completed');
    const open = new OpenCall(this.#output, this.#items++, called, custom);
    this.#calls.set(delta.index, open);
    return before + open.begin() + open.delta(args);
  }

  #closeSpeaking(status: ItemStatus): string {
    const open: OpenItem | undefined = this.#speaking;
    this.#speaking = undefined;
    return open?.close(status) ?? '';
  }

  protected conclude(quantities: Quantities | undefined, cut: boolean): string {
    if (cut) this.#incomplete = 'max_output_tokens';
    let out = this.#beginning();
    if (this.#items === 0) {
      this.#speaking = new OpenMessage(this.#output, this.#items++);
      out += this.#speaking.begin();
    }
    const status = this.#incomplete === undefined ? 'completed' : 'incomplete';
    out += this.#tellSources() + this.#closeSpeaking(status);
    for (const call of this.#calls.values()) out += call.close(status);
    out += this.#output.numbered.response(`response.${status}`, this.#call, {
      status,
      output: this.#output.items,
      quantities,
      incomplete: this.#incomplete,
    });
    this.meter.nextEvent = this.#output.numbered.next;
    return out;
  }
}

/** `response.created` and `response.in_progress`. */
const eventsOfBeginning = 2;
