import { createHash } from 'node:crypto';
import type { Signatures } from '../adapter.ts';
import { isObject, type JsonObject, listOf, objectOf, parse, textOf } from './json.ts';

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
export function withSignatures(messages: unknown, signatures: Signatures | undefined): unknown {
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
