import type { Usage } from '../answer.ts';
import { type Dialect, part, type Problem, type Rule, type Style } from '../dialect.ts';
import type { Json } from '../json.ts';
import type { ChatRequest } from '../request.ts';
import {
  contents,
  parts,
  images,
  roles,
  someMessages,
  toolResultsFollowCalls,
} from '../rules/messages.ts';
import {
  formats,
  jsonModeNamesJson,
  none,
  only,
  range,
  stopAtMost,
  streamOptionsWithStream,
} from '../rules/parameters.ts';
import { choiceIsKnown, wellFormedTools } from '../rules/tools.ts';
import {
  callId,
  counts,
  openAiRows,
  openAiStyle,
  refuser,
  type Rows,
  type FilledRow,
  fillRow,
} from './base.ts';
import { openAiParameters } from './openai.ts';

const keyRefused = {
  status: 401,
  type: 'invalid_request_error',
  code: 'invalid_api_key',
  message: 'Invalid API Key',
};

const rows: Rows = {
  ...openAiRows,
  missing_key: keyRefused,
  wrong_key: keyRefused,
  unknown_url: {
    status: 404,
    type: 'invalid_request_error',
    code: 'unknown_url',
    message:
      'Unknown request URL: POST {path}. Please check the URL for typos, or see the docs at https://console.groq.com/docs/',
  },
  context: {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: 'Please reduce the length of the messages or completion.',
  },
  policy: {
    status: 400,
    type: 'invalid_request_error',
    code: 'content_policy_violation',
    message: 'The request was flagged.',
  },
  rate: {
    status: 429,
    type: 'tokens',
    code: 'rate_limit_exceeded',
    message:
      'Rate limit reached for model `{model}` in organization `org_sim` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Used 5990, Requested 40. Please try again in 1s.',
  },
  quota: {
    status: 402,
    type: 'invalid_request_error',
    code: 'billing_error',
    message: 'Your organization has reached its spend limit.',
  },
  server: { status: 500, type: 'internal_server_error', message: 'Internal Server Error' },
  overloaded: { status: 503, type: 'internal_server_error', message: 'Service Unavailable' },
};

/** Recorded: no `param`; `code` only on some errors. */
function envelope({ message, type, code }: FilledRow): Json {
  return { error: { message, type, ...(code !== null && { code }) } };
}

const known = [
  ...openAiParameters,
  'reasoning_format',
  'include_reasoning',
  'search_settings',
  'compound_custom',
  'documents',
  'citation_options',
  'disable_tool_validation',
];
const noLogprobs = (param: string) => ({
  message: `\`${param}\` is not supported with this model`,
});
const sees = (model: string): boolean => /llama-4|vision|^sim-/.test(model);
const schemas = (model: string): boolean => /gpt-oss|llama-4|kimi|^sim-/.test(model);

const reasons = ({ model, raw }: ChatRequest): boolean =>
  /gpt-oss|qwen3|deepseek-r1/.test(model) && raw['reasoning_effort'] !== 'none';

const rules: readonly Rule[] = [
  (request) =>
    request.raw['model'] === undefined
      ? { message: "'model' : property 'model' is missing" }
      : undefined,
  only(known, (param) => ({ message: `property '${param}' is unsupported` })),
  someMessages,
  none(['logprobs', 'top_logprobs', 'logit_bias'], noLogprobs),
  ({ n }) => (n === 1 ? undefined : { message: "'n' : number must be at most 1" }),
  range('temperature', { min: 0, max: 2 }),
  range('top_p', { min: 0, max: 1 }),
  range('max_tokens', { min: 1, max: Infinity, whole: true }),
  range('max_completion_tokens', { min: 1, max: Infinity, whole: true }),
  stopAtMost(4),
  streamOptionsWithStream,
  roles(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  contents,
  parts(
    (type, { model }) => type === 'text' || (type === 'image_url' && sees(model)),
    (_, index) => ({ message: `messages[${index}].content must be a string` }),
  ),
  images({ message: 'invalid image data' }),
  wellFormedTools,
  choiceIsKnown,
  toolResultsFollowCalls,
  ({ format, model }) =>
    format.type === 'json_schema' && !schemas(model)
      ? {
          param: 'response_format',
          message:
            'This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models',
        }
      : undefined,
  ({ format, tools }) =>
    format.type !== 'text' && tools.length > 0
      ? { message: 'json mode cannot be combined with tool/function calling' }
      : undefined,
  formats(['text', 'json_object', 'json_schema'], () => ({
    message: "'response_format' : one of the following must be satisfied",
  })),
  jsonModeNamesJson(
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  ),
];

function usage({ prompt, completion, reasoning, cached }: Usage): Json {
  const times = { queue_time: 0.01, prompt_time: 0.001, completion_time: 0.002, total_time: 0.003 };
  const details = {
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
  return { ...counts(prompt, completion), ...times, ...details };
}

/**
 * Recorded: `x_groq` opens the stream, and carries usage on the finish chunk; on request, usage is
 * also there and in a chunk of its own.
 */
const style: Style = {
  ...openAiStyle,
  reasoning: 'reasoning',
  usageAt: 'finish and own',
  usage,
  toolCalls: 'whole',
  chunk(draft, choice, { kind, answer }) {
    draft['system_fingerprint'] = 'fp_sim';
    if (choice !== undefined) choice['logprobs'] = null;
    if (kind === 'reasoning') part(choice, 'delta')['channel'] = 'analysis';
    if (kind === 'role') draft['x_groq'] = { id: `req_${answer.id}`, seed: 1 };
    if (kind === 'finish' && answer.usageReported)
      draft['x_groq'] = { id: `req_${answer.id}`, usage: usage(answer.usage) };
    if (kind === 'usage') draft['service_tier'] = 'on_demand';
  },
  whole(draft, choices, answer) {
    for (const choice of choices) {
      const message = part(choice, 'message');
      if (message['content'] === null) delete message['content'];
      choice['logprobs'] = null;
    }
    Object.assign(draft, {
      service_tier: 'on_demand',
      system_fingerprint: 'fp_sim',
      usage_breakdown: null,
      x_groq: { id: `req_${answer.id}`, seed: 1 },
    });
  },
};

/** Recorded: a named event, with the status that a response would have. */
function refuseInStream(problem: Problem): string {
  const { message, type, code, status } = fillRow(rows, problem);
  return `event: error\ndata: ${JSON.stringify({ error: { message, type, code: code ?? 'internal_error', status_code: status } })}\n\n`;
}

export const groq: Dialect = {
  vendor: 'groq',
  prefix: '/groq/openai/v1',
  key: 'bearer',
  reasons,
  callId,
  rules,
  refuse: refuser(rows, envelope),
  refuseInStream,
  style,
};
