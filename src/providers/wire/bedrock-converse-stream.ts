import { jsonText } from '../../base/json-edit.ts';
import type { Call, StreamMeter } from '../adapter.ts';
import { detailsMember, redactedDetail } from './anthropic-messages-signed.ts';
import { hiddenTool } from './anthropic-messages-tools.ts';
import { finishOf, redacted } from './bedrock-converse-answer.ts';
import { usesHiddenTool } from './bedrock-converse-ask.ts';
import { converseException } from './bedrock-converse-fault.ts';
import { converseModel } from './bedrock-converse-models.ts';
import { converseQuantities } from './bedrock-converse-usage.ts';
import { charactersInJson, type Cited, citeConverse, citedDelta } from './citations.ts';
import type { ChatChunks } from './chat-chunks.ts';
import type { EventReader } from './chat-stream.ts';
import {
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  parse,
  rawMembers,
  textOf,
  utf8,
} from './json.ts';
import { protocolFault } from './openai-chat-fault.ts';
import { stringAfter } from './string-after.ts';

/** What stands before the text of nearly every event. */
const beforeText = '"delta":{"text":';

/** The JSON text of a member that is a string. */
function stringIn(raw: ReadonlyMap<string, string>, name: string): string | undefined {
  const json = raw.get(name);
  return json?.startsWith('"') ? json : undefined;
}

/** What becomes of a block that has begun. */
interface Block {
  /** The call that it is; `'hidden'`: the JSON answer; undefined: what the client is not told. */
  readonly call: number | 'hidden' | undefined;
  hasArguments: boolean;
}

/**
 * Reads Converse's stream: messageStart, contentBlockStart/Delta/Stop, messageStop and `metadata`,
 * which together are the end.
 */
export class ConverseReader implements EventReader {
  readonly #chunks: ChatChunks;
  #stopped = false;
  readonly #meter: StreamMeter;
  readonly #hidden: boolean;
  readonly #signs: boolean;
  readonly #blocks = new Map<number, Block>();
  /** The thinking block that is being told, and how many there were before it. */
  #thinking: number | undefined;
  #details = -1;
  /**
   * Text beside a JSON answer that travels as a tool's input: told only when that does not come.
   */
  #held = '';
  /**
   * How many characters of text there are so far, where the block that is being told began, and
   * what it cites.
   */
  #length = 0;
  #from = 0;
  #citations: unknown[] = [];

  constructor(call: Call, chunks: ChatChunks, meter: StreamMeter) {
    this.#chunks = chunks;
    this.#meter = meter;
    this.#hidden = usesHiddenTool(call);
    this.#signs = converseModel(call).claude;
  }

  event(data: string, name: string): string {
    if (name === 'contentBlockDelta') {
      const text = this.#hidden ? undefined : stringAfter(data, beforeText);
      if (text !== undefined) return this.#text(text);
      // The parts are cut out of the text, which has to be JSON for that.
      return isObject(parse(data)) ? this.#delta(rawMembers(data)) : this.#broken();
    }
    const event = objectOf(parse(utf8(data)));
    if (name.startsWith('exception:')) {
      this.#meter.fault = converseException(name.slice('exception:'.length), event);
      return '';
    }
    if (!event) return this.#broken();
    if (name === 'contentBlockStart') return this.#start(event);
    if (name === 'contentBlockStop') return this.#stop(event);
    if (name === 'messageStop') return this.#messageStop(event);
    if (name === 'metadata') {
      this.#meter.quantities = converseQuantities(event['usage']);
      this.#meter.done = this.#stopped;
    }
    return '';
  }

  #broken(): string {
    this.#meter.fault = protocolFault('an event that is not JSON');
    return '';
  }

  #start(event: JsonObject): string {
    const toolUse = objectOf(objectOf(event['start'])?.['toolUse']);
    const index = countOf(event['contentBlockIndex']) ?? 0;
    const block = (call: Block['call']): Block => ({ call, hasArguments: false });
    if (!toolUse || toolUse['type'] === 'server_tool_use') {
      this.#blocks.set(index, block(undefined));
      return '';
    }
    const name = textOf(toolUse['name']) ?? '';
    if (this.#hidden && name === hiddenTool) {
      this.#held = '';
      this.#blocks.set(index, block('hidden'));
      return '';
    }
    this.#blocks.set(index, block(this.#chunks.calls));
    return this.#chunks.call(textOf(toolUse['toolUseId']) ?? `call_${index}`, name);
  }

  #delta(event: ReadonlyMap<string, string>): string {
    const index = Number(event.get('contentBlockIndex') ?? 0);
    const delta = rawMembers(event.get('delta') ?? '');
    const text = stringIn(delta, 'text');
    if (text !== undefined) return this.#text(text);
    const toolUse = delta.get('toolUse');
    if (toolUse !== undefined)
      return this.#arguments(index, stringIn(rawMembers(toolUse), 'input') ?? '""');
    const citation = delta.get('citation');
    if (citation !== undefined) this.#citations.push(parse(utf8(citation)));
    const reasoning = delta.get('reasoningContent');
    return reasoning === undefined ? '' : this.#reasoning(index, rawMembers(reasoning));
  }

  #text(json: string): string {
    if (!this.#hidden) {
      this.#length += charactersInJson(json);
      return this.#chunks.contentJson(json);
    }
    this.#held += String(parse(utf8(json)));
    return '';
  }

  #arguments(index: number, json: string): string {
    const block = this.#blocks.get(index);
    if (block?.call === undefined || json === '""') return '';
    block.hasArguments = true;
    return block.call === 'hidden'
      ? this.#chunks.contentJson(json)
      : this.#chunks.argumentsJson(block.call, json);
  }

  /**
   * Thinking and, of models that sign theirs, what brings it back: text in pieces, the signature in
   * a piece of its own.
   */
  #reasoning(index: number, reasoning: ReadonlyMap<string, string>): string {
    const text = stringIn(reasoning, 'text');
    const signature = stringIn(reasoning, 'signature');
    const data = textOf(parse(reasoning.get('redactedContent') ?? ''));
    if (index !== this.#thinking) this.#details++;
    this.#thinking = index;
    const chunks = this.#chunks;
    const detail = (member: string): string =>
      this.#signs ? detailsMember(member, this.#details, this.#length) : '';
    let out = '';
    if (text !== undefined) out += chunks.reasoningJson(text, detail(`"text":${text}`));
    if (signature !== undefined && signature !== '""' && this.#signs)
      out += chunks.delta(detail(`"signature":${signature}`));
    if (data)
      out += chunks.delta(
        `"reasoning_details":[${jsonText(redactedDetail(this.#details, redacted(data), this.#length))}]`,
      );
    return out;
  }

  /** A call without a word of arguments has none: `{}`. */
  #stop(event: JsonObject): string {
    const [from, citations] = [this.#from, this.#citations];
    this.#from = this.#length;
    if (citations.length > 0) {
      const cited: Cited = { annotations: [], citations: [] };
      citeConverse(cited, citations, from, this.#length);
      this.#citations = [];
      return this.#chunks.delta(citedDelta(cited));
    }
    const block = this.#blocks.get(countOf(event['contentBlockIndex']) ?? 0);
    if (block?.call === undefined || block.hasArguments) return '';
    return block.call === 'hidden'
      ? this.#chunks.content('{}')
      : this.#chunks.arguments(block.call, '{}');
  }

  #messageStop(event: JsonObject): string {
    const finish = finishOf(event['stopReason'], this.#chunks.calls);
    if (typeof finish !== 'string') {
      this.#meter.fault = finish;
      return '';
    }
    this.#stopped = true;
    // Some have the metadata before it (recorded).
    this.#meter.done = this.#meter.quantities !== undefined;
    return this.#chunks.content(this.#held) + this.#chunks.finish(finish);
  }
}
