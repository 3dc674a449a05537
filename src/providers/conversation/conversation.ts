import { refuse } from '../../base/refusal.ts';
import {
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parse,
  stringOf,
  textOf,
  type Unchecked,
} from '../../base/json.ts';
import type { ChatMessage, ChatPart, ChatToolCall } from '../formats/openai-chat/types.ts';

/** Bytes that the client sent inside the request, in base64 as it wrote them. */
export interface InlineBytes {
  readonly mime: string;
  readonly base64: string;
}

interface PartPosition {
  /** The position in the client's request, which a refusal names. */
  readonly param: string;
  /**
   * The client's mark that the prompt may be cached up to here, in Anthropic's format; OpenAI's
   * `prompt_cache_breakpoint` means the same.
   */
  readonly cache: JsonObject | undefined;
}

export interface TextPart extends PartPosition {
  readonly kind: 'text';
  readonly text: string;
  /**
   * The client's own text of an instruction inside the conversation. `text` wraps it in tags, for
   * models that take instructions only at the beginning.
   */
  readonly instruction?: string;
}
export interface ImagePart extends PartPosition {
  readonly kind: 'image';
  readonly source: InlineBytes | { readonly url: string };
}
export interface FilePart extends PartPosition {
  readonly kind: 'file';
  readonly source: InlineBytes | { readonly url: string };
  readonly name: string | undefined;
}
export interface VideoPart extends PartPosition {
  readonly kind: 'video';
  readonly source: InlineBytes | { readonly url: string };
}
export interface AudioPart extends PartPosition {
  readonly kind: 'audio';
  /** `audio/wav`, `audio/mp3`. */
  readonly source: InlineBytes;
}
export type ContentPart = TextPart | ImagePart | FilePart | AudioPart | VideoPart;

export interface ToolCall extends PartPosition {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** The call as the client sent it, with vendors' extensions. */
  readonly source: Documented<ChatToolCall>;
}

export interface ToolResult extends PartPosition {
  readonly id: string;
  /** The tool's name, taken from the call that this result belongs to. */
  readonly name: string | undefined;
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
}

/** One message of the assistant. */
export interface MessageSpan {
  readonly message: Documented<ChatMessage>;
  readonly parts: readonly ContentPart[];
  readonly calls: readonly ToolCall[];
}

/**
 * Consecutive messages of one role. Results stand first and calls last: all vendors require this
 * order.
 */
export interface ConversationTurn {
  readonly role: 'user' | 'assistant';
  readonly results: ToolResult[];
  readonly parts: ContentPart[];
  readonly calls: ToolCall[];
  /** The messages of which the turn is made. */
  readonly messages: Documented<ChatMessage>[];
  /** The assistant's messages, each with its parts and calls. */
  readonly spans: MessageSpan[];
}

export interface Conversation {
  /** The instructions before the first turn; empty when they are white space alone. */
  readonly system: readonly TextPart[];
  /** User and assistant turns, alternating. Empty texts and empty turns are left out. */
  readonly turns: readonly ConversationTurn[];
}

/**
 * Reads the client's `messages` (platform.claude.com/docs/en/api/messages, 2026-11) for vendors
 * whose conversations alternate. Throws the Refusal of content that no such vendor takes.
 */
export function readConversation(messages: unknown): Conversation {
  const system: TextPart[] = [];
  const turns: ConversationTurn[] = [];
  const names = new Map<string, string>();
  let leading = true;
  listOf(messages).forEach((value, i) => {
    const message: Documented<ChatMessage> | undefined = objectOf(value);
    if (message === undefined) return;
    const param = `messages[${i}]`;
    const { role } = message;
    if (role === 'system' || role === 'developer') {
      const texts = textParts(message, param);
      if (leading) system.push(...texts);
      // The format has no place for instructions inside a conversation: they become text where they
      // stand.
      else if (texts.length)
        turnOf(turns, 'user', message).parts.push(
          ...texts.map((part) => ({
            ...part,
            text: `<system>\n${part.text}\n</system>`,
            instruction: part.text,
          })),
        );
      return;
    }
    leading = false;
    if (role === 'tool' || role === 'function')
      turnOf(turns, 'user', message).results.push(resultOf(message, param, names));
    else if (role === 'assistant')
      readAssistant(turnOf(turns, 'assistant', message), message, param, names);
    else turnOf(turns, 'user', message).parts.push(...partsOf(message, param));
  });
  return {
    system,
    turns: joined(
      turns.filter(
        (turn) => turn.results.length + turn.calls.length > 0 || !turn.parts.every(isBlank),
      ),
    ),
  };
}

/** A text of white space alone: most vendors refuse it. */
export const isBlank = (part: ContentPart): boolean =>
  part.kind === 'text' && part.text.trim() === '';

function turnOf(
  turns: ConversationTurn[],
  role: ConversationTurn['role'],
  message: Documented<ChatMessage>,
): ConversationTurn {
  let turn = turns.at(-1);
  if (turn?.role !== role)
    turns.push((turn = { role, results: [], parts: [], calls: [], messages: [], spans: [] }));
  turn.messages.push(message);
  return turn;
}

/** Merges neighbouring turns of one role: an empty turn between them may have been left out. */
function joined(turns: readonly ConversationTurn[]): ConversationTurn[] {
  const all: ConversationTurn[] = [];
  for (const turn of turns) {
    const last = all.at(-1);
    if (last?.role !== turn.role) all.push(turn);
    else
      for (const list of ['results', 'parts', 'calls', 'messages', 'spans'] as const)
        Array.prototype.push.apply(last[list], turn[list]);
  }
  return all;
}

function readAssistant(
  turn: ConversationTurn,
  message: Documented<ChatMessage>,
  param: string,
  names: Map<string, string>,
): void {
  const parts = partsOf(message, param);
  const refusal = textOf(message.refusal);
  if (refusal && turn.parts.length + parts.length === 0)
    parts.push({ kind: 'text', text: refusal, param, cache: undefined });
  const calls = callsOf(message, param, names);
  turn.parts.push(...parts);
  turn.calls.push(...calls);
  turn.spans.push({ message, parts, calls });
}

function callsOf(
  message: Documented<ChatMessage>,
  param: string,
  names: Map<string, string>,
): ToolCall[] {
  const legacy = objectOf(message.function_call);
  // Some servers write every member of the format and leave unused ones empty.
  const calls: readonly unknown[] =
    legacy && textOf(legacy.name) !== ''
      ? [{ id: legacyId(textOf(legacy.name)), function: legacy }]
      : listOf(message.tool_calls);
  return calls.flatMap((value, j): ToolCall[] => {
    const call: Documented<ChatToolCall> | undefined = objectOf(value);
    if (call === undefined) return [];
    const at = `${param}.tool_calls[${j}]`;
    const fn = objectOf(call.function);
    if (!fn)
      refuse('invalid_value', {
        param: at,
        why: 'only function calls can be carried to this model.',
      });
    const id = textOf(call.id) ?? '';
    const name = textOf(fn.name) ?? '';
    names.set(id, name);
    return [
      { id, name, input: inputOf(fn.arguments), param: at, cache: cacheOf(call), source: call },
    ];
  });
}

const legacyId = (name: string | undefined): string => `call_${name ?? ''}`;

/**
 * A call's arguments as an object. Arguments that are not a JSON object are kept as text under a
 * name.
 */
function inputOf(args: unknown): JsonObject {
  if (isObject(args)) return args;
  const text = textOf(args) ?? '';
  if (text.trim() === '') return {};
  return objectOf(parse(text)) ?? { arguments: text };
}

function resultOf(
  message: Documented<ChatMessage>,
  param: string,
  names: ReadonlyMap<string, string>,
): ToolResult {
  const id = textOf(message.tool_call_id) ?? legacyId(textOf(message.name));
  const name = names.get(id) ?? textOf(message.name);
  const isError = message.is_error === true;
  return { id, name, parts: partsOf(message, param), isError, param, cache: cacheOf(message) };
}

function textParts(message: Documented<ChatMessage>, param: string): TextPart[] {
  return partsOf(message, param).filter(
    (part): part is TextPart => part.kind === 'text' && !isBlank(part),
  );
}

function partsOf(message: Documented<ChatMessage>, param: string): ContentPart[] {
  const { content } = message;
  if (typeof content === 'string')
    return content === ''
      ? []
      : [{ kind: 'text', text: content, param: `${param}.content`, cache: cacheOf(message) }];
  const parts: ContentPart[] = [];
  listOf(content).forEach((part, j) => {
    if (isObject(part)) parts.push(...partOf(part, `${param}.content[${j}]`));
  });
  return parts;
}

function partOf(part: Documented<ChatPart>, param: string): ContentPart[] {
  const placed = { param, cache: cacheOf(part) };
  const { type } = part;
  if (type === 'text' || type === 'refusal') {
    const text = textOf(part[type]) ?? '';
    return text === '' ? [] : [{ kind: 'text', text, ...placed }];
  }
  if (type === 'image_url' || type === 'video_url') {
    const source = sourceOf(addressOf(part[type]), `${param}.${type}.url`);
    return [{ kind: type === 'image_url' ? 'image' : 'video', source, ...placed }];
  }
  // Mistral's name of a file by its address (docs.mistral.ai/capabilities/document_ai, 2026-08).
  if (type === 'document_url') {
    const source = sourceOf(addressOf(part.document_url), `${param}.document_url`);
    return [{ kind: 'file', source, name: textOf(part.document_name), ...placed }];
  }
  if (type === 'file') {
    const file = objectOf(part.file) ?? {};
    const data = textOf(file.file_data);
    if (data === undefined)
      refuse('invalid_value', {
        param: `${param}.file`,
        why: 'this model takes files as `file_data` only.',
      });
    const source = sourceOf(data, `${param}.file.file_data`);
    return [{ kind: 'file', source, name: textOf(file.filename), ...placed }];
  }
  if (type === 'input_audio') {
    const audio = objectOf(part.input_audio) ?? {};
    const source = {
      mime: `audio/${textOf(audio.format) ?? 'wav'}`,
      base64: textOf(audio.data) ?? '',
    };
    return [{ kind: 'audio', source, ...placed }];
  }
  // Thinking in the content is read elsewhere, by the adapter of the vendor that signed it.
  if (type === 'thinking' || type === 'redacted_thinking') return [];
  return refuse('invalid_value', {
    param: `${param}.type`,
    why: `this model takes no content of type '${stringOf(type)}'.`,
  });
}

/** An address, which may be the member `url` of an object. */
const addressOf = (value: Unchecked<string | { readonly url?: string }>): string =>
  textOf(value) ?? textOf(objectOf(value)?.url) ?? '';

const dataUrl = /^data:([^;,]*)(?:;[^,;]*)*?;base64,/i;

function sourceOf(url: string, param: string): ImagePart['source'] {
  if (/^https?:\/\//i.test(url)) return { url };
  // Only the head is matched: the rest may be megabytes.
  const head = dataUrl.exec(url.slice(0, 200))?.[0];
  if (head === undefined)
    refuse('invalid_value', { param, why: "expected 'https://…' or 'data:…;base64,…'." });
  return { mime: (dataUrl.exec(head)?.[1] ?? '').toLowerCase(), base64: url.slice(head.length) };
}

function cacheOf(
  part: Documented<Pick<ChatPart, 'cache_control' | 'prompt_cache_breakpoint'>>,
): JsonObject | undefined {
  const control = objectOf(part.cache_control);
  if (control) return control;
  return objectOf(part.prompt_cache_breakpoint) ? { type: 'ephemeral' } : undefined;
}

/** Throws the Refusal (400, with its position) of a part that this model cannot take. */
export function refusePart(part: ContentPart, model: string, accepted: string): never {
  return refuse('unsupported_content', { param: part.param, model, content: part.kind, accepted });
}

/** Stands for the prompt where a vendor requires one and the client has sent none. */
const nothing: TextPart = { kind: 'text', text: '…', param: 'messages', cache: undefined };

/**
 * Makes a conversation that has only instructions a user turn of those instructions. Without any
 * text at all, a placeholder is the turn.
 */
export function withFirstTurn({ system, turns }: Conversation): Conversation {
  if (turns.length > 0) return { system, turns };
  const parts = system.length > 0 ? [...system] : [nothing];
  return {
    system: [],
    turns: [{ role: 'user', results: [], parts, calls: [], messages: [], spans: [] }],
  };
}
