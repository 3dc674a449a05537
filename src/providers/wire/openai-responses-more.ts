import { type Change, edit, editBytes, jsonText } from '../../base/json-edit.ts';
import type { Adapter, Ask, Call, Inquiry } from '../adapter.ts';
import { isObject, objectOf, parse, textOf } from './json.ts';
import { faultOf, faultWithin, protocolFault } from './openai-chat-fault.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { NativeResponseCollector, NativeResponseStream } from './openai-responses-stream.ts';
import { responsesQuantities } from './openai-responses-usage.ts';
import { tierChanges, toldTier } from './tiers.ts';

/**
 * What stands beside `/responses` at vendors that have all of it
 * (developers.openai.com/api/docs/api-reference/responses, 2026-08).
 */

const headers = { 'content-type': 'application/json' } as const;
const counted = [
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
export const compacted: readonly string[] = [
  'model',
  'input',
  'instructions',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
];

/** The client's bytes with these members alone; the conversation stands in `input` already. */
function askWith(path: string, taken: readonly string[], call: Call): Ask {
  const dropped = Object.keys(call.body).filter((name) => !taken.includes(name));
  const changes: Change[] = [
    { path: ['model'], json: jsonText(call.upstreamModel) },
    ...(taken.includes('service_tier') ? tierChanges(call) : []),
    ...dropped.map((name) => ({ path: [name] })),
  ];
  return { path, headers, body: editBytes(call.bytes, changes) };
}

/** How many tokens a request would have. */
export function responsesCount(faults: readonly FaultRule[] = []): Inquiry {
  return {
    ask: (call) => askWith('/responses/input_tokens', counted, call),
    read(reply) {
      const body = parse(reply.toString('utf8'));
      if (!isObject(body)) return protocolFault('a count that is no JSON object');
      const fault = faultWithin(body, { faults });
      if (fault) return fault;
      if (typeof body['input_tokens'] !== 'number')
        return protocolFault('a count without a number');
      return { body: reply, quantities: undefined, upstreamId: undefined, outputText: '' };
    },
    fault: (status, replyHeaders, reply) => faultOf(status, replyHeaders, reply, { faults }),
  };
}

/** A conversation made shorter. Always a whole answer. */
export function responsesCompact(faults: readonly FaultRule[] = []): Adapter {
  const quirks = { faults };
  return {
    ask: (call) => askWith('/responses/compact', compacted, call),
    read(reply, _, call) {
      const body = parse(reply.toString('utf8'));
      if (!isObject(body)) return protocolFault('an answer that is no JSON object');
      const fault = faultWithin(body, quirks);
      if (fault) return fault;
      if (!Array.isArray(body['output'])) return protocolFault('a compaction without output');
      const quantities = responsesQuantities(objectOf(body['usage']));
      const text = edit(reply.toString('latin1').trim(), [
        { path: ['id'], json: jsonText(call.answerId) },
      ]);
      return {
        body: Buffer.from(text, 'latin1'),
        quantities,
        told: toldTier(call, body).told,
        upstreamId: textOf(body['id']),
        outputText: quantities ? '' : reply.toString('utf8'),
      };
    },
    stream: (call) => new NativeResponseStream(call, quirks),
    collect: (call) => new NativeResponseCollector(call, quirks),
    fault: (status, replyHeaders, reply) => faultOf(status, replyHeaders, reply, quirks),
  };
}
