import { createHash } from 'node:crypto';
import {
  type Documented,
  type JsonChange,
  editJsonBytes,
  editJsonPieces,
  jsonText,
  nameJson,
  type JsonPath,
  replaceMember,
  isObject,
  listOf,
  objectOf,
  parse,
  type RequestBodyBytes,
  textOf,
  bodyOfPieces,
} from '../../../base/json.ts';
import type { Adapter, VendorCall, VendorRequest } from '../../adapter.ts';
import { refuseServiceTier, serviceTierChanges } from '../../billable-features.ts';
import { ChatCollector } from '../../conversation/chat-collector.ts';
import { mediaAfterResults } from '../../conversation/tool-results.ts';
import { stopsToWatch, fitChat } from '../../support/fit.ts';
import { alternating, hasMediaInResults } from '../../support/messages.ts';
import { supportTable, type ModelRules } from '../../support/rules.ts';
import { unsupportedInChat } from '../../support/unsupported.ts';
import { faultReader } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import { readStreamed } from '../reply.ts';
import type { ChatQuirks } from './quirks.ts';
import { readChatResponse } from './response.ts';
import { ChatStream } from './stream.ts';
import type { ChatRequest } from './types.ts';

/**
 * The wire format `openai-chat`: OpenAI's chat completions
 * (developers.openai.com/api/reference/chat-completions, 2026-08) with a vendor's departures as
 * data.
 */
export function openaiChat(quirks: ChatQuirks = {}): Adapter {
  const rulesOf = supportTable(quirks.takes ?? [], unsupportedInChat);
  const stops = (call: VendorCall<ChatRequest>) =>
    call.body.stop == null ? undefined : stopsToWatch(call.body, rulesOf(call.upstreamModel).stops);
  const stream = (call: VendorCall): ChatStream => new ChatStream(call, quirks, stops(call));
  const { readsAddresses = ['image', 'video'] } = quirks;
  return {
    ask: (call) => chatRequest(call, quirks, rulesOf(call.upstreamModel)),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType))
        return readChatResponse(reply, call, quirks, stops(call));
      return readStreamed(reply, new ChatCollector(call, stream));
    },
    stream,
    collect: (call) => new ChatCollector(call, stream),
    needsBytes: ({ kind }) => !readsAddresses.includes(kind),
    fault: faultReader(quirks.faults),
  };
}

/**
 * Writes the vendor's request: the client's bytes, except for the model, members that metering
 * needs, and members that this model does not take.
 */
function chatRequest(call: VendorCall, quirks: ChatQuirks, rules: ModelRules): VendorRequest {
  const model = nameJson(call.upstreamModel);
  const { changes, dropped, unsupported } = fitChat(call, rules);
  askForUsage(call, quirks, changes);
  if (rules.members.top.has('service_tier')) refuseServiceTier(call);
  else changes.push(...serviceTierChanges(call, quirks.standardTier));
  if (quirks.toolIds) remapToolIds(call, quirks.toolIds, changes);
  const { body, rest } = bodyOf(call, model, changes, quirks);
  return {
    path: '/chat/completions',
    headers: jsonHeaders,
    body,
    ...(rest === undefined ? {} : { rest }),
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(unsupported === undefined ? {} : { unsupported }),
  };
}

/** The client's bytes with the changes, and with media and turns where this vendor reads them. */
function bodyOf(
  call: VendorCall,
  model: string,
  changes: readonly JsonChange[],
  { mediaInResults, alternates }: ChatQuirks,
): RequestBodyBytes {
  const { messages } = call.body;
  const moves =
    (hasMediaInResults(messages) && mediaInResults?.test(call.upstreamModel) !== true) ||
    (alternates === true && alternating(messages) !== messages);
  const was = changes.length === 0 && !moves ? textOf(call.body['model']) : undefined;
  const replaced = was === undefined ? undefined : replaceMember(call, 'model', was, model);
  if (replaced !== undefined) return replaced;
  const all = [{ path: ['model'], json: model }, ...changes];
  return moves
    ? { body: withMessagesMoved(editJsonBytes(call.bytes, all, call.skeleton), alternates) }
    : bodyOfPieces(editJsonPieces(call.bytes, all, call.skeleton));
}

/** After everything else: until then, the paths of parts are those of the client's request. */
function withMessagesMoved(bytes: Buffer, alternates: ChatQuirks['alternates']): Buffer {
  const body: Documented<ChatRequest> = objectOf(parse(bytes.toString('utf8'))) ?? {};
  const moved = mediaAfterResults(body.messages);
  const json = jsonText(alternates === true ? alternating(moved) : moved);
  return editJsonBytes(bytes, [{ path: ['messages'], json }]);
}

/** Requests the usage of streams. A client that did not request it does not see it. */
function askForUsage(
  call: VendorCall<ChatRequest>,
  quirks: ChatQuirks,
  changes: JsonChange[],
): void {
  if (call.body.usage !== undefined && quirks.takesCostWish !== true)
    changes.push({ path: ['usage'] });
  if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
  if (quirks.streamOptions === false) {
    if (call.body.stream_options !== undefined) changes.push({ path: ['stream_options'] });
  } else if (call.streamUpstream && !call.includeUsage) {
    changes.push({ path: ['stream_options', 'include_usage'], json: 'true' });
  }
}

/**
 * Hashes ids that do not match this vendor's pattern: a call and its result get the same id, in
 * every request.
 */
function remapToolIds(
  call: VendorCall<ChatRequest>,
  ids: NonNullable<ChatQuirks['toolIds']>,
  changes: JsonChange[],
): void {
  const remap = (path: JsonPath, id: unknown): void => {
    if (typeof id === 'string' && !ids.pattern.test(id))
      changes.push({ path, json: jsonText(shortId(id, ids.length)) });
  };
  listOf(call.body.messages).forEach((message, i) => {
    if (!isObject(message)) return;
    remap(['messages', i, 'tool_call_id'], message.tool_call_id);
    listOf(message.tool_calls).forEach((toolCall, j) => {
      if (isObject(toolCall)) remap(['messages', i, 'tool_calls', j, 'id'], toolCall.id);
    });
  });
}

function shortId(id: string, length: number): string {
  return createHash('sha256')
    .update(id)
    .digest('base64')
    .replace(/[^A-Za-z0-9]/g, '')
    .padEnd(length, '0')
    .slice(0, length);
}
