import { type Change, editPieces, jsonText } from '../../base/json-edit.ts';
import type { Fault } from '../../base/fault.ts';
import type { Adapter, Answer, Ask, Call } from '../adapter.ts';
import { inPieces } from './in-pieces.ts';
import { isObject, listOf, objectOf, parse, textOf } from './json.ts';
import { faultOf, protocolFault } from './openai-chat-fault.ts';
import type { Dropped, FaultRule } from './openai-chat-quirks.ts';
import { failureOf } from './openai-responses-chat.ts';
import { rewriteResponse } from './openai-responses-rewrite.ts';
import { NativeResponseCollector, NativeResponseStream } from './openai-responses-stream.ts';
import { responsesQuantities } from './openai-responses-usage.ts';
import { refuseDearTier } from './dear-tier.ts';

/** How a vendor departs from OpenAI's `/responses`. */
export interface NativeQuirks {
  /** Models whose reasoning comes sealed when asked for; the others refuse to be asked. A response that is kept here needs it, because the vendor keeps nothing. */
  readonly seals?: RegExp;
  /** Models that refuse some members. */
  readonly refusals?: readonly {
    readonly models: RegExp;
    readonly drop: readonly Dropped[];
    readonly unlessEffort?: string;
  }[];
  readonly faults?: readonly FaultRule[];
}

/** The wire format `openai-responses` (wire-formats §1.7) for clients of the same. Nothing is kept at the vendor: what is remembered is ours. */
export function openaiResponses(quirks: NativeQuirks = {}): Adapter {
  const faults = quirks.faults ? { faults: quirks.faults } : {};
  return {
    ask: (call) => askNative(call, quirks),
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
/** The least that the endpoint takes (developers.openai.com/api/docs/api-reference/responses/create, 2026-08). */
const outputTokensLeast = 16;

function askNative(call: Call, quirks: NativeQuirks): Ask {
  refuseDearTier(call);
  const { body } = call;
  const changes: Change[] = [
    { path: ['model'], json: jsonText(call.upstreamModel) },
    { path: ['store'], json: 'false' },
    { path: ['previous_response_id'] },
    { path: ['background'] },
  ];
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
  const effort = objectOf(body['reasoning'])?.['effort'];
  for (const { models, drop, unlessEffort } of quirks.refusals ?? []) {
    if (!models.test(call.upstreamModel) || (unlessEffort !== undefined && unlessEffort === effort))
      continue;
    for (const { member, but } of drop)
      if (body[member] !== undefined && (but === undefined || body[member] !== but))
        changes.push({ path: [member] });
  }
  return { path: '/responses', headers, ...inPieces(editPieces(call.bytes, unique(changes))) };
}

const unique = (changes: readonly Change[]): Change[] => [
  ...new Map(changes.map((change) => [change.path.join('.'), change])).values(),
];

/**
 * Thoughts that this vendor has not sealed cannot be looked up there, since nothing is kept there: they are left out, as all are for a model that
 * does not think (`opens` false). Undefined when there are none.
 */
function withoutStrangers(input: unknown, opens: boolean): unknown[] | undefined {
  const items = listOf(input);
  const known = items.filter(
    (item) =>
      !isObject(item) ||
      item['type'] !== 'reasoning' ||
      (opens && isSealed(item['encrypted_content'])),
  );
  return known.length === items.length ? undefined : known;
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
  const quantities = responsesQuantities(objectOf(body['usage']));
  return {
    body: Buffer.from(rewriteResponse(reply.toString('latin1').trim(), call), 'latin1'),
    quantities,
    upstreamId: textOf(body['id']),
    outputText: quantities ? '' : JSON.stringify(body['output']),
  };
}
