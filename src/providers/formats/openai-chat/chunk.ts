import {
  jsonText,
  rawElements,
  rawInside,
  rawMembers,
  rawText,
  isPresent,
  type Raw,
} from '../../../base/json.ts';
import type { VendorCall } from '../../adapter.ts';
import { type ChoiceState, choiceState, finishReason, normaliseMessage } from './message.ts';
import type { ChatQuirks } from './quirks.ts';
import {
  readUsage,
  type ChatUsage,
  newCallId,
  hiddenMembers,
  hiddenInChoice,
  nameStandardTier,
} from './response.ts';

/** Members of every chunk: a chunk with only these and no choice is empty. */
const envelope = new Set(['service_tier', 'system_fingerprint', 'provider', 'usage']);

export interface Rewritten {
  /** The client's chunk as JSON text; `''` when nothing is left of it. */
  readonly text: string;
  /** Bytes of text, reasoning and arguments in it. */
  readonly bytes: number;
  /** The vendor's finish reason means a failure. */
  readonly failed: boolean;
}

/**
 * Rewrites the chunks of one stream in OpenAI's format, one after the other. Works on `latin1` text
 * and keeps the bytes of what it does not change.
 */
export class ChunkRewriter {
  /** The latest usage in the stream. */
  usage: ChatUsage | undefined;
  readonly choices = new Map<number, ChoiceState>();
  readonly #call: VendorCall;
  readonly #quirks: ChatQuirks;
  readonly #newId: (n: number) => string;
  #head: string | undefined;

  readonly #stops: readonly string[] | undefined;
  /**
   * The finish chunk of a choice that ended with calls. Together sends one after each of several
   * calls, so that it waits for the last.
   */
  #held: Map<number, string> | undefined;

  constructor(call: VendorCall, quirks: ChatQuirks, stops?: readonly string[]) {
    this.#call = call;
    this.#quirks = quirks;
    this.#stops = stops;
    this.#newId = newCallId(call);
  }

  /** `{"id":…,"object":…,"created":…,"model":…`: the same in every chunk of the stream. */
  head(created?: string): string {
    if (this.#head === undefined) {
      const time =
        created !== undefined && /^[1-9]\d*$/.test(created) ? created : String(this.#call.created);
      this.#head = `{"id":${jsonText(this.#call.answerId)},"object":"chat.completion.chunk","created":${time},"model":${jsonText(this.#call.publicModel)}`;
    }
    return this.#head;
  }

  get finished(): boolean {
    if (this.choices.size === 0) return false;
    for (const choice of this.choices.values()) if (!choice.finished) return false;
    return true;
  }

  rewrite(json: string): Rewritten {
    const top = rawMembers(json);
    const choices = rawElements(top.get('choices'));
    const texts: string[] = [];
    let bytes = 0;
    let failed = false;
    this.#noteUsage(top, choices);
    for (const choice of choices) {
      const rewritten = this.#choice(rawMembers(choice));
      if (rewritten.text) texts.push(rewritten.text);
      bytes += rewritten.bytes;
      failed ||= rewritten.failed;
    }
    const created = top.get('created');
    this.#strip(top);
    if (
      !texts.length &&
      (choices.length > 0 || ![...top.keys()].some((name) => !envelope.has(name)))
    )
      return { text: '', bytes, failed };
    const rest = rawInside(top);
    return {
      text: `${this.head(created)}${rest && ','}${rest},"choices":[${texts.join(',')}]}`,
      bytes,
      failed,
    };
  }

  #strip(top: Raw): void {
    for (const name of ['id', 'object', 'created', 'model', 'choices', ...hiddenMembers])
      top.delete(name);
    nameStandardTier(top, this.#quirks);
    // OpenAI writes `usage: null` in every chunk if the client requested usage, and no such member
    // otherwise.
    if (top.has('usage') && (isPresent(top.get('usage')) || !this.#call.includeUsage))
      top.delete('usage');
  }

  /**
   * Reads usage wherever the vendor puts it: at the top, in Groq's `x_groq`, in Moonshot's choice.
   * The last one counts.
   */
  #noteUsage(top: Raw, choices: readonly string[]): void {
    let text = top.get('usage');
    if (!isPresent(text) && top.has('x_groq'))
      text = rawMembers(top.get('x_groq') ?? '').get('usage');
    if (!isPresent(text) && choices[0]?.includes('"usage"'))
      text = rawMembers(choices[0]).get('usage');
    if (isPresent(text)) this.usage = readUsage(text) ?? this.usage;
  }

  #choice(choice: Raw): Rewritten {
    const index = Number(choice.get('index') ?? 0) || 0;
    let state = this.choices.get(index);
    if (!state) this.choices.set(index, (state = choiceState(this.#stops)));
    // OpenRouter repeats the finish reason in its usage chunk; a finished choice sends no more.
    const delta = rawMembers(choice.get('delta') ?? '');
    if (
      state.finished &&
      !(this.#held?.has(index) === true && rawElements(delta.get('tool_calls')).length > 0)
    )
      return nothing;
    const vendorReason = finishReason(choice.get('finish_reason'));
    if (vendorReason === 'error') return { text: '', bytes: 0, failed: true };
    const reason = vendorReason !== undefined && state.stop?.met === true ? 'stop' : vendorReason;
    const repeated = state.roleGiven;
    const bytes = normaliseMessage(delta, state, {
      quirks: this.#quirks,
      newId: this.#newId,
      whole: false,
      last: reason !== undefined,
    });
    // Perplexity repeats the whole message beside each delta, Together the delta as `text`.
    for (const name of [
      'index',
      'delta',
      'finish_reason',
      'usage',
      'message',
      'text',
      ...hiddenInChoice,
    ])
      choice.delete(name);
    const stopped = state.stop?.met === true && delta.get('content') === '""';
    const silent =
      repeated &&
      reason === undefined &&
      (delta.size === 0 || stopped) &&
      !isPresent(choice.get('logprobs'));
    if (silent) return nothing;
    const rest = rawInside(choice);
    state.finished ||= reason !== undefined;
    if (reason !== 'tool_calls')
      return {
        text: choiceText(index, rawText(delta), rest, state.stop?.met && reason ? 'stop' : reason),
        bytes,
        failed: false,
      };
    this.#held ??= new Map();
    this.#held.set(index, choiceText(index, '{}', '', reason));
    return {
      text: delta.size === 0 ? '' : choiceText(index, rawText(delta), rest, undefined),
      bytes,
      failed: false,
    };
  }

  /** The finish chunks that were held back; `''` if there are none, or they have been sent. */
  heldFinish(): string {
    if (this.#held === undefined) return '';
    const texts = [...this.#held.values()];
    this.#held = undefined;
    return `${this.head()},"choices":[${texts.join(',')}]}`;
  }

  /** A last chunk that gives every open choice the finish reason `reason`. */
  finish(reason: string): string {
    if (this.choices.size === 0) this.choices.set(0, choiceState());
    const texts: string[] = [...(this.#held?.values() ?? [])];
    this.#held = undefined;
    for (const [index, state] of this.choices) {
      if (state.finished) continue;
      texts.push(
        `{"index":${index},"delta":{${state.roleGiven ? '' : '"role":"assistant","content":""'}},"finish_reason":"${reason}"}`,
      );
      state.finished = true;
    }
    return texts.length ? `${this.head()},"choices":[${texts.join(',')}]}` : '';
  }

  usageChunk(usage: string): string {
    return `${this.head()},"choices":[],"usage":${usage}}`;
  }
}

const nothing: Rewritten = { text: '', bytes: 0, failed: false };

const choiceText = (
  index: number,
  delta: string,
  rest: string,
  reason: string | undefined,
): string =>
  `{"index":${index},"delta":${delta}${rest && ','}${rest},"finish_reason":${reason === undefined ? 'null' : `"${reason}"`}}`;
