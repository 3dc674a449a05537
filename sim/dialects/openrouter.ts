import type { Usage } from '../answer.ts';
import { type Dialect, type Draft, part, type Rule, type Style } from '../dialect.ts';
import type { Json } from '../json.ts';
import { object } from '../json.ts';
import type { ChatRequest } from '../request.ts';
import { usualRules } from '../rules/usual.ts';
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

/**
 * openrouter.ai/docs/api/reference/errors-and-debugging, and recordings: the code is the status.
 */
const rows: Rows = {
  ...openAiRows,
  missing_key: { status: 401, message: 'Missing Authentication header' },
  wrong_key: { status: 401, message: 'User not found.' },
  unknown_url: { status: 404, message: 'Not Found' },
  unknown_model: { status: 400, message: '{model} is not a valid model ID' },
  context: {
    status: 400,
    message:
      'This endpoint\'s maximum context length is 16 tokens. However, you requested about {tokens} tokens. Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
  },
  policy: {
    status: 403,
    message: 'Your chosen model requires moderation and your input was flagged',
  },
  rate: { status: 429, message: 'Provider returned error' },
  quota: {
    status: 402,
    message: 'Insufficient credits. Add more using https://openrouter.ai/settings/credits',
  },
  server: { status: 502, message: 'Provider returned error' },
  overloaded: { status: 503, message: 'No instances available' },
};

function envelope({ kind, status, message }: FilledRow): Json {
  const error: Draft = { message, code: status };
  if (kind === 'policy')
    error['metadata'] = {
      reasons: ['violence'],
      flagged_input: '…',
      provider_name: 'Sim',
      model_slug: 'sim',
    };
  if (kind === 'rate' || kind === 'server')
    error['metadata'] = { provider_name: 'Sim', raw: `${kind}: the provider says so` };
  return kind === 'missing_key' ? { error } : { error, user_id: 'user_sim' };
}

/** Ids are `maker/model`; the simulator's own have no maker. */
const slug: Rule = ({ model }) =>
  model.includes('/') || model.startsWith('sim-')
    ? undefined
    : { kind: 'unknown_model', message: `${model} is not a valid model ID` };

/** openrouter.ai/docs/client-sdks, 2026-11: `reasoning_effort` is short for `reasoning.effort`. */
const reasons = ({ model, raw }: ChatRequest): boolean => {
  const effort = raw['reasoning_effort'];
  const reasoning = effort === undefined ? object(raw['reasoning']) : { effort };
  if (reasoning['enabled'] === false || reasoning['effort'] === 'none') return false;
  return (
    effort !== undefined ||
    raw['reasoning'] !== undefined ||
    /reason|thinking|gpt-5|deepseek-r1/.test(model)
  );
};

function usage({ prompt, cached, completion, reasoning }: Usage): Json {
  const cost = (prompt + 4 * completion) / 1_000_000;
  return {
    ...counts(prompt, completion),
    cost,
    is_byok: false,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: 0,
      audio_tokens: 0,
      video_tokens: 0,
    },
    cost_details: { upstream_inference_cost: cost },
    completion_tokens_details: { reasoning_tokens: reasoning, image_tokens: 0, audio_tokens: 0 },
  };
}

/**
 * Recorded: comments first; the usage chunk repeats a choice with its finish reason; every delta
 * repeats the role.
 */
const style: Style = {
  ...openAiStyle,
  id: (random) => `gen-${random}`,
  reasoning: 'details',
  usageAt: 'own with choice',
  usageUnasked: true,
  usage,
  preamble: () => ': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n',
  chunk(draft, choice) {
    Object.assign(draft, { provider: 'Sim', system_fingerprint: 'fp_sim' });
    if (choice === undefined) return;
    const delta = part(choice, 'delta');
    delta['role'] = 'assistant';
    delta['content'] ??= delta['tool_calls'] === undefined ? '' : null;
    choice['native_finish_reason'] = choice['finish_reason'];
  },
  whole(draft, choices) {
    Object.assign(draft, { provider: 'Sim', service_tier: null, system_fingerprint: 'fp_sim' });
    for (const choice of choices) {
      Object.assign(choice, {
        logprobs: choice['logprobs'] ?? null,
        native_finish_reason: choice['finish_reason'],
      });
      const message = part(choice, 'message');
      message['refusal'] = null;
      message['reasoning'] ??= null;
    }
  },
};

export const openrouter: Dialect = {
  vendor: 'openrouter',
  prefix: '/openrouter/api/v1',
  key: 'bearer',
  reasons,
  callId,
  rules: [...usualRules({ sees: () => true }), slug],
  refuse: refuser(rows, envelope, { 'x-generation-id': 'gen-sim' }),
  refuseInStream(problem, answer) {
    const { status, message } = fillRow(rows, problem);
    const choices = [
      {
        index: 0,
        delta: { role: 'assistant', content: '' },
        finish_reason: null,
        native_finish_reason: null,
      },
    ];
    const frame = {
      id: style.id(answer.id),
      object: 'chat.completion.chunk',
      created: answer.created,
      model: answer.model,
      provider: 'Sim',
    };
    return `data: ${JSON.stringify({ ...frame, error: { code: status, message }, choices })}\n\n`;
  },
  style,
};
