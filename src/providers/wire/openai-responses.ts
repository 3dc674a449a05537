import { type Change, editPieces, jsonText } from '../../base/json-edit.ts';
import type { Fault } from '../../base/fault.ts';
import type { Adapter, Answer, Ask, Call } from '../adapter.ts';
import { inPieces } from './in-pieces.ts';
import { isObject, type JsonObject, listOf, objectOf, parse, textOf } from './json.ts';
import { faultOf, protocolFault } from './openai-chat-fault.ts';
import type { TakesRow } from '../takes/contract.ts';
import { takeResponse } from '../takes/responses.ts';
import { type Rules, tableOf } from '../takes/rules.ts';
import { untakenInResponses } from '../takes/untaken.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { failureOf } from './openai-responses-chat.ts';
import { rewriteResponse } from './openai-responses-rewrite.ts';
import { NativeResponseCollector, NativeResponseStream } from './openai-responses-stream.ts';
import { responsesQuantities } from './openai-responses-usage.ts';
import { responseExtras, withExtras } from './responses-told.ts';
import { refuseTiers, tierChanges, toldTier } from './tiers.ts';

/** How a vendor departs from OpenAI's `/responses`. */
export interface NativeQuirks {
  /**
   * Models whose reasoning comes sealed when asked for; the others refuse to be asked. A response
   * that is kept here needs it, because the vendor keeps nothing.
   */
  readonly seals?: RegExp;
  /** What its models take. */
  readonly takes?: readonly TakesRow[];
  /** Takes `max_tool_calls`. */
  readonly boundsToolCalls?: true;
  readonly faults?: readonly FaultRule[];
}

/**
 * The wire format `openai-responses` (wire-formats §1.7) for clients of the same. Nothing is kept
 * at the vendor: what is remembered is ours.
 */
export function openaiResponses(quirks: NativeQuirks = {}): Adapter {
  const faults = quirks.faults ? { faults: quirks.faults } : {};
  const rulesOf = tableOf(quirks.takes ?? [], untakenInResponses);
  return {
    ask: (call) => askNative(call, quirks, rulesOf(call.upstreamModel)),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readNative(reply, call, faults);
      const collector = new NativeResponseCollector(call, faults);
      collector.push(reply);
      const answer = collector.answer();
      return collector.meter.fault ?? answer;
    },
    stream: (call) => new NativeResponseStream(call, faults),
    collect: (call) => new NativeResponseCollector(call, faults),
    fault: (status, headers, reply) => faultOf(status, headers, reply, faults),
  };
}

const headers = { 'content-type': 'application/json' } as const;
const sealedReasoning = 'reasoning.encrypted_content';
/**
 * The least that the endpoint takes (developers.openai.com/api/docs/api-reference/responses/create,
 * 2026-08).
 */
const outputTokensLeast = 16;

function askNative(call: Call, quirks: NativeQuirks, rules: Rules): Ask {
  const { body } = call;
  const changes: Change[] = [
    { path: ['model'], json: jsonText(call.upstreamModel) },
    { path: ['store'], json: 'false' },
    { path: ['previous_response_id'] },
    { path: ['background'] },
    ...boundsOf(call, quirks),
  ];
  if (rules.members.top.has('service_tier')) refuseTiers(call);
  else changes.push(...tierChanges(call));
  if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
  const limit = call.outputTokensMax;
  if (limit !== undefined)
    changes.push({ path: ['max_output_tokens'], json: String(Math.max(outputTokensLeast, limit)) });
  const seals = quirks.seals?.test(call.upstreamModel);
  const include = listOf(body['include']);
  const asksForSeals = include.includes(sealedReasoning);
  if (body['store'] !== false && seals === true && !asksForSeals)
    changes.push({ path: ['include'], json: jsonText([...include, sealedReasoning]) });
  if (seals === false && asksForSeals)
    changes.push({
      path: ['include'],
      json: jsonText(include.filter((one) => one !== sealedReasoning)),
    });
  const input = withoutStrangers(body['input'], seals ?? true);
  if (input) changes.push({ path: ['input'], json: jsonText(input) });
  const taken = takeResponse(call, rules);
  const sent = inPieces(editPieces(call.bytes, [...changes, ...taken.changes]));
  return {
    path: '/responses',
    headers,
    body: sent.body,
    ...(sent.rest === undefined ? {} : { rest: sent.rest }),
    ...(taken.dropped.length === 0 ? {} : { dropped: taken.dropped }),
    ...(taken.untaken === undefined ? {} : { untaken: taken.untaken }),
  };
}

/** Not every vendor of this format takes a limit on tool calls. */
function boundsOf({ bounds = [] }: Call, { boundsToolCalls }: NativeQuirks): readonly Change[] {
  return boundsToolCalls === true
    ? bounds
    : bounds.filter(({ path }) => path[0] !== 'max_tool_calls');
}

/**
 * Members of items that other hosts' answers have, and that a client brings back: Gemini's
 * signature, and the places of a stream's events.
 */
const othersMembers = ['extra_content', 'item_id', 'output_index'] as const;

/**
 * Thoughts that this vendor has not sealed cannot be looked up there, since nothing is kept there:
 * they are left out, as all are for a model that does not think (`opens` false); so is what other
 * hosts' items have beside. A seal with a `format` is one that a router passed on from elsewhere.
 * Undefined when there is nothing of the kind.
 */
function withoutStrangers(input: unknown, opens: boolean): unknown[] | undefined {
  const items = listOf(input);
  const isStranger = (item: unknown): boolean =>
    isObject(item) &&
    item['type'] === 'reasoning' &&
    !(opens && item['format'] === undefined && isSealed(item['encrypted_content']));
  const isMarked = (item: unknown): item is JsonObject =>
    isObject(item) && othersMembers.some((name) => item[name] !== undefined);
  if (!items.some((item) => isStranger(item) || isMarked(item))) return undefined;
  return items
    .filter((item) => !isStranger(item))
    .map((item) => (isMarked(item) ? withoutOthers(item) : item));
}

function withoutOthers({
  extra_content: _,
  item_id: __,
  output_index: ___,
  ...item
}: JsonObject): JsonObject {
  return item;
}

/** Seals of our own begin with this mark (bridges/responses-over-chat-seal.ts). */
export const ownSeal = 'tgr1.';
const isSealed = (seal: unknown): boolean =>
  typeof seal === 'string' && seal !== '' && !seal.startsWith(ownSeal);

function readNative(
  reply: Buffer,
  call: Call,
  quirks: { faults?: readonly FaultRule[] },
): Answer | Fault {
  const body = parse(reply.toString('utf8'));
  if (!isObject(body))
    return protocolFault(`an answer that is no JSON object: ${reply.toString('utf8', 0, 120)}`);
  const fault = failureOf(body, quirks);
  if (fault) return fault;
  if (!Array.isArray(body['output'])) return protocolFault('a response without output');
  const own = responsesQuantities(objectOf(body['usage']));
  const extras = responseExtras(body, own);
  const quantities = withExtras(own, extras);
  return {
    body: Buffer.from(rewriteResponse(reply.toString('latin1').trim(), call), 'latin1'),
    quantities,
    told: { ...extras.told, ...toldTier(call, body).told },
    upstreamId: textOf(body['id']),
    outputText: quantities ? '' : JSON.stringify(body['output']),
  };
}
