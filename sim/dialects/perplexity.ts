import type { Usage } from '../answer.ts';
import { type Dialect, type Draft, part, type Style } from '../dialect.ts';
import type { Json } from '../json.ts';
import { alternate, systemFirst } from '../rules/messages.ts';
import { none } from '../rules/parameters.ts';
import { usualRules } from '../rules/usual.ts';
import { callId, counts, openAiRows, openAiStyle, refuser, type Rows } from './base.ts';

/** Recorded: numeric codes, types of its own. */
const rows: Rows = {
  ...openAiRows,
  missing_key: { status: 401, code: 401, type: 'invalid_api_key', message: 'No API key provided.' },
  wrong_key: {
    status: 401,
    code: 401,
    type: 'invalid_api_key',
    message:
      'Invalid API key provided. You can find your API key at https://www.perplexity.ai/settings/api.',
  },
  unknown_url: { status: 404, code: 404, type: 'not_found', message: 'Not Found' },
  unknown_model: {
    status: 400,
    code: 400,
    type: 'invalid_model',
    message:
      "Invalid model '{model}'. Permitted models can be found in the documentation at https://docs.perplexity.ai/getting-started/models.",
  },
  bad_request: { status: 400, code: 400, type: 'bad_request' },
  context: {
    status: 400,
    code: 400,
    type: 'too_many_prompt_tokens',
    message: 'The total length of all messages is too long.',
  },
  policy: {
    status: 400,
    code: 400,
    type: 'content_policy_violation',
    message: 'The request was rejected by our content policy.',
  },
  rate: {
    status: 429,
    code: 429,
    type: 'rate_limit_exceeded',
    message: 'Request rate limit exceeded.',
  },
  quota: {
    status: 401,
    code: 401,
    type: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  server: {
    status: 500,
    code: 500,
    type: 'internal_server_error',
    message: 'Internal server error',
  },
  overloaded: {
    status: 503,
    code: 503,
    type: 'service_unavailable',
    message: 'Service unavailable',
  },
};

const source = 'https://example.com/encyclopedia';
const found = {
  citations: [source],
  search_results: [
    { title: 'Encyclopedia', url: source, date: null, snippet: 'A page about it.', source: 'web' },
  ],
};
const turns = {
  code: '400',
  message:
    'After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).',
};

function usage({ prompt, completion }: Usage): Json {
  return {
    ...counts(prompt, completion),
    search_context_size: 'low',
    cost: { input_tokens_cost: 0, output_tokens_cost: 0, total_cost: 0 },
  };
}

/** The last usage also has the cost of the request itself. */
function withRequestCost(counted: Json): Json {
  return {
    ...counted,
    cost: {
      input_tokens_cost: 0.00002,
      output_tokens_cost: 0.00002,
      request_cost: 0.005,
      total_cost: 0.00504,
    },
  };
}

/** Recorded: usage, citations and the message so far on every chunk; no `[DONE]`. */
const style: Style = {
  ...openAiStyle,
  id: (random) => random.toLowerCase(),
  reasoning: 'inline',
  usageAt: 'every',
  usageUnasked: true,
  finishNull: false,
  done: false,
  usage,
  chunk(draft, choice, { kind, text, answer }) {
    Object.assign(draft, found);
    if (kind === 'finish' && answer.usageReported)
      draft['usage'] = withRequestCost(usage(answer.usage));
    if (choice === undefined) return;
    choice['message'] = { role: 'assistant', content: text };
    if (kind === 'finish') Object.assign(part(choice, 'delta'), { role: 'assistant', content: '' });
  },
  whole(draft, choices, answer) {
    Object.assign(draft, found);
    if (answer.usageReported) draft['usage'] = withRequestCost(usage(answer.usage));
    for (const choice of choices)
      choice['delta'] = { role: 'assistant', content: '' } satisfies Draft;
  },
};

export const perplexity: Dialect = {
  vendor: 'perplexity',
  prefix: '/perplexity',
  key: 'bearer',
  reasons: ({ model }) => /reasoning|deep-research/.test(model),
  callId,
  rules: [
    ...usualRules({ sees: () => true, temperature: { min: 0, max: 2, openMax: true } }),
    none(['tools', 'tool_choice'], () => ({
      message: 'Tool calling is not supported for this model.',
    })),
    none(
      ['logprobs', 'top_logprobs', 'n', 'seed'],
      (param) => ({ message: `${param} is not supported.` }),
      ({ n, raw }) => n > 1 || raw['logprobs'] === true,
    ),
    systemFirst(turns),
    alternate(turns),
  ],
  refuse: refuser(rows, ({ message, type, code }) => ({
    error: { message, type, code: Number(code) },
  })),
  style,
};
