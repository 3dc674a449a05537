import { createHash } from 'node:crypto';
import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parse,
  textOf,
} from '../../base/json-value.ts';
import type { Signatures } from '../adapter.ts';

/**
 * What vendors want back with their tool calls, in the extension members in which clients of chat
 * are given it: `extra_content` of the call, and `reasoning_details` of the message, which belong
 * to its first call. Most clients drop both; then it is put back from memory.
 */
export interface SignedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  readonly extra: unknown;
}

/** By what the calls of an answer are remembered; undefined when nobody signed anything. */
export function signaturesOf(
  calls: readonly SignedCall[],
  details: readonly unknown[],
): Signatures | undefined {
  const isSealed = details.some(
    (detail) => isObject(detail) && Boolean(textOf(detail['signature']) ?? textOf(detail['data'])),
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
 * Some vendors' ids are short and come again: name and arguments tell the calls apart, however a
 * client has written the arguments.
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

function keyOf(call: unknown): string {
  const fn = objectOf(objectOf(call)?.['function']) ?? objectOf(objectOf(call)?.['custom']);
  return callKey(
    textOf(objectOf(call)?.['id']) ?? '',
    textOf(fn?.['name']) ?? '',
    fn?.['arguments'] ?? fn?.['input'],
  );
}

/** Calls remembered for one request at most: the latest of a conversation. */
const callsMax = 256;

/** The calls of the assistant's messages that came back without what was signed. */
export function unsignedCalls(
  messages: unknown,
  isSigned: (message: JsonObject) => boolean,
): readonly string[] {
  const keys: string[] = [];
  const all = listOf(messages);
  for (let i = all.length - 1; i >= 0 && keys.length < callsMax; i--) {
    const message = all[i];
    if (!isObject(message) || !Array.isArray(message['tool_calls']) || isSigned(message)) continue;
    keys.push(...message['tool_calls'].map(keyOf));
  }
  return keys;
}

/** The messages with what is remembered of their calls in its place. */
export function withCallSignatures(messages: unknown, signatures: Signatures | undefined): unknown {
  if (signatures === undefined || signatures.size === 0) return messages;
  return listOf(messages).map((message) =>
    isObject(message) && Array.isArray(message['tool_calls'])
      ? signed(message, message['tool_calls'], signatures)
      : message,
  );
}

function signed(
  message: JsonObject,
  calls: readonly unknown[],
  signatures: Signatures,
): JsonObject {
  const details: unknown[] = [];
  const signedCalls = calls.map((call) => {
    const kept = objectOf(parse(signatures.get(keyOf(call)) ?? ''));
    details.push(...listOf(kept?.['reasoning_details']));
    if (
      !isObject(call) ||
      kept?.['extra_content'] === undefined ||
      call['extra_content'] !== undefined
    )
      return call;
    return { ...call, extra_content: kept['extra_content'] };
  });
  return {
    ...message,
    tool_calls: signedCalls,
    ...(details.length ? { reasoning_details: details } : {}),
  };
}

/** A call's id as it is sent, and whether a result has named it. */
interface Begun {
  readonly sent: string;
  answered: boolean;
}

/**
 * The ids of calls as a vendor takes them: of its alphabet, and none for two calls of a
 * conversation. The same request gets the same ids.
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

  /** The oldest call of that id without a result is the one that is answered. */
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

/** An id in the alphabet that the vendor takes: the same for the same id, on every request. */
export const fittingId = (id: string, taken: RegExp): string => (taken.test(id) ? id : hashed(id));
