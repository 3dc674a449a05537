import { type Dialect, type Draft, part, type Style } from '../dialect.ts';
import type { ChatRequest } from '../request.ts';
import { usualRules } from '../rules/usual.ts';
import { hash } from '../tokens.ts';
import {
  callId,
  counts,
  openAiEnvelope,
  openAiRows,
  openAiStyle,
  plainUsage,
  refuser,
  type Rows,
} from './base.ts';

const reasons = ({ model }: ChatRequest): boolean =>
  /gpt-oss|deepseek-r1|thinking|qwq|glm-4\.[5-9]/i.test(model);
const sees = (model: string): boolean => /vl|vision|llama-4|gemma-3|pixtral/i.test(model);

/** Recorded: each error has an id. */
const togetherRows: Rows = {
  ...openAiRows,
  wrong_key: {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message:
      'Invalid API key provided. You can find your API key at https://api.together.ai/settings/api-keys.',
  },
  unknown_model: {
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_available',
    message:
      'Unable to access model {model}. Please visit https://api.together.ai/models to view the list of supported models.',
  },
  context: {
    status: 422,
    type: 'invalid_request_error',
    message:
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 16. Given: {tokens} `inputs` tokens',
  },
  rate: {
    status: 429,
    type: 'rate_limit',
    message:
      'Too many requests in a short window. Our rate limits are dynamic. Retry starting from ~1s.',
  },
  quota: {
    status: 402,
    type: 'credit_limit',
    message:
      'Credit limit exceeded, please navigate to https://api.together.ai/settings/billing to update your credit limit.',
  },
};

/** Recorded: `text` beside the delta, token ids, usage on the finish chunk. */
const togetherStyle: Style = {
  ...openAiStyle,
  id: (random) => `${random.slice(0, 7)}-${random.slice(7, 13)}`,
  reasoning: 'reasoning',
  usageAt: 'finish',
  usageUnasked: true,
  usage: ({ prompt, cached, completion }) => ({
    ...counts(prompt, completion),
    cached_tokens: cached,
  }),
  chunk(draft, choice, { kind, piece }) {
    draft['usage'] ??= null;
    if (choice === undefined) return;
    const text = kind === 'text' ? piece : '';
    Object.assign(choice, { text, logprobs: choice['logprobs'] ?? null, seed: null });
    const delta = part(choice, 'delta');
    delta['role'] = 'assistant';
    if (kind === 'finish') delta['content'] = '';
    if (kind === 'text' || kind === 'finish') delta['token_id'] = hash(piece) % 128_000;
  },
  whole(draft, choices) {
    Object.assign(draft, { prompt: [] });
    for (const choice of choices) {
      Object.assign(choice, { seed: 1, logprobs: choice['logprobs'] ?? null });
      part(choice, 'message')['tool_calls'] ??= [];
    }
  },
};

export const together: Dialect = {
  vendor: 'together',
  prefix: '/together/v1',
  key: 'bearer',
  reasons,
  callId,
  rules: usualRules({ sees }),
  refuse: refuser(togetherRows, (row) => ({ id: 'sim-request', ...openAiEnvelope(row) })),
  style: togetherStyle,
};

/** The router passes on its provider's stream; here that is the style above. */
export const huggingface: Dialect = {
  ...together,
  vendor: 'huggingface',
  prefix: '/huggingface/v1',
  refuse: refuser(
    {
      ...togetherRows,
      missing_key: { status: 401, message: 'Invalid username or password.' },
      wrong_key: { status: 401, message: 'Invalid username or password.' },
      unknown_model: {
        status: 400,
        message: "The requested model '{model}' does not exist",
        type: 'invalid_request_error',
        code: 'model_not_found',
        param: 'model',
      },
      quota: {
        status: 402,
        message: 'You have exceeded your monthly included credits for Inference Providers.',
      },
    },
    (row) => (row.type === null ? { error: row.message } : openAiEnvelope(row)),
  ),
};

const fireworksKeyRefused = {
  status: 401,
  type: 'error',
  code: 'UNAUTHORIZED',
  message: 'The API key you provided is invalid.',
};

/** The unknown model is recorded. */
const fireworksRows: Rows = {
  ...openAiRows,
  missing_key: fireworksKeyRefused,
  wrong_key: fireworksKeyRefused,
  unknown_model: {
    status: 404,
    type: 'error',
    code: 'NOT_FOUND',
    param: 'model',
    message: 'Model not found, inaccessible, and/or not deployed',
  },
  bad_request: { status: 400, type: 'invalid_request_error' },
  context: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The prompt is too long: {tokens}, model maximum context length: 15',
  },
  quota: {
    status: 412,
    type: 'error',
    code: 'PRECONDITION_FAILED',
    message:
      'Account sim is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
  },
};

export const fireworks: Dialect = {
  vendor: 'fireworks',
  prefix: '/fireworks/inference/v1',
  key: 'bearer',
  reasons,
  callId,
  rules: usualRules({ sees }),
  refuse: refuser(fireworksRows, ({ message, type, param, code }) => {
    const error: Draft = {
      message,
      ...(param !== null && { param }),
      ...(code !== null && { code }),
      type,
    };
    return { error, request_id: 'chatcmpl-sim' };
  }),
  style: {
    ...openAiStyle,
    id: (random) => random.toLowerCase(),
    reasoning: 'reasoning_content',
    usageAt: 'finish',
    usageUnasked: true,
    usage: plainUsage,
  },
};

const cerebrasKeyRefused = {
  status: 401,
  type: 'invalid_request_error',
  code: 'wrong_api_key',
  param: 'api_key',
  message: 'Wrong API Key',
};

/** Recorded: a flat error, no `finish_reason` before the end, `time_info`, no `[DONE]`. */
const cerebrasRows: Rows = {
  ...openAiRows,
  missing_key: cerebrasKeyRefused,
  wrong_key: cerebrasKeyRefused,
  unknown_model: {
    status: 404,
    type: 'not_found_error',
    param: 'model',
    code: 'model_not_found',
    message: 'Model {model} does not exist or you do not have access to it.',
  },
  bad_request: { status: 400, type: 'invalid_request_error', code: 'wrong_request_format' },
  context: {
    status: 400,
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
    message:
      'Please reduce the length of the messages or completion. Current length is {tokens} while limit is 16',
  },
  rate: {
    status: 429,
    type: 'too_many_requests_error',
    param: 'quota',
    code: 'request_quota_exceeded',
    message: 'Requests per minute limit exceeded - too many requests sent.',
  },
  overloaded: {
    status: 429,
    type: 'too_many_requests_error',
    param: 'queue',
    code: 'queue_exceeded',
    message: "We're experiencing high traffic right now! Please try again soon.",
  },
};

export const cerebras: Dialect = {
  vendor: 'cerebras',
  prefix: '/cerebras/v1',
  key: 'bearer',
  reasons,
  callId,
  rules: usualRules({ sees: () => false, temperature: { min: 0, max: 1.5 } }),
  refuse: refuser(cerebrasRows, ({ message, type, param, code }) => ({
    message,
    type,
    param,
    code,
  })),
  style: {
    ...openAiStyle,
    reasoning: 'reasoning',
    usageAt: 'finish',
    usageUnasked: true,
    finishNull: false,
    done: false,
    usage: plainUsage,
    chunk(draft, _, { kind }) {
      draft['system_fingerprint'] = 'fp_sim';
      if (kind === 'finish')
        draft['time_info'] = {
          queue_time: 0.0001,
          prompt_time: 0.001,
          completion_time: 0.01,
          total_time: 0.012,
        };
    },
  },
};

/**
 * docs.siliconflow.cn/cn/api-reference/chat-completions: each status has its own shape, every chunk
 * carries usage.
 */
const siliconflowRows: Rows = {
  ...openAiRows,
  missing_key: { status: 401, message: 'Invalid token' },
  wrong_key: { status: 401, message: 'Invalid token' },
  unknown_url: { status: 404, message: '404 page not found' },
  unknown_model: {
    status: 400,
    code: 20012,
    message: 'Model does not exist. Please check it carefully.',
  },
  bad_request: { status: 400, code: 20015 },
  context: {
    status: 400,
    code: 20015,
    message: 'length of prompt_tokens ({tokens}) must be less than max_seq_len (16).',
  },
  policy: { status: 451, code: 20020, message: 'The content was flagged.' },
  rate: {
    status: 429,
    message:
      'Request was rejected due to rate limiting. If you want more, please contact contact@siliconflow.com. Details:TPM limit reached.',
  },
  quota: { status: 403, code: 30001, message: 'Sorry, your account balance is insufficient' },
  server: { status: 500, code: 50000, message: 'Unknown error' },
  overloaded: {
    status: 503,
    code: 50505,
    message: 'Model service overloaded. Please try again later.',
  },
};

export const siliconflow: Dialect = {
  vendor: 'siliconflow',
  prefix: '/siliconflow/v1',
  key: 'bearer',
  reasons: ({ model, raw }) => raw['enable_thinking'] === true || /DeepSeek-R1|QwQ/.test(model),
  callId,
  rules: usualRules({ sees }),
  refuse: refuser(siliconflowRows, ({ status, code, message }) => {
    if (status === 401) return JSON.stringify(message);
    if (status === 404) return message;
    return {
      ...(code !== null && { code: Number.isNaN(Number(code)) ? 20015 : Number(code) }),
      message,
      data: null,
    };
  }),
  style: {
    ...openAiStyle,
    id: (random) => random.toLowerCase(),
    reasoning: 'reasoning_content',
    usageAt: 'every',
    usageUnasked: true,
    usage: plainUsage,
  },
};
