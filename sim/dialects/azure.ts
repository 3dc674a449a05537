import type { Dialect, Style } from '../dialect.ts';
import type { Json } from '../json.ts';
import { callId, openAiRows, refuser, type Rows, type FilledRow } from './base.ts';
import { openai, openAiChatStyle, openAiRules } from './openai.ts';

const safe = { filtered: false, severity: 'safe' };
const promptFilter = [
  {
    prompt_index: 0,
    content_filter_results: {
      hate: safe,
      jailbreak: { filtered: false, detected: false },
      self_harm: safe,
      sexual: safe,
      violence: safe,
    },
  },
];

const keyRefused = {
  status: 401,
  code: '401',
  message:
    'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
};

const rows: Rows = {
  ...openAiRows,
  missing_key: keyRefused,
  wrong_key: keyRefused,
  unknown_url: { status: 404, code: '404', message: 'Resource not found' },
  unknown_model: {
    status: 404,
    type: 'invalid_request_error',
    code: 'DeploymentNotFound',
    message:
      'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
  },
  policy: {
    status: 400,
    code: 'content_filter',
    param: 'prompt',
    message:
      "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
  },
  rate: {
    status: 429,
    code: '429',
    message:
      'Requests have exceeded call rate limit of your current pricing tier. Please retry after 1 second.',
  },
  quota: {
    status: 403,
    code: 'QuotaExceeded',
    message: 'The subscription is disabled and therefore marked as read only.',
  },
};

/** Azure's gateway writes short errors, its models write OpenAI's. */
function envelope({ kind, status, code, message, type, param }: FilledRow): Json {
  if (kind === 'policy') {
    const inner = {
      code: 'ResponsibleAIPolicyViolation',
      content_filter_result: { violence: { filtered: true, severity: 'high' } },
    };
    return { error: { message, type: null, param, code, status, innererror: inner } };
  }
  if (['missing_key', 'wrong_key', 'unknown_url', 'rate', 'quota'].includes(kind))
    return { error: { code, message } };
  return { error: { message, type, param, code } };
}

const style: Style = {
  ...openAiChatStyle,
  preamble: () =>
    `data: ${JSON.stringify({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: promptFilter })}\n\n`,
  chunk(draft, choice, moment, request) {
    openAiChatStyle.chunk?.(draft, choice, moment, request);
    if (choice !== undefined)
      choice['content_filter_results'] =
        moment.kind === 'text' ? { hate: safe, violence: safe } : {};
  },
  whole(draft, choices, answer, request) {
    openAiChatStyle.whole?.(draft, choices, answer, request);
    draft['prompt_filter_results'] = promptFilter;
    for (const choice of choices) choice['content_filter_results'] = { hate: safe, violence: safe };
  },
};

/**
 * The v1 API; the legacy path `/azure/openai/deployments/{deployment}` is the same with the model
 * in the path.
 */
export const azure: Dialect = {
  vendor: 'azure',
  prefix: '/azure/openai/v1',
  responses: 'all',
  key: 'api-key',
  reasons: openai.reasons,
  callId,
  rules: openAiRules,
  refuse: refuser(rows, envelope, { 'apim-request-id': 'sim' }),
  style,
};
