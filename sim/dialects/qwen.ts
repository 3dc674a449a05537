import { type Dialect, part, type Rule, type Style } from '../dialect.ts';
import type { ChatRequest } from '../request.ts';
import { jsonModeNamesJson, streamOptionsWithStream } from '../rules/parameters.ts';
import { usualRules } from '../rules/usual.ts';
import { callId, openAiRows, openAiStyle, plainUsage, refuser, type Rows } from './base.ts';

const invalid = { type: 'invalid_request_error', code: 'invalid_parameter_error' };

/** help.aliyun.com/zh/model-studio/error-code, compatible mode. */
const rows: Rows = {
  ...openAiRows,
  missing_key: {
    status: 401,
    type: 'invalid_request_error',
    message:
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.",
  },
  wrong_key: {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message: 'Incorrect API key provided. ',
  },
  unknown_model: {
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: 'The model `{model}` does not exist or you do not have access to it.',
  },
  bad_request: { ...invalid, status: 400 },
  context: {
    ...invalid,
    status: 400,
    message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 16]',
  },
  policy: {
    status: 400,
    type: 'data_inspection_failed',
    code: 'data_inspection_failed',
    message: 'Input data may contain inappropriate content.',
  },
  rate: {
    status: 429,
    type: 'limit_requests',
    code: 'limit_requests',
    message: 'You exceeded your current requests list.',
  },
  quota: {
    status: 400,
    type: 'Arrearage',
    code: 'Arrearage',
    message: 'Access denied, please make sure your account is in good standing.',
  },
  server: {
    status: 500,
    type: 'internal_error',
    code: 'internal_error',
    message: 'An internal error has occured, please try again later or contact service support.',
  },
  overloaded: {
    status: 503,
    type: 'service_unavailable',
    code: 'ModelUnavailable',
    message: 'Model is unavailable, please try again later.',
  },
};

const thinks = ({ model, raw }: ChatRequest): boolean =>
  raw['enable_thinking'] === true || /thinking|^qwq|^qvq/.test(model);

/** The open models think only in streams. */
const thinksOnlyInStreams: Rule = (request) => {
  const open =
    /^qwen3-(?:\d+b|next)|^qwq|^qvq/.test(request.model) || request.model.startsWith('sim-');
  if (request.stream || !open || request.raw['enable_thinking'] !== true) return undefined;
  return { message: 'parameter.enable_thinking must be set to false for non-streaming calls' };
};

const noForcedToolsWhileThinking: Rule = (request) =>
  thinks(request) && request.toolChoice.mode === 'required'
    ? {
        message:
          '<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode',
      }
    : undefined;

/** Recorded: `usage` and `logprobs` null on each chunk, content null while it thinks. */
const style: Style = {
  ...openAiStyle,
  reasoning: 'reasoning_content',
  usage: plainUsage,
  chunk(draft, choice, { kind, answer }, request) {
    draft['system_fingerprint'] = null;
    if (request.includeUsage) draft['usage'] ??= null;
    if (choice === undefined) return;
    choice['logprobs'] ??= null;
    const delta = part(choice, 'delta');
    if (kind === 'finish') delta['content'] = '';
    if (answer.usage.reasoning === 0) return;
    if (kind === 'reasoning' || kind === 'role') delta['content'] = null;
    if (kind !== 'reasoning') delta['reasoning_content'] = kind === 'role' ? '' : null;
  },
  whole(draft, choices) {
    draft['system_fingerprint'] = null;
    for (const choice of choices) {
      choice['logprobs'] ??= null;
      part(choice, 'message')['content'] ??= '';
    }
  },
};

export const qwen: Dialect = {
  vendor: 'qwen',
  prefix: '/qwen/compatible-mode/v1',
  key: 'bearer',
  reasons: thinks,
  callId,
  rules: [
    ...usualRules({
      sees: (model) => /vl|omni|qvq|qwen3\.\d/.test(model),
      temperature: { min: 0, max: 2, openMax: true },
      topP: { min: 0, max: 1, openMin: true },
    }),
    streamOptionsWithStream,
    ({ n }) =>
      n <= 4
        ? undefined
        : { message: '<400> InternalError.Algo.InvalidParameter: n should be in [1, 4]' },
    thinksOnlyInStreams,
    noForcedToolsWhileThinking,
    jsonModeNamesJson(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    ),
  ],
  refuse: refuser(rows, ({ message, type, param, code }) => ({
    error: { message, type, param, code },
    request_id: 'sim-request',
  })),
  style,
};
