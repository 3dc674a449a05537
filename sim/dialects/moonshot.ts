import { type Dialect, part, type Rule, type Style } from '../dialect.ts';
import { list, object } from '../json.ts';
import type { ChatRequest } from '../request.ts';
import { eachMessage } from '../rules/messages.ts';
import { usualRules } from '../rules/usual.ts';
import { callId, counts, openAiRows, openAiStyle, refuser, type Rows } from './base.ts';

const type = 'invalid_request_error';

/** platform.moonshot.cn/docs/api/errors; the unknown model is recorded. */
const rows: Rows = {
  ...openAiRows,
  missing_key: {
    status: 401,
    type: 'incorrect_api_key_error',
    message: 'Incorrect API key provided',
  },
  wrong_key: {
    status: 401,
    type: 'invalid_authentication_error',
    message: 'Invalid Authentication',
  },
  unknown_url: { status: 404, type: 'resource_not_found_error', message: 'url.not_found' },
  unknown_model: {
    status: 404,
    type: 'resource_not_found_error',
    message: 'Not found the model {model} or Permission denied',
  },
  bad_request: { status: 400, type },
  context: {
    status: 400,
    type,
    message: 'Invalid request: Your request exceeded model token limit: 16 (requested: {tokens})',
  },
  policy: {
    status: 400,
    type: 'content_filter',
    message: 'The request was rejected because it was considered high risk',
  },
  rate: {
    status: 429,
    type: 'rate_limit_reached_error',
    message:
      'Your account org-sim<ak-sim> request reached organization max RPM: 3, please try again after 1 seconds',
  },
  quota: {
    status: 429,
    type: 'exceeded_current_quota_error',
    message:
      'Your account org-sim<ak-sim> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
  },
  server: { status: 500, type: 'unexpected_output', message: 'Invalid state transition' },
  overloaded: {
    status: 429,
    type: 'engine_overloaded_error',
    message: 'The engine is currently overloaded, please try again later',
  },
};

/** k3 and the code models always think, k2.5 and k2.6 by default. */
function thinks({ model, raw }: ChatRequest): boolean {
  if (/^kimi-k(?:3|2\.7)|thinking/.test(model)) return true;
  const mode = object(raw['thinking'])['type'];
  return mode === undefined ? /^kimi-k2\.[56]/.test(model) : mode === 'enabled';
}

/** From k2.5 on sampling is fixed. */
const fixedSampling: Rule = (request) => {
  if (!/^kimi-k(?:3|2\.)/.test(request.model)) return undefined;
  const fixed: Readonly<Record<string, number>> = {
    temperature: thinks(request) ? 1 : 0.6,
    top_p: 0.95,
    n: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
  };
  const param = Object.keys(fixed).find(
    (name) => (request.raw[name] ?? fixed[name]) !== fixed[name],
  );
  return param === undefined
    ? undefined
    : { message: `invalid ${param}: only ${fixed[param]} is allowed for this model` };
};

const noRequired: Rule = ({ raw }) =>
  raw['tool_choice'] === 'required'
    ? { message: "tool_choice 'required' is not supported" }
    : undefined;

/**
 * In public reports since 2026-01: assistant messages with tool calls must carry their reasoning.
 */
const reasoningComesBack: Rule = eachMessage(({ raw, role }, index, request) => {
  const called = role === 'assistant' && list(raw['tool_calls']).length > 0;
  if (!called || !thinks(request) || raw['reasoning_content']) return undefined;
  return {
    message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
  };
});

/**
 * wire-formats §5.2: in streams, the finishing choice carries usage, too; cached tokens are a count
 * of their own.
 */
const style: Style = {
  ...openAiStyle,
  reasoning: 'reasoning_content',
  usage: ({ prompt, cached, completion, reasoning }) => ({
    ...counts(prompt, completion),
    ...(cached > 0 && { cached_tokens: cached }),
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }),
  chunk(draft, choice, { kind, answer }) {
    draft['system_fingerprint'] = 'fpv0_sim';
    if (choice !== undefined && kind === 'finish' && answer.usageReported)
      choice['usage'] = style.usage(answer.usage);
  },
  whole(_, choices) {
    for (const choice of choices) part(choice, 'message')['content'] ??= '';
  },
};

export const moonshot: Dialect = {
  vendor: 'moonshot',
  prefix: '/moonshot/v1',
  key: 'bearer',
  reasons: thinks,
  callId,
  rules: [
    ...usualRules({
      sees: (model) => /vision|^kimi-k(?:3|2\.)/.test(model),
      temperature: { min: 0, max: 1 },
    }),
    fixedSampling,
    noRequired,
    reasoningComesBack,
  ],
  refuse: refuser(rows, ({ message, type: kind }) => ({ error: { message, type: kind } })),
  style,
};
