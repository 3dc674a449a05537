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
import { inPieces } from './in-pieces.ts';
import { isObject, listOf } from './json.ts';
import { accepts, type Dropped, type OutputLimit, type Quirks } from './openai-chat-quirks.ts';
import { standInForThoughts } from './openai-chat-thoughts.ts';
import { refuseDearTier } from './dear-tier.ts';

/** What happens to one top-level member. Neither value nor name: it is removed. */
type MemberChange = { json?: string; name?: string };

const limits: readonly OutputLimit[] = ['max_tokens', 'max_completion_tokens'];
const headers = { 'content-type': 'application/json' } as const;

/** The vendor's request: the client's bytes but for the model, what metering needs, and what this vendor or model refuses (DESIGN §1, promise 4). */
export function askChat(call: Call, quirks: Quirks): Ask {
  if (!dropsTier(quirks)) refuseDearTier(call);
  const model = nameJson(call.upstreamModel);
  const members = new Map<string, MemberChange>();
  dropRefused(call, quirks, members);
  renameMembers(call, quirks, members);
  limitOutput(call, quirks, members);
  const changes: Change[] = [];
  for (const [name, change] of members) changes.push({ path: [name], ...change });
  askForUsage(call, quirks, changes);
  if (quirks.thoughtsWithCalls) standInForThoughts(call, quirks.thoughtsWithCalls, changes);
  if (quirks.developers === false) developersAreSystems(call, changes);
  if (quirks.toolIds) remapToolIds(call, quirks.toolIds, changes);
  const pieces = changes.length === 0 ? replaceSolePieces(call.bytes, 'model', model) : undefined;
  return {
    path: '/chat/completions',
    headers,
    ...inPieces(pieces ?? editPieces(call.bytes, [{ path: ['model'], json: model }, ...changes])),
  };
}

/** Where the member is not passed on, nothing is asked of anybody. */
const dropsTier = ({ drop }: Quirks): boolean =>
  drop?.some(({ member }) => member === 'service_tier') === true;

const has = (call: Call, member: string): boolean => call.body[member] !== undefined;

function dropRefused(call: Call, quirks: Quirks, members: Map<string, MemberChange>): void {
  const drop = (rows: readonly Dropped[]): void => {
    for (const row of rows)
      if (has(call, row.member) && !accepts(row, call.body[row.member]))
        members.set(row.member, {});
  };
  drop(quirks.drop ?? []);
  for (const rule of rulesOf(call, quirks)) drop(rule.drop ?? []);
}

function rulesOf(call: Call, quirks: Quirks): NonNullable<Quirks['models']> {
  if (!quirks.models) return [];
  const effort = call.body['reasoning_effort'];
  return quirks.models.filter(
    (rule) =>
      rule.models.test(call.upstreamModel) &&
      (rule.unlessEffort === undefined || rule.unlessEffort !== effort),
  );
}

function renameMembers(call: Call, quirks: Quirks, members: Map<string, MemberChange>): void {
  for (const [from, to] of Object.entries(quirks.rename ?? {}))
    if (has(call, from) && !has(call, to)) members.set(from, { name: to });
}

/** The client's limit under the name that this vendor reads, and ours when money is the tighter one. Of two limits `max_completion_tokens` wins (row 16). */
function limitOutput(call: Call, quirks: Quirks, members: Map<string, MemberChange>): void {
  const only = rulesOf(call, quirks).find((rule) => rule.outputLimit)?.outputLimit;
  const takesBoth = only === undefined && (quirks.outputLimit?.takesBoth ?? true);
  const name = only ?? quirks.outputLimit?.name ?? 'max_completion_tokens';
  const given = limits.filter((limit) => has(call, limit));
  const [kept] = given.length === 2 ? ['max_completion_tokens' as const] : given;
  const ours = call.outputTokensMax === undefined ? undefined : String(call.outputTokensMax);
  if (!kept) {
    if (ours) members.set(name, { json: ours });
    return;
  }
  for (const limit of given) {
    if (!takesBoth && limit !== kept) members.set(limit, {});
    else if (!takesBoth && limit !== name)
      members.set(limit, { name, ...(ours ? { json: ours } : {}) });
    else if (ours) members.set(limit, { json: ours });
  }
}

/** Streams are asked to tell their usage; what shows of it is hidden again from a client that did not ask (row 19). */
function askForUsage(call: Call, quirks: Quirks, changes: Change[]): void {
  if (call.streamUpstream && !call.stream) changes.push({ path: ['stream'], json: 'true' });
  if (quirks.streamOptions === false) {
    if (has(call, 'stream_options')) changes.push({ path: ['stream_options'] });
  } else if (call.streamUpstream && !call.includeUsage) {
    changes.push({ path: ['stream_options', 'include_usage'], json: 'true' });
  }
}

function developersAreSystems(call: Call, changes: Change[]): void {
  listOf(call.body['messages']).forEach((message, i) => {
    if (isObject(message) && message['role'] === 'developer')
      changes.push({ path: ['messages', i, 'role'], json: '"system"' });
  });
}

/** Ids that other vendors gave are hashed into this vendor's alphabet: the same on the call and on its result, on every request. */
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
