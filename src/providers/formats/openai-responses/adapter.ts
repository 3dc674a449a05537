import type { Fault } from '../../../base/fault.ts';
import {
  type JsonChange,
  editJsonPieces,
  jsonText,
  editJson,
  editJsonBytes,
  type Documented,
  isObject,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  bodyOfPieces,
} from '../../../base/json.ts';
import type {
  Adapter,
  VendorAnswer,
  VendorRequest,
  VendorCall,
  BaseAdapter,
} from '../../adapter.ts';
import { refuseServiceTier, serviceTierChanges, servedTier } from '../../billable-features.ts';
import { fitResponse } from '../../support/fit.ts';
import type { SupportRow } from '../../support/rows.ts';
import {
  type ModelRules,
  noteDropped,
  type RequestEdits,
  supportTable,
} from '../../support/rules.ts';
import { unsupportedInResponses } from '../../support/unsupported.ts';
import { faultReader, protocolFault, faultWithin, type FaultRule } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn, noObject, readStreamed } from '../reply.ts';
import { responsesOutputTokensMin } from './chat-request.ts';
import { responseFailure } from './chat.ts';
import {
  outputWords,
  rewriteResponse,
  responseExtras,
  withExtras,
  responsesQuantities,
} from './response.ts';
import { ResponsesCollector, ResponsesStream } from './stream.ts';
import type { CreateResponse, ResponseItem, ResponseResource } from './types.ts';

/** How a vendor departs from OpenAI's `/responses`. */
export interface ResponsesQuirks {
  /**
   * Models that return sealed reasoning on request; others refuse the request for it. A response
   * that Tollgate stores needs the seal, because the vendor stores nothing.
   */
  readonly seals?: RegExp;
  /** The form of its seals. It refuses reasoning with any other. Absent: not known. */
  readonly ownSeals?: RegExp;
  /** The members and values that its models take. */
  readonly takes?: readonly SupportRow[];
  /** Takes `max_tool_calls`. */
  readonly boundsToolCalls?: true;
  readonly faults?: readonly FaultRule[];
}

/**
 * The wire format `openai-responses` (developers.openai.com/api/reference/responses, 2026-08) for
 * clients of the same format. The vendor stores nothing: Tollgate stores responses itself.
 */
export function openaiResponses(quirks: ResponsesQuirks = {}): Adapter {
  const { faults, takes = [] } = quirks;
  const rulesOf = supportTable(takes, unsupportedInResponses);
  return {
    ask: (call) => responsesNativeRequest(call, quirks, rulesOf(call.upstreamModel)),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readNative(reply, call, faults);
      return readStreamed(reply, new ResponsesCollector(call, faults));
    },
    stream: (call) => new ResponsesStream(call, faults),
    collect: (call) => new ResponsesCollector(call, faults),
    fault: faultReader(faults),
  };
}

const sealedReasoning = 'reasoning.encrypted_content';

function responsesNativeRequest(
  call: VendorCall<CreateResponse>,
  quirks: ResponsesQuirks,
  rules: ModelRules,
): VendorRequest {
  const { body } = call;
  const changes: JsonChange[] = [
    { path: ['model'], json: jsonText(call.upstreamModel) },
    { path: ['store'], json: 'false' },
    { path: ['previous_response_id'] },
    { path: ['background'] },
    ...boundsOf(call, quirks),
  ];
  if (rules.members.top.has('service_tier')) refuseServiceTier(call);
  else changes.push(...serviceTierChanges(call));
  if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
  const limit = call.outputTokensMax;
  if (limit !== undefined)
    changes.push({
      path: ['max_output_tokens'],
      json: String(Math.max(responsesOutputTokensMin, limit)),
    });
  const seals = quirks.seals?.test(call.upstreamModel);
  const include = listOf(body.include);
  const asksForSeals = include.includes(sealedReasoning);
  if (body.store !== false && seals === true && !asksForSeals)
    changes.push({ path: ['include'], json: jsonText([...include, sealedReasoning]) });
  if (seals === false && asksForSeals)
    changes.push({
      path: ['include'],
      json: jsonText(include.filter((one) => one !== sealedReasoning)),
    });
  const taken = fitResponse(call, rules);
  leaveOutStrangers(body.input, seals === false ? undefined : (quirks.ownSeals ?? /./), taken);
  const sent = bodyOfPieces(
    editJsonPieces(call.bytes, [...changes, ...taken.changes], call.skeleton),
  );
  return {
    path: '/responses',
    headers: jsonHeaders,
    body: sent.body,
    ...(sent.rest === undefined ? {} : { rest: sent.rest }),
    ...(taken.dropped.length === 0 ? {} : { dropped: taken.dropped }),
    ...(taken.unsupported === undefined ? {} : { unsupported: taken.unsupported }),
  };
}

/** The limits that this vendor takes: not every one has a limit on tool calls. */
function boundsOf(
  { bounds = [] }: VendorCall,
  { boundsToolCalls }: ResponsesQuirks,
): readonly JsonChange[] {
  return boundsToolCalls === true
    ? bounds
    : bounds.filter(({ path }) => path[0] !== 'max_tool_calls');
}

/**
 * Members of items in other vendors' answers, which a client sends back: Gemini's signature, and
 * the positions of a stream's events.
 */
const othersMembers = ['extra_content', 'item_id', 'output_index'] as const;

/**
 * Leaves out parts of the input that this vendor cannot read: reasoning that it has not sealed (it
 * stores nothing to look it up), all reasoning if the model does not think (`own` undefined), and
 * members of other vendors' items. A seal with a `format` comes from another vendor through a
 * router.
 */
function leaveOutStrangers(
  input: Documented<CreateResponse>['input'],
  own: RegExp | undefined,
  taken: RequestEdits,
): void {
  const isStranger = (item: Documented<ResponseItem>): boolean =>
    item.type === 'reasoning' &&
    !(item.format === undefined && isSealedBy(own, item.encrypted_content));
  const isMarked = (item: Documented<ResponseItem>): boolean =>
    othersMembers.some((name) => item[name] !== undefined);
  const items = objectsOf(input);
  if (!items.some((item) => isStranger(item) || isMarked(item))) return;
  if (items.some((item) => isStranger(item) && textOf(item.encrypted_content)))
    noteDropped('input[].encrypted_content', taken);
  const kept = listOf(input)
    .filter((item) => !(isObject(item) && isStranger(item)))
    .map((item) => (isObject(item) && isMarked(item) ? withoutOthers(item) : item));
  taken.changes.push({ path: ['input'], json: jsonText(kept) });
}

function withoutOthers({
  extra_content: _,
  item_id: __,
  output_index: ___,
  ...item
}: Documented<ResponseItem>): Documented<ResponseItem> {
  return item;
}

/** The beginning of Tollgate's own seals (bridges/responses-over-chat-items.ts). */
export const ownSeal = 'tgr1.';
const isSealedBy = (own: RegExp | undefined, seal: unknown): boolean =>
  typeof seal === 'string' && own?.test(seal) === true && !seal.startsWith(ownSeal);

function readNative(
  reply: Buffer,
  call: VendorCall,
  faults: readonly FaultRule[] | undefined,
): VendorAnswer | Fault {
  const body: Documented<ResponseResource> | undefined = objectIn(reply);
  if (body === undefined) return noObject(reply);
  const fault = responseFailure(body, faults);
  if (fault) return fault;
  if (!Array.isArray(body.output)) return protocolFault('a response without output');
  const own = responsesQuantities(objectOf(body.usage));
  const extras = responseExtras(body, own);
  const quantities = withExtras(own, extras);
  return {
    body: Buffer.from(rewriteResponse(reply.toString('latin1').trim(), call), 'latin1'),
    quantities,
    pricingFacts: { ...extras.told, ...servedTier(call, body).told },
    upstreamId: textOf(body.id),
    outputText: quantities ? '' : outputWords(body.output),
  };
}

/**
 * The members that the endpoints beside `/responses` take, at vendors that have all of it
 * (developers.openai.com/api/docs/api-reference/responses, 2026-08).
 */
const countMembers = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'truncation',
];
export const compactMembers: readonly string[] = [
  'model',
  'input',
  'instructions',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
];

/**
 * The client's bytes with only the members in `taken`; `input` holds the whole conversation
 * already.
 */
function requestWith(path: string, taken: readonly string[], call: VendorCall): VendorRequest {
  const dropped = Object.keys(call.body).filter((name) => !taken.includes(name));
  const changes: JsonChange[] = [
    { path: ['model'], json: jsonText(call.upstreamModel) },
    ...(taken.includes('service_tier') ? serviceTierChanges(call) : []),
    ...dropped.map((name) => ({ path: [name] })),
  ];
  return { path, headers: jsonHeaders, body: editJsonBytes(call.bytes, changes, call.skeleton) };
}

/** Counts the tokens of a request. */
export function responsesCount(faults: readonly FaultRule[] = []): BaseAdapter {
  return {
    ask: (call) => requestWith('/responses/input_tokens', countMembers, call),
    read(reply) {
      const body: Documented<{ readonly input_tokens: number }> | undefined = objectIn(reply);
      if (body === undefined) return protocolFault('a count that is no JSON object');
      const fault = faultWithin(body, faults);
      if (fault) return fault;
      if (typeof body.input_tokens !== 'number') return protocolFault('a count without a number');
      return { body: reply, quantities: undefined, upstreamId: undefined, outputText: '' };
    },
    fault: faultReader(faults),
  };
}

/**
 * What the model wrote of a compaction: the seal of the item that stands for the rest of the
 * conversation. The other items are the user's own messages
 * (developers.openai.com/api/docs/guides/compaction, 2026-08).
 */
const compactionText = (output: Documented<ResponseResource>['output']): string =>
  objectsOf(output)
    .map((item) => (item.type === 'compaction' ? (textOf(item.encrypted_content) ?? '') : ''))
    .join('');

/** Shortens a conversation. The answer is always whole. */
export function responsesCompact(faults: readonly FaultRule[] = []): Adapter {
  return {
    ask: (call) => requestWith('/responses/compact', compactMembers, call),
    read(reply, _, call) {
      const body: Documented<ResponseResource> | undefined = objectIn(reply);
      if (body === undefined) return protocolFault('an answer that is no JSON object');
      const fault = faultWithin(body, faults);
      if (fault) return fault;
      if (!Array.isArray(body.output)) return protocolFault('a compaction without output');
      const quantities = responsesQuantities(objectOf(body.usage));
      const text = editJson(reply.toString('latin1').trim(), [
        { path: ['id'], json: jsonText(call.answerId) },
      ]);
      return {
        body: Buffer.from(text, 'latin1'),
        quantities,
        pricingFacts: servedTier(call, body).told,
        upstreamId: textOf(body.id),
        outputText: quantities ? '' : compactionText(body.output),
      };
    },
    stream: (call) => new ResponsesStream(call, faults),
    collect: (call) => new ResponsesCollector(call, faults),
    fault: faultReader(faults),
  };
}
