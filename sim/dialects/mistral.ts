import { randomText } from '../../src/base/random.ts';
import { type Dialect, part, type Rule, type Style } from '../dialect.ts';
import { list, object } from '../json.ts';
import { contents, eachMessage, parts, images, roles, someMessages } from '../rules/messages.ts';
import { formats, none, only, present, range } from '../rules/parameters.ts';
import { choiceIsKnown, wellFormedTools } from '../rules/tools.ts';
import type { ChatRequest } from '../request.ts';
import { hash } from '../tokens.ts';
import { counts, openAiRows, openAiStyle, refuser, type Rows, type FilledRow } from './base.ts';

/**
 * ChatCompletionRequest, docs.mistral.ai/api (its OpenAPI definition, 2026-08); any other member is
 * an extra input.
 */
const parameters = [
  'model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty frequency_penalty n',
  'prediction parallel_tool_calls prompt_cache_key prompt_mode reasoning_effort safe_prompt logprobs top_logprobs guardrails',
].flatMap((line) => line.split(' '));

/** Recorded: 3051, 1500 and the 401. */
const rows: Rows = {
  ...openAiRows,
  missing_key: { status: 401, message: 'Unauthorized' },
  wrong_key: { status: 401, message: 'Invalid API Key' },
  unknown_url: { status: 404, message: 'Not Found' },
  unknown_model: {
    status: 400,
    type: 'invalid_model',
    code: '1500',
    message: 'Invalid model: {model}',
  },
  bad_request: { status: 400, type: 'invalid_request_error', code: '3240' },
  context: {
    status: 400,
    type: 'invalid_request_prompt',
    code: '3051',
    message:
      'Prompt contains {tokens} tokens and 0 draft tokens, too large for model with 16 maximum context length',
  },
  policy: {
    status: 403,
    type: 'guardrail_violation',
    code: '3700',
    message: 'The prompt was flagged by moderation.',
  },
  rate: { status: 429, type: 'rate_limited', code: '1300', message: 'Rate limit exceeded' },
  quota: {
    status: 402,
    type: 'payment_required',
    code: '1301',
    message: 'You have reached the limit of your plan.',
  },
  server: {
    status: 500,
    type: 'internal_server_error',
    code: '1000',
    message: 'Internal server error',
  },
  overloaded: { status: 503, type: 'unavailable', code: '3505', message: 'Service unavailable.' },
};

/**
 * Its gateway answers with `detail`, validation with 422 and a list, the model's own checks with a
 * flat error.
 */
function envelope({
  kind,
  status,
  type,
  code,
  message,
  param,
}: FilledRow): Readonly<Record<string, unknown>> {
  if (kind === 'missing_key' || kind === 'wrong_key' || kind === 'unknown_url')
    return { detail: message };
  if (status === 422) {
    const detail = [{ type: code, loc: ['body', param], msg: message }];
    return {
      object: 'error',
      message: { detail },
      type: 'invalid_request_error',
      param: null,
      code: null,
    };
  }
  return { object: 'error', message, type, param: null, code, raw_status_code: status };
}

const thinks = ({ model, raw }: ChatRequest): boolean =>
  model.startsWith('magistral') ||
  raw['prompt_mode'] === 'reasoning' ||
  (raw['reasoning_effort'] ?? 'none') !== 'none';

const sees = (model: string): boolean => !/^(?:codestral|devstral|open-|mistral-7b)/.test(model);

/**
 * The order of messages that the model's template accepts. A user's message may follow a tool's
 * result (recorded, 2026-08).
 */
const order: Rule = ({ messages }) => {
  for (const [index, { role }] of messages.entries()) {
    const before = messages[index - 1]?.role;
    if (role === 'system' && before === 'assistant')
      return { code: '3230', message: "Unexpected role 'system' after role 'assistant'" };
    if (role === 'tool' && before !== 'assistant' && before !== 'tool')
      return { code: '3230', message: `Unexpected role 'tool' after role '${before ?? 'none'}'` };
  }
  const last = messages[messages.length - 1];
  if (last?.role !== 'assistant' && last?.role !== 'system') return undefined;
  if (last.raw['prefix'] === true) return undefined;
  return {
    code: '3230',
    message: `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last.role}`,
  };
};

const shortIds: Rule = eachMessage(({ raw }) => {
  const ids = [
    ...list(raw['tool_calls']).map((call) => object(call)['id']),
    raw['tool_call_id'],
  ].filter((id) => typeof id === 'string');
  const wrong = ids.find((id) => !/^[A-Za-z0-9]{9}$/.test(id));
  return wrong === undefined
    ? undefined
    : {
        code: '3280',
        message: `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`,
      };
});

const answeredCalls: Rule = ({ messages }) => {
  const calls = messages.flatMap(({ raw }) => list(raw['tool_calls'])).length;
  const results = messages.filter(({ role }) => role === 'tool').length;
  return calls === results
    ? undefined
    : { code: '3230', message: 'Not the same number of function calls and responses' };
};

const unprocessable = { status: 422, code: 'value_error' };

const rules: readonly Rule[] = [
  only(parameters, (param) => ({
    status: 422,
    code: 'extra_forbidden',
    param,
    message: 'Extra inputs are not permitted',
  })),
  (request) => {
    const complaint =
      present('model')(request) ??
      someMessages(request) ??
      roles(['system', 'user', 'assistant', 'tool'])(request) ??
      contents(request);
    return complaint === undefined ? undefined : { ...unprocessable, ...complaint, status: 422 };
  },
  (request) => {
    const complaint =
      range('temperature', { min: 0, max: 1.5 })(request) ??
      range('top_p', { min: 0, max: 1 })(request) ??
      range('max_tokens', { min: 0, max: Infinity, whole: true })(request);
    return complaint === undefined ? undefined : { ...complaint, ...unprocessable };
  },
  none(['logprobs', 'top_logprobs'], () => ({
    code: '3051',
    message: 'Logprobs are not enabled for this model',
  })),
  parts(
    (type, { model }) =>
      ['text', 'thinking', 'reference', 'document_url', 'input_audio'].includes(type) ||
      (type === 'image_url' && sees(model)),
    () => ({ code: '3051', message: 'Image input is not enabled for this model' }),
  ),
  images({
    code: '3310',
    message: 'Image, data:… could not be loaded as a valid image (invalid content).',
  }),
  formats(['text', 'json_object', 'json_schema'], (type) => ({
    ...unprocessable,
    param: 'response_format',
    message: `Input should be 'text', 'json_object' or 'json_schema', got '${type}'`,
  })),
  wellFormedTools,
  choiceIsKnown,
  order,
  shortIds,
  answeredCalls,
];

/**
 * Recorded: usage on the finish chunk without a request for it, padding `p`, whole tool calls, no
 * `finish_reason` extras; content of a calling turn is empty.
 */
const style: Style = {
  ...openAiStyle,
  id: (random) => random.toLowerCase(),
  reasoning: 'parts',
  usageAt: 'finish',
  usageUnasked: true,
  toolCalls: 'whole',
  usage: ({ prompt, cached, completion }) => ({
    ...counts(prompt, completion),
    prompt_tokens_details: { cached_tokens: cached },
  }),
  chunk(draft, choice, { kind, piece }) {
    if (kind !== 'role')
      draft['p'] = 'abcdefghijklmnopqrstuvwxyz012345'.slice(0, 1 + (hash(piece) % 32));
    const delta = part(choice, 'delta');
    if (kind === 'finish') delta['content'] = '';
    if (kind === 'role') delta['content'] ??= '';
    for (const call of list(delta['tool_calls']))
      if (typeof call === 'object' && call !== null) Reflect.deleteProperty(call, 'type');
    if (typeof draft['usage'] === 'object')
      draft['usage'] = { ...draft['usage'], service_tier: 'standard' };
  },
  whole(_, choices) {
    for (const choice of choices) {
      const message = part(choice, 'message');
      message['content'] ??= '';
      message['tool_calls'] ??= null;
    }
  },
};

export const mistral: Dialect = {
  vendor: 'mistral',
  prefix: '/mistral/v1',
  key: 'bearer',
  reasons: thinks,
  callId: () => randomText(9),
  rules,
  refuse: refuser(rows, envelope, { 'mistral-correlation-id': 'sim' }),
  style,
};
