import { isWrongKey, keyOf } from '../api-key.ts';
import { randomText } from '../../src/base/random.ts';
import { systemClock } from '../../src/base/clock.ts';
import { promptTokens } from '../answer.ts';
import type { Complaint, Problem, Reply } from '../dialect.ts';
import { type Row, type Rows, fillRow } from '../dialects/base.ts';
import { objectIn, type Json } from '../json.ts';
import {
  type ModelRequest,
  modelRequest,
  blankProblem,
  type OwnCall,
  type OwnFormat,
} from '../own-format.ts';
import { eventStream, type Writer } from '../play.ts';
import { readRequest } from '../request.ts';
import { withoutScenarios } from '../scenario.ts';
import { chatOf } from './messages-chat.ts';
import { countComplaint, type ServerTraits, messagesComplaint, thinks } from './messages-rules.ts';
import { event, messageEvents, messageOf } from './messages-write.ts';
import { versions } from './versions.ts';

const invalid = (message: string): Row => ({ status: 400, type: 'invalid_request_error', message });

/** platform.claude.com/docs/en/api/errors, 2026-11, and recorded refusals. */
const rows: Rows = {
  missing_key: {
    status: 401,
    type: 'authentication_error',
    message: 'x-api-key header is required',
  },
  wrong_key: { status: 401, type: 'authentication_error', message: 'invalid x-api-key' },
  unknown_url: { status: 404, type: 'not_found_error', message: 'Not Found' },
  unknown_model: { status: 404, type: 'not_found_error', message: 'model: {model}' },
  bad_request: invalid('Invalid request'),
  context: invalid('prompt is too long: {tokens} tokens > 16 maximum'),
  policy: invalid('Output blocked by content filtering policy'),
  rate: {
    status: 429,
    type: 'rate_limit_error',
    message:
      'This request would exceed the rate limit for your organization of 1 requests per minute (model: {model}).',
  },
  quota: invalid(
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ),
  server: { status: 500, type: 'api_error', message: 'Internal server error' },
  overloaded: { status: 529, type: 'overloaded_error', message: 'Overloaded' },
};

const requestId = (): string => `req_011C${randomText(20)}`;

function errorOf(problem: Problem, id: string): Json {
  const { type, message } = fillRow(rows, problem);
  return { type: 'error', error: { type, message }, request_id: id };
}

/** Recorded: `x-should-retry` is false for errors of the client. */
function refuse(problem: Problem): Reply {
  const { status } = fillRow(rows, problem);
  const id = requestId();
  const limits = problem.kind === 'rate' ? limited() : {};
  const headers = {
    'request-id': id,
    'x-should-retry': String(status === 429 || status >= 500),
    ...limits,
  };
  return { status, headers, body: errorOf(problem, id) };
}

function limited(): Record<string, string> {
  const reset = `${new Date(systemClock.now() + 1000).toISOString().slice(0, 19)}Z`;
  return {
    'anthropic-ratelimit-requests-limit': '1',
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': reset,
  };
}

function take(call: OwnCall): Reply | ModelRequest {
  const no = (kind: Problem['kind'], complaint?: Complaint, model = ''): Reply =>
    refuse({ ...blankProblem(call.url), kind, model, complaint });
  // The newest SDKs send the key as a bearer token.
  const key = keyOf(call.headers, 'x-api-key');
  if (key === undefined) return no('missing_key');
  if (isWrongKey(key)) return no('wrong_key');
  const version = call.headers['anthropic-version'];
  if (version === undefined)
    return no('bad_request', { message: 'anthropic-version: header is required' });
  if (typeof version !== 'string' || !versions.includes(version))
    return no('bad_request', {
      message: `anthropic-version: "${String(version)}" is not a valid version`,
    });
  if (call.method === 'GET') return models(call.path) ?? no('unknown_url');
  if (call.method !== 'POST' || !/^\/messages(?:\/count_tokens)?$/.test(call.path))
    return no('unknown_url');
  const raw = objectIn(call.body);
  if (raw === undefined)
    return no('bad_request', { message: 'The request body is not valid JSON' });
  const named = typeof raw['model'] === 'string' ? raw['model'] : '';
  const model = withoutScenarios(named);
  const betas = String(call.headers['anthropic-beta'] ?? '')
    .split(/[,\s]+/)
    .filter(Boolean);
  const server: ServerTraits = { model, version, betas, hosted: false };
  const counts = call.path !== '/messages';
  const message = counts ? countComplaint(raw, server) : messagesComplaint(raw, server);
  if (message !== undefined) return no('bad_request', { message }, model);
  const chat = chatOf(raw, model);
  if (counts)
    return {
      status: 200,
      headers: { 'request-id': requestId() },
      body: { input_tokens: promptTokens(readRequest(chat, model)) },
    };
  return modelRequest(named, chat, thinks(raw, model), writerOf(raw));
}

/** The writer of messages, for every vendor that speaks Claude's own format. */
export function writerOf(raw: Json): Writer {
  const id = requestId();
  return {
    ...eventStream,
    broken:
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":\n\n',
    headers: { 'request-id': id, 'anthropic-organization-id': 'sim' },
    events: (answer) => messageEvents(answer, raw),
    whole: (answer) => messageOf(answer, raw),
    error: (problem) =>
      event({ ...errorOf({ ...problem, kind: 'overloaded' }, id), type: 'error' }).text,
  };
}

const known = ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-8'];
const modelOf = (id: string): Json => ({
  type: 'model',
  id,
  display_name: id,
  created_at: '2026-05-01T00:00:00Z',
});

function models(path: string): Reply | undefined {
  if (path === '/models')
    return {
      status: 200,
      body: {
        data: known.map(modelOf),
        has_more: false,
        first_id: known[0] ?? null,
        last_id: known.at(-1) ?? null,
      },
    };
  const id = /^\/models\/([^/]+)$/.exec(path)?.[1];
  if (id === undefined) return undefined;
  const named = decodeURIComponent(id);
  return known.includes(named)
    ? { status: 200, body: modelOf(named) }
    : refuse({ ...blankProblem(path), kind: 'unknown_model', model: named });
}

/** Anthropic's Messages API: platform.claude.com/docs/en/api/messages, 2026-11. */
export const anthropic: OwnFormat = {
  vendor: 'anthropic',
  prefix: '/anthropic/v1',
  callId: () => `toolu_01${randomText(22)}`,
  refuse,
  take,
};
