import { randomText } from '../../src/base/random.ts';
import { type Dialect, part, type Style } from '../dialect.ts';
import type { ChatRequest } from '../request.ts';
import { none } from '../rules/parameters.ts';
import { usualRules } from '../rules/usual.ts';
import { openAiRows, openAiStyle, refuser, type Rows } from './base.ts';

const invalid = 'Client specified an invalid argument';

/** Recorded: the error is a string, its code a sentence; a wrong key is a 400. */
const rows: Rows = {
  ...openAiRows,
  missing_key: {
    status: 401,
    code: 'Unauthenticated',
    message:
      'No API key provided. Specify your API key in the Authorization header using Bearer auth.',
  },
  wrong_key: {
    status: 400,
    code: 'invalid-argument',
    message:
      'Incorrect API key provided: {key}. You can obtain an API key from https://console.x.ai.',
  },
  unknown_url: {
    status: 404,
    code: 'Not Found',
    message: 'The requested path {path} was not found.',
  },
  unknown_model: {
    status: 404,
    code: 'Some requested entity was not found',
    message: 'The model {model} does not exist or your team does not have access to it.',
  },
  bad_request: { status: 400, code: invalid },
  context: {
    status: 400,
    code: invalid,
    message: "This model's maximum prompt length is 16 but the request contains {tokens} tokens.",
  },
  policy: {
    status: 403,
    code: 'The caller does not have permission to execute the specified operation',
    message:
      'Content violates usage guidelines. Team: sim, Model: {model}, Failed check: SAFETY_CHECK_TYPE_BIO',
  },
  rate: {
    status: 429,
    code: 'Some resource has been exhausted',
    message:
      'Too many requests for team sim and model {model}. Your team’s rate limit is 1 requests per second.',
  },
  quota: {
    status: 429,
    code: 'Some resource has been exhausted',
    message:
      'Your team sim has either used all available credits or reached its monthly spending limit.',
  },
  server: { status: 500, code: 'Internal error', message: 'An internal error occurred.' },
  overloaded: {
    status: 503,
    code: 'The service is currently unavailable',
    message: 'The model is at capacity. Please try again later.',
  },
};

const reasons = ({ model }: ChatRequest): boolean =>
  /^grok-(?:[3-9]|code|build)/.test(model) && !/non-reasoning|grok-3$|grok-3-fast/.test(model);

const noParameter = (param: string) => ({
  code: invalid,
  message: `Argument not supported on this model: ${param}`,
});

/**
 * Recorded: no `finish_reason` before the last chunk, whole tool calls, and completion tokens that
 * do not include reasoning.
 */
const style: Style = {
  ...openAiStyle,
  id: (random) =>
    `${random.slice(0, 8)}-${random.slice(8, 12)}-${random.slice(12, 16)}-${random.slice(16, 20)}`.toLowerCase(),
  reasoning: 'reasoning_content',
  toolCalls: 'whole',
  finishNull: false,
  usage: ({ prompt, cached, completion, reasoning }) => ({
    prompt_tokens: prompt,
    completion_tokens: completion - reasoning,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      text_tokens: prompt,
      audio_tokens: 0,
      image_tokens: 0,
      cached_tokens: cached,
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    num_sources_used: 0,
    cost_in_usd_ticks: (prompt + completion) * 10_000,
  }),
  chunk(draft) {
    draft['system_fingerprint'] = 'fp_sim';
  },
  whole(draft, choices) {
    draft['system_fingerprint'] = 'fp_sim';
    for (const choice of choices) {
      const message = part(choice, 'message');
      message['content'] ??= '';
      message['refusal'] = null;
    }
  },
};

export const xai: Dialect = {
  vendor: 'xai',
  prefix: '/xai/v1',
  responses: 'create',
  // Recorded 2026-08: base64 of random bytes.
  sealHead: 'm/Nx6',
  key: 'bearer',
  reasons,
  callId: () => `call_${randomText(8)}`,
  rules: [
    ...usualRules({ sees: () => true }),
    none(['presence_penalty', 'frequency_penalty', 'stop'], noParameter, reasons),
    none(
      ['reasoning_effort'],
      (param) => ({
        code: invalid,
        message: `Model does not support parameter ${param === 'reasoning_effort' ? 'reasoningEffort' : param}.`,
      }),
      (request) => !reasons(request) || /^grok-(?:4$|code)/.test(request.model),
    ),
  ],
  refuse: refuser(rows, ({ code, message }) => ({ code, error: message })),
  refuseInStream: (problem) => `data: ${JSON.stringify({ error: rows[problem.kind].message })}\n\n`,
  style,
};
