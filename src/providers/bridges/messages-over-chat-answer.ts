import { bytesPerTokenUsual } from '../../base/bytes-per-token.ts';
import {
  jsonText,
  type Documented,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  countOf,
  utf8,
} from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { VendorAnswer, VendorCall, StreamTranslator } from '../adapter.ts';
import { messageCitation, messageCitations, sourcesBeside } from '../conversation/citations.ts';
import { messageUsage } from '../conversation/client-usage.ts';
import { clientToolName } from '../conversation/tool-names.ts';
import { messageDelta } from '../formats/anthropic-messages/native-stream.ts';
import {
  type PositionedThinking,
  positionedThinking,
  inOrder,
  isClaudes,
} from '../formats/anthropic-messages/reasoning.ts';
import type { ChatCompletion, ChatMessage, ChatToolCall } from '../formats/openai-chat/types.ts';
import { completionOf, picturesIn, plainTextOf, StreamOverChat } from './bridge.ts';

/** Anthropic's stop reasons, by chat's finish reasons. */
const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** An answer with tool calls ends with `tool_use`, whatever finish reason the vendor reports. */
function stopReasonOf(finish: unknown, calls: number): string {
  const reason = stopReasons[textOf(finish) ?? ''] ?? 'end_turn';
  return calls > 0 && reason === 'end_turn' ? 'tool_use' : reason;
}

/** The usage to report where the vendor reported none; the charge is counted by the same rule. */
export const estimatedUsage = (outputBytes: number): Quantities => ({
  output: Math.ceil(outputBytes / bytesPerTokenUsual),
});

/** The first members of every message of an answer. */
function messageHead(call: VendorCall): JsonObject {
  return { id: call.answerId, type: 'message', role: 'assistant', model: call.publicModel };
}

/** A chat completion as a message. */
export function messageFrom(answer: VendorAnswer, call: VendorCall): JsonObject {
  const body = completionOf(answer);
  const choice = objectOf(listOf(body.choices)[0]) ?? {};
  const message = objectOf(choice.message) ?? {};
  const calls = objectsOf(message.tool_calls);
  const pictures = picturesIn(message).map(() => pictureNote);
  const said = (textOf(message.content) ?? '') + (textOf(message.refusal) ?? '');
  const text = [said, ...pictures].filter(Boolean).join('\n');
  const stopReason = !message.refusal
    ? stopReasonOf(choice.finish_reason, calls.length)
    : 'refusal';
  const uses = calls.map((one) => toolUse(one, call));
  return Object.assign(messageHead(call), {
    content: blocksFrom(message, text, uses, citationsOf(body, message)),
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: messageUsage(answer.quantities ?? estimatedUsage(Buffer.byteLength(answer.outputText))),
  });
}

/** A message has no place for a picture that the model made; nobody is to take it for silence. */
const pictureNote =
  '[The model made a picture. This format cannot hold it: ask for it in chat, /v1/responses or generateContent.]';

/** The citations of the message; where it has none, the sources beside it. */
function citationsOf(
  body: Documented<ChatCompletion>,
  message: Documented<ChatMessage>,
): JsonObject {
  const own = messageCitations(message);
  const citations = own.length ? own : sourcesBeside(body, '').map(messageCitation);
  return citations.length ? { citations } : {};
}

/** The blocks in their original order. The citations are in the last text block. */
function blocksFrom(
  message: Documented<ChatMessage>,
  text: string,
  uses: readonly JsonObject[],
  cited: JsonObject,
): JsonObject[] {
  const said = text === '' ? [] : [{ kind: 'text', text }];
  const { steps, left } = inOrder(thinkingFrom(message), said, uses);
  const last = steps.findLast(({ kind }) => kind === 'part');
  const blocks = steps.map((step): JsonObject => {
    if (step.kind === 'thinking') return step.thought.block;
    if (step.kind === 'call') return step.call;
    return { type: 'text', text: step.part.text, ...(step === last ? cited : {}) };
  });
  return [...blocks, ...left];
}

/** Thinking with its signatures; without any, the plain reasoning text. */
function thinkingFrom(message: Documented<ChatMessage>): PositionedThinking[] {
  const blocks = positionedThinking(message);
  if (blocks.some(({ block }) => block['type'] === 'thinking')) return blocks;
  const thinking = textOf(message.reasoning_content) ?? '';
  return thinking === ''
    ? blocks
    : [{ at: 0, calls: 0, block: { type: 'thinking', thinking, signature: '' } }, ...blocks];
}

function toolUse(call: Documented<ChatToolCall>, asked: VendorCall): JsonObject {
  const fn = objectOf(call.function) ?? objectOf(call.custom) ?? {};
  return {
    type: 'tool_use',
    id: call.id,
    name: clientToolName(fn.name, asked, toolsOf),
    caller: direct,
    ...extraContentOf(call),
    input: inputFrom(textOf(fn.arguments) ?? ''),
  };
}

/** Called by the model itself, not from code that the vendor runs. */
const direct = { type: 'direct' } as const;

const toolsOf = ({ body }: VendorCall): unknown => body['tools'];

/**
 * The data that a vendor requires back with the call are in the block, as they are in chat:
 * Gemini's signatures, for one.
 */
export const extraContentOf = ({
  extra_content,
}: {
  readonly extra_content?: unknown;
}): JsonObject => (extra_content === undefined ? {} : { extra_content });

/** Arguments as an object. Arguments that are no JSON object are the member `arguments`. */
function inputFrom(args: string): JsonObject {
  const input = args.trim() === '' ? null : parse(args);
  return input === null ? {} : (objectOf(input) ?? { arguments: args });
}

interface ToolUse {
  readonly block: number;
  /** The arguments received so far. */
  args: string;
  open: boolean;
}

/**
 * Writes the content blocks of a streamed message
 * (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11): `latin1` text, one block open
 * at a time, except calls whose arguments arrive interleaved. `message_start` is written with the
 * first block.
 */
class MessageBlocks {
  readonly #call: VendorCall;
  readonly #calls = new Map<number, ToolUse>();
  #started = false;
  #blocks = 0;
  #open: 'text' | 'thinking' | undefined;

  constructor(call: VendorCall) {
    this.#call = call;
  }

  /** The number of tool calls. */
  get calls(): number {
    return this.#calls.size;
  }

  /** `json` is the JSON text of a string, as it was received. */
  text(json: string): string {
    return json === '""'
      ? ''
      : this.#begin('text', '"text":""') + this.#delta('text_delta', 'text', json);
  }

  /** Adds citations to the open text block, or to an empty one where the text has already ended. */
  cite(citations: readonly JsonObject[]): string {
    if (citations.length === 0) return '';
    let out = this.#begin('text', '"text":""');
    for (const citation of citations)
      out += this.#delta('citations_delta', 'citation', jsonText(citation));
    return out;
  }

  thinking(json: string): string {
    return json === '""'
      ? ''
      : this.#begin('thinking', '"thinking":"","signature":""') +
          this.#delta('thinking_delta', 'thinking', json);
  }

  /** Signs the thinking before it, also where none of it was sent. */
  signature(signature: string): string {
    const begun = this.#begin('thinking', '"thinking":"","signature":""');
    return (
      begun + this.#delta('signature_delta', 'signature', jsonText(signature)) + this.#stopOpen()
    );
  }

  redacted(data: string): string {
    const before = this.#stopOpen() + this.#stopCalls(() => true);
    return (
      before +
      this.#start(`{"type":"redacted_thinking","data":${jsonText(data)}}`) +
      this.#stop(this.#blocks - 1)
    );
  }

  /** Begins a call's block with `members`, once, and adds to its arguments. */
  call(index: number, members: JsonObject, args: string): string {
    let out = '';
    let call = this.#calls.get(index);
    if (call === undefined) {
      out += this.#stopOpen() + this.#stopCalls((one) => parse(one.args) !== undefined);
      out += this.#start(jsonText({ type: 'tool_use', ...members, caller: direct, input: {} }));
      this.#calls.set(index, (call = { block: this.#blocks - 1, args: '', open: true }));
    }
    if (args === '' || !call.open) return out;
    call.args += args;
    return out + deltaOf(call.block, 'input_json_delta', 'partial_json', jsonText(args));
  }

  /** Ends the open blocks; begins the message first, if nothing was written yet. */
  close(): string {
    return (
      (this.#started ? '' : this.#startMessage()) + this.#stopOpen() + this.#stopCalls(() => true)
    );
  }

  #begin(kind: 'text' | 'thinking', members: string): string {
    if (this.#open === kind) return '';
    const out =
      this.#stopOpen() + this.#stopCalls(() => true) + this.#start(`{"type":"${kind}",${members}}`);
    this.#open = kind;
    return out;
  }

  #delta(type: string, member: string, json: string): string {
    return deltaOf(this.#blocks - 1, type, member, json);
  }

  #stopOpen(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    return this.#stop(this.#blocks - 1);
  }

  #stopCalls(which: (call: ToolUse) => boolean): string {
    let out = '';
    for (const call of this.#calls.values()) {
      if (!call.open || !which(call)) continue;
      call.open = false;
      out += this.#stop(call.block);
    }
    return out;
  }

  #stop(index: number): string {
    return `event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`;
  }

  #start(block: string): string {
    const first = this.#started ? '' : this.#startMessage();
    return `${first}event: content_block_start\ndata: {"type":"content_block_start","index":${this.#blocks++},"content_block":${block}}\n\n`;
  }

  #startMessage(): string {
    this.#started = true;
    const unfinished = {
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
    };
    const message = { ...messageHead(this.#call), ...unfinished, usage: messageUsage({}) };
    return `event: message_start\ndata: {"type":"message_start","message":${jsonText(message)}}\n\nevent: ping\ndata: {"type":"ping"}\n\n`;
  }
}

function deltaOf(index: number, type: string, member: string, json: string): string {
  const delta = `{"type":"${type}","${member}":${json}}`;
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}}\n\n`;
}

/** Writes the events of a message. */
export class MessagesOverChatStream extends StreamOverChat {
  readonly #call: VendorCall;
  readonly #blocks: MessageBlocks;
  #finish: string | undefined;
  #refused = false;
  /** The newest chunk that has sources beside its choices. */
  #sources: Documented<ChatCompletion> | undefined;
  #cited = false;

  constructor(call: VendorCall, chat: StreamTranslator) {
    super(chat);
    this.#call = call;
    this.#blocks = new MessageBlocks(call);
  }

  protected conclude(quantities: Quantities | undefined, cut: boolean): string {
    if (cut) this.#finish ??= 'length';
    const sources =
      this.#sources === undefined || this.#cited
        ? []
        : sourcesBeside(this.#sources, '').map(messageCitation);
    const reason = this.#refused ? 'refusal' : stopReasonOf(this.#finish, this.#blocks.calls);
    return (
      this.#blocks.cite(sources) +
      this.#blocks.close() +
      messageDelta(reason, quantities ?? estimatedUsage(this.meter.outputBytes))
    );
  }

  protected readonly chunk = (json: string): string => {
    const plain = plainTextOf(json, '"delta":{"content":"');
    if (plain !== undefined) return this.#blocks.text(plain);
    const thought = plainTextOf(json, '"delta":{"reasoning_content":"');
    if (thought !== undefined) return this.#blocks.thinking(thought);
    const body: Documented<ChatCompletion> | undefined = objectOf(parse(utf8(json)));
    if (body === undefined) return '';
    if (body.citations !== undefined || body.search_results !== undefined) this.#sources = body;
    const choice = objectOf(listOf(body.choices)[0]);
    if (choice === undefined) return '';
    this.#finish = textOf(choice.finish_reason) ?? this.#finish;
    return this.#delta(objectOf(choice.delta) ?? {});
  };

  #delta(delta: Documented<ChatMessage>): string {
    const blocks = this.#blocks;
    let out = '';
    const details = objectsOf(delta.reasoning_details).filter(isClaudes);
    if (delta.reasoning_content)
      out += blocks.thinking(jsonText(textOf(delta.reasoning_content) ?? ''));
    for (const detail of details) {
      if (detail.type === 'reasoning.encrypted') out += blocks.redacted(textOf(detail.data) ?? '');
      else if (detail.signature) out += blocks.signature(textOf(detail.signature) ?? '');
    }
    if (delta.content) out += blocks.text(jsonText(textOf(delta.content) ?? ''));
    if (delta.images !== undefined)
      for (const _ of picturesIn(delta)) out += blocks.text(jsonText(pictureNote));
    if (delta.annotations !== undefined || delta.citations !== undefined) {
      const citations = messageCitations(delta);
      this.#cited ||= citations.length > 0;
      out += this.#blocks.cite(citations);
    }
    if (delta.refusal) {
      this.#refused = true;
      out += blocks.text(jsonText(textOf(delta.refusal) ?? ''));
    }
    for (const call of objectsOf(delta.tool_calls)) {
      const fn = objectOf(call.function) ?? {};
      const index = countOf(call.index) ?? 0;
      out += blocks.call(
        index,
        {
          id: call.id,
          name: clientToolName(fn.name, this.#call, toolsOf),
          ...extraContentOf(call),
        },
        textOf(fn.arguments) ?? '',
      );
    }
    return out;
  }
}
