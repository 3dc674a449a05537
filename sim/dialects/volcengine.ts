import { type Dialect, part, type Style } from '../dialect.ts';
import { object } from '../json.ts';
import type { ChatRequest } from '../request.ts';
import { streamOptionsWithStream } from '../rules/parameters.ts';
import { usualRules } from '../rules/usual.ts';
import { callId, openAiRows, openAiStyle, plainUsage, refuser, type Rows } from './base.ts';

const invalid = { type: 'BadRequest', code: 'InvalidParameter' };

/** volcengine.com/docs/82379/1299023: codes are names, types the HTTP reason. */
const rows: Rows = {
  ...openAiRows,
  missing_key: {
    status: 401,
    type: 'Unauthorized',
    code: 'AuthenticationError',
    message: 'The API key or AK/SK in the request is missing or invalid. Request id: sim',
  },
  wrong_key: {
    status: 401,
    type: 'Unauthorized',
    code: 'AuthenticationError',
    message: 'The API key format is incorrect. Request id: sim',
  },
  unknown_model: {
    status: 404,
    type: 'NotFound',
    code: 'InvalidEndpointOrModel.NotFound',
    message:
      'The model or endpoint {model} does not exist or you do not have access to it. Request id: sim',
  },
  bad_request: { ...invalid, status: 400 },
  context: {
    ...invalid,
    status: 400,
    message: 'Total tokens of image and text exceed max message tokens. Request id: sim',
  },
  policy: {
    status: 400,
    type: 'BadRequest',
    code: 'SensitiveContentDetected',
    message:
      'The request failed because the input text may contain sensitive information. Request id: sim',
  },
  rate: {
    status: 429,
    type: 'TooManyRequests',
    code: 'RateLimitExceeded.EndpointTPMExceeded',
    message:
      'The Tokens Per Minute (TPM) limit of the associated endpoint for your account has been exceeded. Request id: sim',
  },
  quota: {
    status: 403,
    type: 'Forbidden',
    code: 'AccountOverdueError',
    message: 'The request failed because your account has an overdue balance. Request id: sim',
  },
  server: {
    status: 500,
    type: 'InternalServerError',
    code: 'InternalServiceError',
    message: 'The service encountered an unexpected internal error. Request id: sim',
  },
  overloaded: {
    status: 429,
    type: 'TooManyRequests',
    code: 'ServerOverloaded',
    message:
      'The service is currently unable to handle additional requests due to server overload. Request id: sim',
  },
};

/** With `auto` the model decides; here it thinks. */
function thinks({ model, raw }: ChatRequest): boolean {
  const mode = object(raw['thinking'])['type'];
  return mode === undefined ? /seed|thinking|deepseek-r1/.test(model) : mode !== 'disabled';
}

const style: Style = {
  ...openAiStyle,
  id: (random) => `021763690400000${random.toLowerCase()}`,
  reasoning: 'reasoning_content',
  usage: plainUsage,
  chunk(draft, choice, { kind }, request) {
    draft['service_tier'] = 'default';
    if (request.includeUsage) draft['usage'] ??= null;
    if (choice === undefined) return;
    const delta = part(choice, 'delta');
    delta['role'] = 'assistant';
    if (kind === 'reasoning' || kind === 'finish') delta['content'] = '';
  },
  whole(draft, choices) {
    draft['service_tier'] = 'default';
    for (const choice of choices) {
      choice['logprobs'] ??= null;
      part(choice, 'message')['content'] ??= '';
    }
  },
};

export const volcengine: Dialect = {
  vendor: 'volcengine',
  prefix: '/volcengine/api/v3',
  responses: 'create',
  key: 'bearer',
  reasons: thinks,
  callId,
  rules: [
    ...usualRules({ sees: (model) => /seed|vision|^ep-/.test(model) }),
    streamOptionsWithStream,
  ],
  refuse: refuser(rows, ({ message, type, param, code }) => ({
    error: { code, message, param: param ?? '', type },
  })),
  style,
};
