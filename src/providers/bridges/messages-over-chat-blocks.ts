import { jsonText } from '../../base/json-edit.ts';
import type { Call } from '../adapter.ts';
import { messageUsage } from '../wire/messages-usage.ts';
import { type JsonObject, parse } from '../wire/json.ts';
import { messageHead } from './messages-over-chat-answer.ts';

interface ToolUse {
  readonly block: number;
  /** What came of its arguments. */
  args: string;
  open: boolean;
}

/**
 * Writes the content blocks of a streamed message
 * (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11): `latin1` text, one block open
 * at a time. Only calls whose arguments arrive interleaved are open beside each other. The start
 * goes out with the first block.
 */
export class MessageBlocks {
  readonly #call: Call;
  readonly #calls = new Map<number, ToolUse>();
  #started = false;
  #blocks = 0;
  #open: 'text' | 'thinking' | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** How many tools were called. */
  get calls(): number {
    return this.#calls.size;
  }

  /** `json` is the JSON text of a string, as it came. */
  text(json: string): string {
    return json === '""'
      ? ''
      : this.#begin('text', '"text":""') + this.#delta('text_delta', 'text', json);
  }

  /**
   * What the text cites: of the block that is open, or of an empty one where the text has been
   * told.
   */
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

  /** Signs the thinking before it, also where nothing of it was told. */
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

  /** `members` of the block, once, and more of its arguments. */
  call(index: number, members: JsonObject, args: string): string {
    let out = '';
    let call = this.#calls.get(index);
    if (call === undefined) {
      out += this.#stopOpen() + this.#stopCalls((one) => parse(one.args) !== undefined);
      out += this.#start(jsonText({ type: 'tool_use', ...members, input: {} }));
      this.#calls.set(index, (call = { block: this.#blocks - 1, args: '', open: true }));
    }
    if (args === '' || !call.open) return out;
    call.args += args;
    return out + deltaOf(call.block, 'input_json_delta', 'partial_json', jsonText(args));
  }

  /** The start, if nothing was said, and the end of what is open. */
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
