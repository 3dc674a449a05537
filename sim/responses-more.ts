import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomText } from '../src/base/random.ts';
import { promptTokens } from './answer.ts';
import { parseRequest, refuse } from './chat.ts';
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
  { dialect, path }: Route,
): void {
  const parsed = parseRequest(incoming, response, body, dialect);
  if (parsed === undefined) return;
  const { raw, problem } = parsed;
  const taken = path === '/responses/compact' ? compacted : counted;
  const unknown = Object.keys(raw).find((name) => !taken.includes(name));
  const request = readRequest(asChat(raw), String(raw['model']));
  if (unknown !== undefined) {
    const complaint = {
      param: unknown,
      code: 'unknown_parameter',
      message: `Unknown parameter: '${unknown}'.`,
    };
    return refuse(response, dialect, {
      ...problem,
      kind: 'bad_request',
      model: request.model,
      complaint,
    });
  }
  const tokens = promptTokens(request);
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
