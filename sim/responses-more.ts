import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomText } from '../src/base/random.ts';
import { promptTokens } from './answer.ts';
import { complain, parseRequest } from './chat.ts';
import { type Json, list, object } from './json.ts';
import { readRequest } from './request.ts';
import { asChat } from './responses-request.ts';
import { sendJson } from './send.ts';
import type { Route } from './vendors.ts';

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
const compacted = [
  'model',
  'input',
  'instructions',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
];

/** `/responses/input_tokens` and `/responses/compact`. */
export function besideResponses(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  route: Route,
): void {
  const { dialect, path } = route;
  const parsed = parseRequest(incoming, response, body, route);
  if (parsed === undefined) return;
  const { raw, model } = parsed;
  const taken = path === '/responses/compact' ? compacted : counted;
  const unknown = Object.keys(raw).find((name) => !taken.includes(name));
  if (unknown !== undefined)
    return complain(response, dialect, parsed, {
      param: unknown,
      code: 'unknown_parameter',
      message: `Unknown parameter: '${unknown}'.`,
    });
  const tokens = promptTokens(readRequest(asChat(raw), model));
  if (path !== '/responses/compact')
    return sendJson(
      response,
      200,
      JSON.stringify({ object: 'response.input_tokens', input_tokens: tokens }),
    );
  const kept = list(raw['input'])
    .map(object)
    .filter((item) => item['role'] === 'user')
    .map(listed);
  const compaction = {
    id: `resp_${randomText(29)}`,
    object: 'response.compaction',
    created_at: 1_785_000_000,
    output: [
      ...kept,
      {
        id: `cmp_${randomText(29)}`,
        type: 'compaction',
        encrypted_content: `gAAAA${randomText(40)}`,
      },
    ],
    usage: {
      input_tokens: tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens + 20,
    },
  };
  sendJson(response, 200, JSON.stringify(compaction));
}

/**
 * A message as a response lists it: with an id, a status, and content in parts (CompactResource of
 * the OpenAPI description, 2026-08-21).
 */
function listed(item: Json): Json {
  const { content } = item;
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
  return {
    ...item,
    id: `msg_${randomText(29)}`,
    type: 'message',
    status: 'completed',
    content: parts,
  };
}
