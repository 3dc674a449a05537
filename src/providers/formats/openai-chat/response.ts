import type { Fault } from '../../../base/fault.ts';
import {
  jsonText,
  jsonMembers,
  nameJson,
  replaceOnlyMember,
  replaceOnlyMembers,
} from '../../../base/json-edit.ts';
import {
  isObject,
  listOf,
  objectOf,
  parse,
  rawElements,
  rawInside,
  rawMembers,
  rawText,
  isPresent,
  textOf,
  type JsonObject,
} from '../../../base/json-value.ts';
import type { VendorAnswer, VendorCall } from '../../adapter.ts';
import { faultWithin, mayTellFault, protocolFault } from '../fault.ts';
import { servedTier } from '../tiers.ts';
import { hiddenInChoice, hiddenMembers, newCallId, upstreamIdOf } from './chunk.ts';
import { choiceState, finishReason, normaliseMessage } from './message.ts';
import type { ChatQuirks } from './quirks.ts';
import { readUsage, plainUsage } from './usage.ts';

/**
 * Reads a whole answer in OpenAI's format: the vendor's bytes, except for the ids, the model and
 * departures from the format.
 */
export function readChatResponse(
  reply: Buffer,
  call: VendorCall,
  quirks: ChatQuirks,
  stops?: readonly string[],
): VendorAnswer | Fault {
  const text = reply.toString('latin1').trim();
  const body = parse(text);
  if (body === undefined)
    return protocolFault(`an answer that is not JSON: ${reply.toString('utf8', 0, 120)}`);
  if (!isObject(body)) return protocolFault('an answer that is no JSON object');
  const refused = mayTellFault(body)
    ? faultWithin(objectOf(parse(reply.toString('utf8'))) ?? {}, quirks)
    : undefined;
  if (refused) return refused;
  const plain = stops ? undefined : plainAnswer(reply, text, body, call, quirks);
  if (plain) return plain;
  if (!listOf(body['choices']).some(isObject)) return protocolFault('an answer without choices');
  const top = rawMembers(text);
  const rawChoices = rawElements(top.get('choices'));
  const choices: string[] = [];
  for (const choice of rawChoices) {
    const normalised = normaliseChoice(choice, choices.length, call, quirks, stops);
    if (normalised === undefined)
      return { kind: 'server_error', message: 'the vendor ended its answer with an error' };
    choices.push(normalised);
  }
  const usageText = top.get('usage') ?? rawMembers(rawChoices[0] ?? '').get('usage');
  const usage = isPresent(usageText) ? readUsage(usageText) : undefined;
  const created = typeof body['created'] === 'number' ? top.get('created') : String(call.created);
  for (const name of ['id', 'object', 'created', 'model', 'choices', ...hiddenMembers])
    top.delete(name);
  if (usage) top.set('usage', usage.json);
  const rest = rawInside(top);
  const head = `{"id":${jsonText(call.answerId)},"object":"chat.completion","created":${created},"model":${jsonText(call.publicModel)}`;
  return {
    body: Buffer.from(`${head},"choices":[${choices.join(',')}]${rest && ','}${rest}}`, 'latin1'),
    quantities: usage?.quantities,
    pricingFacts: servedTier(call, body).told,
    upstreamId: upstreamIdOf(body),
    outputText: usage ? '' : outputText(reply),
  };
}

/** The choice in OpenAI's form; undefined when it ended with an error. */
function normaliseChoice(
  text: string,
  position: number,
  call: VendorCall,
  quirks: ChatQuirks,
  stops?: readonly string[],
): string | undefined {
  const choice = rawMembers(text);
  const reason = finishReason(choice.get('finish_reason'));
  if (reason === 'error') return undefined;
  const message = rawMembers(choice.get('message') ?? '');
  const state = choiceState(stops);
  normaliseMessage(message, state, { quirks, newId: newCallId(call), whole: true, last: true });
  const index = Number(choice.get('index') ?? position) || 0;
  // Perplexity sends an empty delta in whole answers, too.
  for (const name of ['index', 'message', 'delta', 'finish_reason', 'usage', ...hiddenInChoice])
    choice.delete(name);
  const rest = rawInside(choice);
  return `{"index":${index},"message":${rawText(message)}${rest && ','}${rest},"finish_reason":"${state.stop?.met === true ? 'stop' : (reason ?? 'stop')}"}`;
}

/** All text that the model wrote, for a count if the vendor reports none. */
function outputText(reply: Buffer): string {
  let text = '';
  for (const choice of listOf(objectOf(parse(reply.toString('utf8')))?.['choices'])) {
    const message = objectOf(objectOf(choice)?.['message']) ?? {};
    const content = message['content'];
    text +=
      textOf(content) ??
      listOf(content)
        .map((part) => textOf(objectOf(part)?.['text']) ?? '')
        .join('');
    text += textOf(message['reasoning_content']) ?? textOf(message['reasoning']) ?? '';
    for (const toolCall of listOf(message['tool_calls'])) {
      const fn = objectOf(objectOf(toolCall)?.['function']);
      text += (textOf(fn?.['name']) ?? '') + (textOf(fn?.['arguments']) ?? '');
    }
  }
  return text;
}

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
const plainFinishes = new Set<unknown>(['stop', 'length', 'content_filter']);

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
    plainFinishes.has(choice['finish_reason']) &&
    isObject(message) &&
    has(message, messageMembers) &&
    message['role'] === 'assistant' &&
    typeof message['content'] === 'string'
  );
}

/**
 * The fast path for common answers, which do not depart from OpenAI's format: only the id and the
 * model are changed, and every other byte stays in place. Undefined when anything else must change:
 * then the slow path reads the answer. `text` is `reply` without blanks around it, `body` the same
 * parsed.
 */
function plainAnswer(
  reply: Buffer,
  text: string,
  body: JsonObject,
  call: VendorCall,
  quirks: ChatQuirks,
): VendorAnswer | undefined {
  if (quirks.thinkTags === true || !isPlain(body) || !isObject(body['usage'])) return undefined;
  const quantities = plainUsage(body['usage']);
  if (quantities === undefined) return undefined;
  if (typeof body['id'] !== 'string' || typeof body['model'] !== 'string') return undefined;
  const renamed = renameQuickly(reply, text, call) ?? rename(reply, call);
  const { told } = servedTier(call, body);
  return (
    renamed && {
      body: renamed,
      quantities,
      pricingFacts: told,
      upstreamId: upstreamIdOf(body),
      outputText: '',
    }
  );
}

/** For longer answers the fast path is not worth a second copy of the text. */
const quickBytesMax = 16_384;

function renameQuickly(
  reply: Buffer,
  text: string,
  { answerId, publicModel }: VendorCall,
): Buffer | undefined {
  const changes = [
    ['id', jsonText(answerId)],
    ['model', nameJson(publicModel)],
  ] as const;
  if (reply.length <= quickBytesMax) {
    const renamed = replaceOnlyMembers(
      text.length === reply.length ? text : reply.toString('latin1'),
      changes,
    );
    return renamed === undefined ? undefined : Buffer.from(renamed, 'latin1');
  }
  return changes.reduce<Buffer | undefined>(
    (bytes, [name, json]) => bytes && replaceOnlyMember(bytes, name, json),
    reply,
  );
}

function rename(reply: Buffer, { answerId, publicModel }: VendorCall): Buffer | undefined {
  const text = reply.toString('latin1').trim();
  let out = '';
  let at = 0;
  let changed = 0;
  for (const { name, value, end } of jsonMembers(text, 0)) {
    if (name !== 'id' && name !== 'model') continue;
    out += text.slice(at, value) + jsonText(name === 'id' ? answerId : publicModel);
    at = end;
    changed++;
  }
  // If a member occurs twice or is missing, this is no plain answer.
  return changed === 2 ? Buffer.from(out + text.slice(at), 'latin1') : undefined;
}
