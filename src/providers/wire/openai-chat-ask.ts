import { createHash } from 'node:crypto';
import {
  type Change,
  editPieces,
  jsonText,
  nameJson,
  type Path,
  replaceSolePieces,
} from '../../base/json-edit.ts';
import type { Ask, Call } from '../adapter.ts';
import { takeChat } from '../takes/chat.ts';
import type { Rules } from '../takes/rules.ts';
import { inPieces } from './in-pieces.ts';
import { isObject, listOf } from './json.ts';
import type { Quirks } from './openai-chat-quirks.ts';
import { refuseTiers, tierChanges } from './tiers.ts';

const headers = { 'content-type': 'application/json' } as const;

/**
 * The vendor's request: the client's bytes but for the model, what metering needs, and what this
 * model does not take (DESIGN §1, promise 4).
 */
export function askChat(call: Call, quirks: Quirks, rules: Rules): Ask {
  const model = nameJson(call.upstreamModel);
  const { changes, dropped, untaken } = takeChat(call, rules);
  askForUsage(call, quirks, changes);
  if (rules.members.top.has('service_tier')) refuseTiers(call);
  else changes.push(...tierChanges(call, quirks.standardTier));
  if (quirks.toolIds) remapToolIds(call, quirks.toolIds, changes);
  const pieces = changes.length === 0 ? replaceSolePieces(call.bytes, 'model', model) : undefined;
  const { body, rest } = inPieces(
    pieces ?? editPieces(call.bytes, [{ path: ['model'], json: model }, ...changes]),
  );
  return {
    path: '/chat/completions',
    headers,
    body,
    ...(rest === undefined ? {} : { rest }),
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(untaken === undefined ? {} : { untaken }),
  };
}

/**
 * Streams are asked to tell their usage; what shows of it is hidden again from a client that did
 * not ask (row 19).
 */
function askForUsage(call: Call, quirks: Quirks, changes: Change[]): void {
  if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
  if (quirks.streamOptions === false) {
    if (call.body['stream_options'] !== undefined) changes.push({ path: ['stream_options'] });
  } else if (call.streamUpstream && !call.includeUsage) {
    changes.push({ path: ['stream_options', 'include_usage'], json: 'true' });
  }
}

/**
 * Ids that other vendors gave are hashed into this vendor's alphabet: the same on the call and on
 * its result, on every request.
 */
function remapToolIds(call: Call, ids: NonNullable<Quirks['toolIds']>, changes: Change[]): void {
  const remap = (path: Path, id: unknown): void => {
    if (typeof id === 'string' && !ids.pattern.test(id))
      changes.push({ path, json: jsonText(shortId(id, ids.length)) });
  };
  listOf(call.body['messages']).forEach((message, i) => {
    if (!isObject(message)) return;
    remap(['messages', i, 'tool_call_id'], message['tool_call_id']);
    listOf(message['tool_calls']).forEach((toolCall, j) => {
      if (isObject(toolCall)) remap(['messages', i, 'tool_calls', j, 'id'], toolCall['id']);
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
