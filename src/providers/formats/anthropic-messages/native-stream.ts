import {
  editJson,
  jsonText,
  stringEnd,
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  objectOf,
  parse,
  stringBytes,
  textOf,
  utf8,
  listOf,
} from '../../../base/json.ts';
import type { Quantities, ToolMeasure } from '../../../base/quantities.ts';
import {
  type VendorCall,
  type StreamMeter,
  type StreamTranslator,
  type VendorAnswer,
  type StreamCollector,
  newMeter,
} from '../../adapter.ts';
import { messageUsage } from '../../conversation/client-usage.ts';
import { protocolFault } from '../fault.ts';
import { SseFrames } from '../../stream/frames.ts';
import { messagesFaultWithin } from './fault.ts';
import {
  type MessageCounts,
  newMessageCounts,
  addMessageUsage,
  messageQuantities,
  messagePriceFacts,
} from './usage.ts';
import type {
  ContentBlock,
  ContentBlockDelta,
  MessageAnswer,
  MessageStreamEvent,
} from './types.ts';

const deltaHead = '{"type":"content_block_delta","index":';
/** The deltas that carry what the model wrote. */
const written = /^,"delta":\{"type":"\w+","(?:text|thinking|partial_json)":(?=")/;
const headBytesMax = 80;

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

/**
 * A stream of Anthropic's events for a client of the same format. The data of each event keeps its
 * bytes, except id and model in the first. The first event waits for the first block, so that until
 * then another channel may take over. The pipeline sends `message_stop`.
 */
export class NativeMessageStream implements StreamTranslator {
  readonly meter: StreamMeter = newMeter();
  readonly #call: VendorCall;
  readonly #counts: MessageCounts = newMessageCounts();
  readonly #frames = new SseFrames((data, name) => this.#hear(data, name));
  readonly #open = new Set<number>();
  #out = '';
  /** The first event, while it waits. */
  #start = '';
  #closed = false;
  /** The vendor's name for the model that answers, as the stream reports it. */
  #model: string | undefined;

  constructor(call: VendorCall) {
    this.#call = call;
  }

  push(piece: Buffer): string {
    if (this.#closed) return '';
    const problem = this.#frames.push(piece);
    if (problem !== undefined) this.meter.fault ??= protocolFault(problem);
    return this.#heard();
  }

  #heard(): string {
    const out = this.#out;
    this.#out = '';
    if (this.meter.done || this.meter.fault !== undefined) this.#conclude();
    return out;
  }

  /** Ends the stream. An answer that has finished is whole, whatever came after. */
  #conclude(): void {
    this.#closed = true;
    if (this.meter.finished) this.meter.fault = undefined;
    else this.meter.fault ??= protocolFault('the stream ended without its last event');
  }

  /** Reads one event; returns false to stop the stream. */
  #hear(data: string, name: string): boolean {
    if (data.startsWith(deltaHead)) {
      const bytes = deltaBytes(data);
      if (bytes !== undefined) {
        this.meter.outputBytes += bytes;
        this.#tell('content_block_delta', data);
        return true;
      }
    }
    const body: Documented<MessageStreamEvent> | undefined = objectOf(parse(utf8(data)));
    if (body !== undefined) this.#read(body, textOf(body.type) ?? name, data);
    else this.meter.fault = protocolFault('an event that is not JSON');
    return !this.meter.done && this.meter.fault === undefined;
  }

  #tell(name: string, data: string): void {
    this.#out += this.#start + event(name, data);
    this.#start = '';
  }

  #read(body: Documented<MessageStreamEvent>, type: string, data: string): void {
    switch (type) {
      case 'message_start':
        return this.#begin(body, data);
      case 'content_block_start':
        this.#open.add(countOf(body.index) ?? 0);
        this.meter.calls = withResult(this.meter.calls, objectOf(body.content_block));
        return this.#tell(type, data);
      case 'content_block_delta':
        this.meter.outputBytes += Buffer.byteLength(writtenIn(objectOf(body.delta) ?? {}));
        return this.#tell(type, data);
      case 'content_block_stop':
        this.#open.delete(countOf(body.index) ?? 0);
        return this.#tell(type, data);
      case 'message_delta':
        addMessageUsage(this.#counts, objectOf(body.usage));
        this.#counts.container ||= objectOf(body.delta)?.container != null;
        this.meter.quantities = messageQuantities(this.#counts);
        this.meter.pricingFacts = messagePriceFacts(this.#counts, this.#model);
        this.meter.finished ||= typeof objectOf(body.delta)?.stop_reason === 'string';
        return this.#tell(type, data);
      case 'message_stop':
        this.meter.done = true;
        return;
      case 'ping':
        if (this.#start === '') this.#tell(type, data);
        return;
      default:
        this.meter.fault = messagesFaultWithin(body);
        // Unknown events are newer than this code: the client gets them as they are.
        if (this.meter.fault === undefined) this.#tell(type, data);
    }
  }

  #begin(body: Documented<MessageStreamEvent>, data: string): void {
    const message = objectOf(body.message);
    this.meter.upstreamId ??= textOf(message?.id);
    this.#model = textOf(message?.model);
    addMessageUsage(this.#counts, objectOf(message?.usage));
    if (this.#counts.input !== undefined)
      this.meter.input = messageQuantities({ ...this.#counts, output: 0, thinking: 0 });
    const { answerId, publicModel } = this.#call;
    this.#start = event(
      'message_start',
      editJson(data, [
        { path: ['message', 'id'], json: jsonText(answerId) },
        { path: ['message', 'model'], json: jsonText(publicModel) },
      ]),
    );
  }

  end(): string {
    if (this.#closed) return '';
    const rest = this.#frames.end();
    const body = rest === '' ? undefined : parse(utf8(rest));
    if (isObject(body)) this.#whole(body);
    const out = this.#heard();
    if (!this.#closed) this.#conclude();
    return out;
  }

  /**
   * The vendor sent one JSON value instead of a stream: an error with a good status, or a whole
   * message.
   */
  #whole(body: Documented<MessageAnswer>): void {
    this.meter.fault ??= messagesFaultWithin(body);
    if (
      this.meter.fault !== undefined ||
      body.type !== 'message' ||
      this.meter.upstreamId !== undefined
    )
      return;
    for (const one of eventsOfMessage(body))
      this.#read(one, textOf(one['type']) ?? '', jsonText(one));
  }

  cutShort(quantities: Quantities): string {
    this.#closed = true;
    let out = this.#start;
    for (const index of this.#open)
      out += event('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
    if (!this.meter.finished) out += messageDelta('max_tokens', quantities);
    this.meter.finished = true;
    return out;
  }
}

/** The event with the stop reason and the usage of an answer. */
export function messageDelta(stopReason: string, quantities: Quantities): string {
  const delta = `{"stop_reason":"${stopReason}","stop_sequence":null,"stop_details":null,"container":null}`;
  return event(
    'message_delta',
    `{"type":"message_delta","delta":${delta},"usage":${JSON.stringify(messageUsage(quantities))}}`,
  );
}

/**
 * Bytes of what the model wrote, found without parsing; undefined if an event is not written in the
 * vendor's usual form.
 */
function deltaBytes(data: string): number | undefined {
  const comma = data.indexOf(',', deltaHead.length);
  const head = comma < 0 ? null : written.exec(data.slice(comma, comma + headBytesMax));
  if (head === null) return undefined;
  const start = comma + head[0].length;
  try {
    const end = stringEnd(data, start);
    return data.slice(end).trim() === '}}' || /^\} *\}\s*$/.test(data.slice(end))
      ? stringBytes(data.slice(start, end))
      : undefined;
  } catch {
    return undefined;
  }
}

const writtenIn = (delta: Documented<ContentBlockDelta>): string =>
  textOf(delta.text) ?? textOf(delta.thinking) ?? textOf(delta.partial_json) ?? '';

/**
 * How the text of a block is streamed: the member of the block that holds it, and the type of its
 * deltas.
 */
const streamed: Readonly<
  Record<string, { readonly member: 'text' | 'thinking'; readonly delta: string }>
> = {
  text: { member: 'text', delta: 'text_delta' },
  thinking: { member: 'thinking', delta: 'thinking_delta' },
};

/**
 * Writes a whole message as events, for a client that requested a stream of a server that sends
 * none. Without `message_stop`.
 */
function eventsOfMessage(message: Documented<MessageAnswer>): JsonObject[] {
  const { content, stop_reason, stop_sequence = null, usage } = message;
  const started = { ...message, content: [], stop_reason: null, stop_sequence: null };
  return [
    { type: 'message_start', message: started },
    ...listOf(content).flatMap((block, index) =>
      isObject(block) ? eventsOfBlock(block, index) : [],
    ),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
  ];
}

function eventsOfBlock(block: Documented<ContentBlock>, index: number): JsonObject[] {
  const start = (content_block: JsonObject): JsonObject => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (members: JsonObject): JsonObject => ({
    type: 'content_block_delta',
    index,
    delta: members,
  });
  const stop = { type: 'content_block_stop', index };
  if (block.type === 'tool_use')
    return [
      start({ ...block, input: {} }),
      delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) }),
      stop,
    ];
  const words = streamed[textOf(block.type) ?? ''];
  if (words === undefined) return [start(block), stop];
  const signature = textOf(block.signature);
  return [
    start({ ...block, [words.member]: '', ...(signature === undefined ? {} : { signature: '' }) }),
    delta({ type: words.delta, [words.member]: block[words.member] }),
    ...(signature === undefined ? [] : [delta({ type: 'signature_delta', signature })]),
    stop,
  ];
}

/**
 * Blocks with the result of a tool that the vendor ran
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools, 2026-11).
 */
const results: Readonly<Record<string, ToolMeasure>> = {
  web_search_tool_result: 'web_search',
  web_fetch_tool_result: 'web_fetch',
  mcp_tool_result: 'mcp_call',
  code_execution_tool_result: 'code_session',
  bash_code_execution_tool_result: 'code_session',
  text_editor_code_execution_tool_result: 'code_session',
};

/**
 * Adds the call of this block to the calls so far. Failed calls have no fee, and all code runs in
 * one container.
 */
function withResult(
  calls: Quantities | undefined,
  block: Documented<ContentBlock> | undefined,
): Quantities | undefined {
  const measure = results[textOf(block?.type) ?? ''];
  if (measure === undefined || textOf(objectOf(block?.content)?.type)?.endsWith('_error') === true)
    return calls;
  return { ...calls, [measure]: measure === 'code_session' ? 1 : (calls?.[measure] ?? 0) + 1 };
}

type Block = Record<string, unknown>;

/**
 * Puts a stream of `/v1/messages` together into one message
 * (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11).
 */
export class MessageCollector implements StreamCollector {
  readonly meter: StreamMeter;
  readonly #stream: NativeMessageStream;
  readonly #blocks: Block[] = [];
  readonly #inputs = new Map<number, string>();
  #message: Record<string, unknown> = {};

  constructor(call: VendorCall) {
    this.#stream = new NativeMessageStream(call);
    this.meter = this.#stream.meter;
  }

  push(piece: Buffer): void {
    this.#add(this.#stream.push(piece));
  }

  answer(cut?: Quantities): VendorAnswer {
    this.#add(cut ? this.#stream.cutShort(cut) : this.#stream.end());
    for (const [index, input] of this.#inputs) {
      const block = this.#blocks[index];
      // Arguments that were cut off are left out: half a JSON value cannot be parsed.
      if (block !== undefined)
        block['input'] = objectOf(parse(input.trim() === '' ? '{}' : input)) ?? {};
    }
    const content = this.#blocks.filter(Boolean);
    const quantities = cut ?? this.meter.quantities;
    return {
      body: Buffer.from(JSON.stringify({ ...this.#message, content })),
      quantities,
      pricingFacts: cut === undefined ? this.meter.pricingFacts : undefined,
      upstreamId: this.meter.upstreamId,
      outputText: quantities
        ? ''
        : content
            .map((block) => `${textOf(block['text']) ?? ''}${textOf(block['thinking']) ?? ''}`)
            .join(''),
    };
  }

  #add(events: string): void {
    if (events === '') return;
    for (const event of utf8(events).split('\n\n')) {
      const body = parse(event.slice(event.indexOf('data: ') + 'data: '.length));
      if (isObject(body)) this.#event(body);
    }
  }

  #event(body: Documented<MessageStreamEvent>): void {
    const index = countOf(body.index) ?? 0;
    if (body.type === 'message_start') this.#message = { ...objectOf(body.message) };
    else if (body.type === 'content_block_start')
      this.#blocks[index] = { ...objectOf(body.content_block) };
    else if (body.type === 'content_block_delta') this.#delta(index, objectOf(body.delta) ?? {});
    else if (body.type === 'message_delta') {
      const usage = { ...objectOf(this.#message['usage']), ...objectOf(body.usage) };
      this.#message = { ...this.#message, ...objectOf(body.delta), usage };
    }
  }

  #delta(index: number, delta: Documented<ContentBlockDelta>): void {
    const block = this.#blocks[index];
    if (block === undefined) return;
    const input = textOf(delta.partial_json);
    if (input !== undefined) this.#inputs.set(index, (this.#inputs.get(index) ?? '') + input);
    for (const member of ['text', 'thinking', 'signature'] as const)
      if (typeof delta[member] === 'string')
        block[member] = (textOf(block[member]) ?? '') + delta[member];
    if (delta.citation !== undefined) {
      const before = block['citations'];
      block['citations'] = [...(Array.isArray(before) ? before : []), delta.citation];
    }
  }
}
