import { createHash } from 'node:crypto';
import {
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  parse,
  textOf,
  utf8,
} from '../../base/json.ts';
import type { Signatures } from '../adapter.ts';
import type {
  ChatFunction,
  ChatMessage,
  ChatReasoningDetail,
  ChatToolCall,
} from '../formats/openai-chat/types.ts';

/**
 * A tool call with what the vendor wants back with it. Chat clients get it in two extension
 * members: `extra_content` of the call, and `reasoning_details` of the message, which belong to its
 * first call. Most clients drop both; then Tollgate puts them back from its memory.
 */
interface SignedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  readonly extra: unknown;
}

/** The extension members that carry signatures: of a message, and of a call. */
interface SignedMembers {
  readonly reasoning_details?: readonly ChatReasoningDetail[];
  readonly extra_content?: unknown;
}

/**
 * The signatures of an answer by the keys of its calls; undefined when the vendor signed nothing.
 */
export function signaturesOf(
  calls: readonly SignedCall[],
  details: readonly unknown[],
): Signatures | undefined {
  const isSealed = objectsOf(details).some((detail: Documented<ChatReasoningDetail>) =>
    Boolean(textOf(detail.signature) ?? textOf(detail.data)),
  );
  const signatures = new Map<string, string>();
  calls.forEach(({ id, name, arguments: args, extra }, i) => {
    const kept = {
      ...(extra === undefined ? {} : { extra_content: extra }),
      ...(isSealed && i === 0 ? { reasoning_details: details } : {}),
    };
    if (Object.keys(kept).length > 0) signatures.set(callKey(id, name, args), JSON.stringify(kept));
  });
  return signatures.size === 0 ? undefined : signatures;
}

/**
 * The key of a call. Some vendors reuse short ids, so that name and arguments are part of it; their
 * order and spacing in the client's JSON make no difference.
 */
function callKey(id: string, name: string, args: unknown): string {
  const text = JSON.stringify([
    id,
    name,
    sorted(typeof args === 'string' ? (parse(args) ?? args) : args),
  ]);
  return createHash('sha256').update(text).digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

function keyOf(value: unknown): string {
  const call: Documented<ChatToolCall> | undefined = objectOf(value);
  const fn: Documented<ChatFunction> | undefined =
    objectOf(call?.function) ?? objectOf(call?.custom);
  return callKey(textOf(call?.id) ?? '', textOf(fn?.name) ?? '', fn?.arguments ?? fn?.input);
}

/** The most calls looked up for one request: the latest ones of the conversation. */
const callsMax = 256;

/** The keys of the assistant's calls that came back without their signatures. */
export function unsignedCalls(
  messages: unknown,
  isSigned: (message: Documented<ChatMessage>) => boolean,
): readonly string[] {
  const keys: string[] = [];
  const all = listOf(messages);
  for (let i = all.length - 1; i >= 0 && keys.length < callsMax; i--) {
    const message: Documented<ChatMessage> | undefined = objectOf(all[i]);
    if (!Array.isArray(message?.tool_calls) || isSigned(message)) continue;
    keys.push(...message.tool_calls.map(keyOf));
  }
  return keys;
}

/** The messages with the remembered signatures put back. */
export function withCallSignatures(messages: unknown, signatures: Signatures | undefined): unknown {
  if (signatures === undefined || signatures.size === 0) return messages;
  return listOf(messages).map((value) => {
    const message: Documented<ChatMessage> | undefined = objectOf(value);
    return Array.isArray(message?.tool_calls)
      ? signed(message, message.tool_calls, signatures)
      : value;
  });
}

function signed(
  message: Documented<ChatMessage>,
  calls: readonly unknown[],
  signatures: Signatures,
): JsonObject {
  const details: unknown[] = [];
  const signedCalls = calls.map((value) => {
    const call: Documented<ChatToolCall> | undefined = objectOf(value);
    const remembered = parse(signatures.get(keyOf(value)) ?? '');
    const kept: Documented<SignedMembers> | undefined = objectOf(remembered);
    details.push(...listOf(kept?.reasoning_details));
    if (!call || kept?.extra_content === undefined || call.extra_content !== undefined)
      return value;
    return { ...call, extra_content: kept.extra_content };
  });
  return {
    ...message,
    tool_calls: signedCalls,
    ...(details.length ? { reasoning_details: details } : {}),
  };
}

/**
 * Joins reasoning details by their index: their texts grow, and the last piece of each carries its
 * signature (openrouter.ai/docs/use-cases/reasoning-tokens, 2026-08).
 */
export function withDetails(before: readonly unknown[], pieces: readonly unknown[]): unknown[] {
  const all = [...before];
  for (const one of pieces) {
    const last: Documented<ChatReasoningDetail> | undefined = objectOf(all.at(-1));
    const piece: Documented<ChatReasoningDetail> | undefined = objectOf(one);
    const same =
      last !== undefined &&
      piece?.index !== undefined &&
      last.index === piece.index &&
      last.type === piece.type &&
      !textOf(last.signature);
    if (!same || textOf(piece.data) !== undefined) all.push(one);
    else
      all[all.length - 1] = {
        ...last,
        ...piece,
        ...joinedText(last, piece, 'text'),
        ...joinedText(last, piece, 'summary'),
      };
  }
  return all;
}

function joinedText(
  last: Documented<ChatReasoningDetail>,
  piece: Documented<ChatReasoningDetail>,
  name: 'text' | 'summary',
): JsonObject {
  const text = (textOf(last[name]) ?? '') + (textOf(piece[name]) ?? '');
  return last[name] === undefined && piece[name] === undefined ? {} : { [name]: text };
}

/** The beginning of delta members that may carry signatures. */
const detailsHead = '"reasoning_details":[';

interface Called {
  readonly id: string;
  readonly name: string;
  /** The inside of a JSON string, in `latin1`. */
  args: string;
  /** Members of the call, in `latin1`. */
  readonly more: string;
}

/**
 * Collects the calls and signed details of a streamed turn. They are kept as the text in which they
 * came and parsed only at the end.
 */
export class TurnSignatures {
  readonly #details: string[] = [];
  readonly #calls: Called[] = [];
  #isSigned = false;

  /** Takes the members of a delta as they are sent to the client. */
  delta(members: string): void {
    if (members.startsWith(detailsHead)) this.#details.push(members);
  }

  call(id: string, name: string, argsJson: string, more: string): void {
    this.#isSigned ||= more !== '';
    this.#calls.push({ id, name, args: argsJson.slice(1, -1), more });
  }

  /** Takes a further piece of the arguments of call `index`, as the JSON text of a string. */
  arguments(index: number, json: string): void {
    const call = this.#calls[index];
    if (call !== undefined) call.args += json.slice(1, -1);
  }

  signatures(): Signatures | undefined {
    if (this.#calls.length === 0 || (!this.#isSigned && this.#details.length === 0))
      return undefined;
    let details: readonly unknown[] = [];
    for (const members of this.#details)
      details = withDetails(details, listOf(membersOf(members)?.reasoning_details));
    const calls = this.#calls.map(({ id, name, args, more }) => ({
      id,
      name,
      arguments: textOf(parse(utf8(`"${args}"`))) ?? '',
      extra: membersOf(more)?.extra_content,
    }));
    return signaturesOf(calls, details);
  }
}

const membersOf = (members: string): Documented<SignedMembers> | undefined =>
  objectOf(parse(utf8(`{${members}}`)));
