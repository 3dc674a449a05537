import { jsonText, members, nameJson, replaceSole, replaceSoles } from '../../base/json-edit.ts';
import type { Answer, Call } from '../adapter.ts';
import { isObject, type JsonObject, listOf } from './json.ts';
import { upstreamIdOf } from './openai-chat-chunk.ts';
import type { Quirks } from './openai-chat-quirks.ts';
import { toldTier } from './tiers.ts';
import { plainUsage } from './openai-chat-usage.ts';

const topMembers = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'service_tier',
  'system_fingerprint',
]);
const choiceMembers = new Set(['index', 'message', 'logprobs', 'finish_reason']);
const messageMembers = new Set(['role', 'content', 'refusal', 'annotations']);
const reasons = new Set<unknown>(['stop', 'length', 'content_filter']);

function has(object: JsonObject, only: ReadonlySet<string>): boolean {
  for (const name in object) if (!only.has(name)) return false;
  return true;
}

/** One choice of plain text, exactly as OpenAI writes it. */
function isPlain(body: JsonObject): boolean {
  const choices = listOf(body['choices']);
  const [choice] = choices;
  if (
    choices.length !== 1 ||
    !isObject(choice) ||
    !has(body, topMembers) ||
    !has(choice, choiceMembers)
  )
    return false;
  const { message } = choice;
  return (
    body['object'] === 'chat.completion' &&
    typeof body['created'] === 'number' &&
    choice['index'] === 0 &&
    reasons.has(choice['finish_reason']) &&
    isObject(message) &&
    has(message, messageMembers) &&
    message['role'] === 'assistant' &&
    typeof message['content'] === 'string'
  );
}

/**
 * The common answer, on a short way: nothing in it departs from the convention, so only its id and
 * model are changed and every other byte stays where it is. Undefined when anything else would have
 * to change: then the long way decides. `text` is `reply` without blanks around it, `body` the same
 * parsed.
 */
export function plainAnswer(
  reply: Buffer,
  text: string,
  body: JsonObject,
  call: Call,
  quirks: Quirks,
): Answer | undefined {
  if (quirks.thinkTags === true || !isPlain(body) || !isObject(body['usage'])) return undefined;
  const quantities = plainUsage(body['usage']);
  if (quantities === undefined) return undefined;
  if (typeof body['id'] !== 'string' || typeof body['model'] !== 'string') return undefined;
  const renamed = renameQuickly(reply, text, call) ?? rename(reply, call);
  const { told } = toldTier(call, body);
  return (
    renamed && { body: renamed, quantities, told, upstreamId: upstreamIdOf(body), outputText: '' }
  );
}

/** Longer answers are not worth a second text of all of it. */
const quickBytesMax = 16_384;

function renameQuickly(
  reply: Buffer,
  text: string,
  { answerId, publicModel }: Call,
): Buffer | undefined {
  const changes = [
    ['id', jsonText(answerId)],
    ['model', nameJson(publicModel)],
  ] as const;
  if (reply.length <= quickBytesMax) {
    const renamed = replaceSoles(
      text.length === reply.length ? text : reply.toString('latin1'),
      changes,
    );
    return renamed === undefined ? undefined : Buffer.from(renamed, 'latin1');
  }
  return changes.reduce<Buffer | undefined>(
    (bytes, [name, json]) => bytes && replaceSole(bytes, name, json),
    reply,
  );
}

function rename(reply: Buffer, { answerId, publicModel }: Call): Buffer | undefined {
  const text = reply.toString('latin1').trim();
  let out = '';
  let at = 0;
  let changed = 0;
  for (const { name, value, end } of members(text, 0)) {
    if (name !== 'id' && name !== 'model') continue;
    out += text.slice(at, value) + jsonText(name === 'id' ? answerId : publicModel);
    at = end;
    changed++;
  }
  // A member that is there twice, or not at all, is no plain answer.
  return changed === 2 ? Buffer.from(out + text.slice(at), 'latin1') : undefined;
}
