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
export interface SignedMembers {
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

/** A call's id as the vendor gets it, and whether a result has referred to it. */
interface Begun {
  readonly sent: string;
  answered: boolean;
}

/**
 * Maps call ids to ids that a vendor accepts: in its alphabet, and unique in the conversation. The
 * same request always gets the same ids.
 */
export class CallIds {
  readonly #taken: RegExp;
  readonly #begun = new Map<string, Begun[]>();
  readonly #used = new Set<string>();

  constructor(taken: RegExp) {
    this.#taken = taken;
  }

  begin(id: string): string {
    let sent = fittingId(id, this.#taken);
    for (let n = 2; this.#used.has(sent); n++) sent = hashed(`${id} ${n}`);
    this.#used.add(sent);
    const open = (this.#begun.get(id) ?? []).filter(({ answered }) => !answered);
    this.#begun.set(id, [...open, { sent, answered: false }]);
    return sent;
  }

  /** The sent id for a result: that of the oldest call of this id without a result. */
  of(id: string): string {
    const begun = this.#begun.get(id);
    const call = begun?.find(({ answered }) => !answered) ?? begun?.at(-1);
    if (call === undefined) return this.begin(id);
    call.answered = true;
    return call.sent;
  }
}

const hashed = (text: string): string =>
  `call_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;

/**
 * The id if the vendor accepts it, else a hash of it: the same for the same id in every request.
 */
export const fittingId = (id: string, taken: RegExp): string => (taken.test(id) ? id : hashed(id));
