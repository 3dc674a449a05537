import { jsonText, type JsonObject, parse, textOf, utf8 } from '../../base/json.ts';
import type { VendorCall } from '../adapter.ts';
import { withDetails } from '../conversation/call-signatures.ts';
import type { MadePicture } from './bridge.ts';
import { responseObject, type ResponseState } from './response-object.ts';
import {
  callItem,
  type FunctionCall,
  customToolInput,
  type ItemIds,
  type ItemStatus,
  messageItem,
  pictureItem,
  reasoningItem,
  refusalPart,
  textPart,
} from './responses-over-chat-items.ts';

/** Numbers the events of one stream and writes them, as `latin1` text. */
export class SequenceNumbers {
  /** The number of the next event. */
  next: number;

  constructor(next: number) {
    this.next = next;
  }

  event(type: string, members: JsonObject): string {
    return this.raw(type, `,${jsonText(members).slice(1, -1)}`);
  }

  /** `inside`: `,"delta":"…"`, as JSON text. */
  raw(type: string, inside: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.next++}${inside}}\n\n`;
  }

  response(type: string, call: VendorCall, state: ResponseState): string {
    return this.event(type, { response: responseObject(call, state) });
  }
}

/**
 * A text that grows by the JSON texts of its pieces, without their quotes, and is decoded once, at
 * its end. A piece longer than a few characters is copied: a slice would keep the whole string that
 * it was cut from in memory.
 */
class TextBuffer {
  #inside = '';

  add(json: string): void {
    const inside = json.slice(1, -1);
    this.#inside += inside.length < 13 ? inside : Buffer.from(inside, 'latin1').toString('latin1');
  }

  get empty(): boolean {
    return this.#inside === '';
  }

  get json(): string {
    return `"${this.#inside}"`;
  }

  get text(): string {
    return textOf(parse(utf8(this.json))) ?? '';
  }
}

/** An item of the output while it is being written. */
export interface OpenItem {
  readonly kind: 'reasoning' | 'message' | 'call';
  /** The events that end it. */
  close(status: ItemStatus): string;
}

/** The place of an item: the members that its events share. */
interface ItemPosition {
  readonly id: string;
  readonly index: number;
  readonly json: string;
}

const itemPositionOf = (id: string, index: number): ItemPosition => ({
  id,
  index,
  json: `,"item_id":"${id}","output_index":${index}`,
});

/** The output that the items of one response share. */
export interface Output {
  readonly numbered: SequenceNumbers;
  readonly ids: ItemIds;
  /** The finished items, by their place. */
  readonly items: JsonObject[];
}

function beginItem({ numbered }: Output, { index }: ItemPosition, item: JsonObject): string {
  return numbered.event('response.output_item.added', { output_index: index, item });
}

function finishItem(output: Output, { index }: ItemPosition, item: JsonObject): string {
  output.items[index] = item;
  return output.numbered.event('response.output_item.done', { output_index: index, item });
}

/** Reasoning, sent as a summary, which clients of this format show. */
export class OpenReasoning implements OpenItem {
  readonly kind = 'reasoning';
  readonly #output: Output;
  readonly #place: ItemPosition;
  readonly #details: unknown[] = [];
  readonly #said = new TextBuffer();

  constructor(output: Output, index: number) {
    this.#output = output;
    this.#place = itemPositionOf(output.ids.next('rs'), index);
  }

  begin(): string {
    const item = { id: this.#place.id, type: 'reasoning', summary: [] };
    return beginItem(this.#output, this.#place, item);
  }

  /** `json`: the JSON text of the piece. */
  words(json: string): string {
    if (json === '""') return '';
    const { numbered } = this.#output;
    const first = this.#said.empty
      ? numbered.raw('response.reasoning_summary_part.added', this.#part('""'))
      : '';
    this.#said.add(json);
    return (
      first +
      numbered.raw(
        'response.reasoning_summary_text.delta',
        `${this.#place.json},"summary_index":0,"delta":${json}`,
      )
    );
  }

  detail(details: readonly unknown[]): void {
    this.#details.push(...details);
  }

  #part(json: string): string {
    return `${this.#place.json},"summary_index":0,"part":{"type":"summary_text","text":${json}}`;
  }

  close(): string {
    const { numbered } = this.#output;
    const { text } = this.#said;
    const json = jsonText(text);
    const ended =
      text === ''
        ? ''
        : numbered.raw(
            'response.reasoning_summary_text.done',
            `${this.#place.json},"summary_index":0,"text":${json}`,
          ) + numbered.raw('response.reasoning_summary_part.done', this.#part(json));
    const item = reasoningItem(this.#place.id, text, withDetails([], this.#details));
    return ended + finishItem(this.#output, this.#place, item);
  }
}

interface MessagePart {
  readonly type: 'output_text' | 'refusal';
  readonly said: TextBuffer;
  readonly logprobs: unknown[];
  readonly annotations: JsonObject[];
}

/** A message to the user, in parts: text, or a refusal. */
export class OpenMessage implements OpenItem {
  readonly kind = 'message';
  readonly #output: Output;
  readonly #place: ItemPosition;
  readonly #parts: MessagePart[] = [];
  #deltaHead = '';

  constructor(output: Output, index: number) {
    this.#output = output;
    this.#place = itemPositionOf(output.ids.next('msg'), index);
  }

  begin(): string {
    return beginItem(this.#output, this.#place, messageItem(this.#place.id, [], 'in_progress'));
  }

  /** The members that events of the open part share. */
  get #partPosition(): string {
    return `${this.#place.json},"content_index":${this.#parts.length - 1}`;
  }

  /** Whether the open part is text. */
  get saysText(): boolean {
    return this.#parts.at(-1)?.type === 'output_text';
  }

  /** More text for the open part. `json`: the JSON text of the piece. */
  words(json: string): string {
    return json === '""' ? '' : this.delta('output_text', json, []);
  }

  delta(type: MessagePart['type'], json: string, logprobs: readonly unknown[]): string {
    let part = this.#parts.at(-1);
    let before = '';
    if (part?.type !== type) {
      before = this.#closePart();
      part = { type, said: new TextBuffer(), logprobs: [], annotations: [] };
      this.#parts.push(part);
      this.#deltaHead = `${this.#partPosition},"delta":`;
      before += this.#partEvent(
        'response.content_part.added',
        type === 'refusal' ? refusalPart('') : textPart(''),
      );
    }
    part.said.add(json);
    for (const one of logprobs) part.logprobs.push(one);
    const rest =
      type === 'refusal' ? '' : `,"logprobs":${logprobs.length ? jsonText(logprobs) : '[]'}`;
    return (
      before +
      this.#output.numbered.raw(`response.${type}.delta`, `${this.#deltaHead}${json}${rest}`)
    );
  }

  /** The text of the open part. */
  get text(): string {
    return this.#parts.at(-1)?.said.text ?? '';
  }

  annotate(annotations: readonly JsonObject[]): string {
    const part = this.#parts.at(-1);
    if (part?.type !== 'output_text') return '';
    const at = this.#partPosition;
    let out = '';
    for (const annotation of annotations) {
      const index = part.annotations.push(annotation) - 1;
      out += this.#output.numbered.raw(
        'response.output_text.annotation.added',
        `${at},"annotation_index":${index},"annotation":${jsonText(annotation)}`,
      );
    }
    return out;
  }

  #partEvent(type: string, part: JsonObject): string {
    return this.#output.numbered.raw(type, `${this.#partPosition},"part":${jsonText(part)}`);
  }

  #closePart(): string {
    const part = this.#parts.at(-1);
    if (part === undefined) return '';
    const { type, said, logprobs } = part;
    const json = jsonText(said.text);
    const { numbered } = this.#output;
    const at = this.#partPosition;
    const told =
      type === 'refusal'
        ? numbered.raw('response.refusal.done', `${at},"refusal":${json}`)
        : numbered.raw(
            'response.output_text.done',
            `${at},"text":${json},"logprobs":${jsonText(logprobs)}`,
          );
    return told + this.#partEvent('response.content_part.done', contentOf(part));
  }

  close(status: ItemStatus): string {
    const closed = this.#closePart();
    const item = messageItem(this.#place.id, this.#parts.map(contentOf), status);
    return closed + finishItem(this.#output, this.#place, item);
  }
}

const contentOf = ({ type, said: { text }, logprobs, annotations }: MessagePart): JsonObject =>
  type === 'refusal' ? refusalPart(text) : textPart(text, logprobs, annotations);

/**
 * A call of a function or of a custom tool. The input of a custom tool is sent when it is complete.
 */
export class OpenCall implements OpenItem {
  readonly kind = 'call';
  readonly #output: Output;
  readonly #place: ItemPosition;
  readonly #called: FunctionCall;
  readonly #custom: boolean;
  #args = '';

  constructor(output: Output, index: number, called: FunctionCall, custom: boolean) {
    this.#output = output;
    this.#place = itemPositionOf(output.ids.next(custom ? 'ctc' : 'fc'), index);
    this.#called = called;
    this.#custom = custom;
  }

  begin(): string {
    return beginItem(this.#output, this.#place, this.#item('', 'in_progress'));
  }

  #item(args: string, status: ItemStatus): JsonObject {
    const called = { ...this.#called, arguments: args };
    return callItem(this.#place.id, called, status, this.#custom);
  }

  delta(text: string): string {
    this.#args += text;
    if (this.#custom || text === '') return '';
    return this.#output.numbered.raw(
      'response.function_call_arguments.delta',
      `${this.#place.json},"delta":${jsonText(text)}`,
    );
  }

  close(status: ItemStatus): string {
    const { numbered } = this.#output;
    const args = this.#args;
    const input = this.#custom ? jsonText(customToolInput(args)) : '';
    const told = this.#custom
      ? numbered.raw(
          'response.custom_tool_call_input.delta',
          `${this.#place.json},"delta":${input}`,
        ) +
        numbered.raw('response.custom_tool_call_input.done', `${this.#place.json},"input":${input}`)
      : numbered.raw(
          'response.function_call_arguments.done',
          `${this.#place.json},"name":${jsonText(this.#called.name)},"arguments":${jsonText(args)}`,
        );
    return told + finishItem(this.#output, this.#place, this.#item(args, status));
  }
}

/** The events of a picture that the model made: it comes whole. */
export function pictureEvents(output: Output, index: number, picture: MadePicture): string {
  const place = itemPositionOf(output.ids.next('ig'), index);
  const item = pictureItem(place.id, picture);
  const { result: _, ...begun } = item;
  return (
    beginItem(output, place, { ...begun, status: 'in_progress', result: null }) +
    finishItem(output, place, item)
  );
}
