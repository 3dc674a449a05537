import { randomText } from '../../src/base/random.ts';
import type { Usage } from '../answer.ts';
import type { Problem, ProblemKind, Reply, Style } from '../dialect.ts';
import type { Json } from '../json.ts';

/**
 * One kind of refusal of one vendor. `{model} {tokens} {key} {path}` in a message are replaced; a
 * complaint's own message takes precedence.
 */
export interface Row {
  readonly status: number;
  readonly type?: string | null;
  readonly code?: string | number | null;
  readonly message?: string;
  readonly param?: string;
}

export type Rows = Readonly<Record<ProblemKind, Row>>;

/** A row with its placeholders filled in. */
export interface FilledRow {
  readonly status: number;
  readonly type: string | null;
  readonly code: string | number | null;
  readonly message: string;
  readonly param: string | null;
  readonly kind: ProblemKind;
}

export function fillRow(rows: Rows, problem: Problem): FilledRow {
  const row = rows[problem.kind];
  const { complaint } = problem;
  const values: Readonly<Record<string, string>> = {
    model: problem.model,
    tokens: String(problem.promptTokens),
    key: problem.key,
    path: problem.path,
  };
  const message = (row.message ?? '').replace(
    /\{(\w+)\}/g,
    (_, name: string) => values[name] ?? '',
  );
  return {
    kind: problem.kind,
    status: complaint?.status ?? row.status,
    type: row.type ?? null,
    code: complaint?.code ?? row.code ?? null,
    message: complaint?.message ?? message,
    param: complaint?.param ?? row.param ?? null,
  };
}

/** Refusals of a vendor whose rows go into an envelope of its own. */
export function refuser(
  rows: Rows,
  envelope: (row: FilledRow) => Json | string,
  headers: Readonly<Record<string, string>> = {},
): (problem: Problem) => Reply {
  return (problem) => {
    const row = fillRow(rows, problem);
    return { status: row.status, headers, body: envelope(row) };
  };
}

/** wire-formats §1.8, as recorded from OpenAI or documented there. */
export const openAiRows: Rows = {
  missing_key: {
    status: 401,
    type: 'invalid_request_error',
    message:
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
  },
  wrong_key: {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message:
      'Incorrect API key provided: {key}. You can find your API key at https://platform.openai.com/account/api-keys.',
  },
  unknown_url: { status: 404, type: 'invalid_request_error', message: 'Invalid URL (POST {path})' },
  unknown_model: {
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: 'The model `{model}` does not exist or you do not have access to it.',
  },
  bad_request: { status: 400, type: 'invalid_request_error', message: 'The request is invalid.' },
  context: {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    param: 'messages',
    message:
      "This model's maximum context length is 16 tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages.",
  },
  policy: {
    status: 400,
    type: 'invalid_request_error',
    code: 'content_policy_violation',
    message: 'Your request was rejected as a result of our safety system.',
  },
  rate: {
    status: 429,
    type: 'requests',
    code: 'rate_limit_exceeded',
    message:
      'Rate limit reached for {model} in organization org-sim on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 1s.',
  },
  quota: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  server: {
    status: 500,
    type: 'server_error',
    message: 'The server had an error while processing your request. Sorry about that!',
  },
  overloaded: {
    status: 503,
    type: 'service_unavailable_error',
    code: 'server_is_overloaded',
    message: 'The engine is currently overloaded, please try again later',
  },
};

export function openAiEnvelope({ message, type, param, code }: FilledRow): Json {
  return { error: { message, type, param, code } };
}

/** The counts that all vendors have, and OpenAI's details. */
function openAiUsage({ prompt, cached, completion, reasoning }: Usage): Json {
  return {
    ...counts(prompt, completion),
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

export function counts(prompt: number, completion: number): Json {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}

/** Counts with the details of most compatible vendors. */
export function plainUsage({ prompt, cached, completion, reasoning }: Usage): Json {
  return {
    ...counts(prompt, completion),
    prompt_tokens_details: { cached_tokens: cached },
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

export const chatId = (random: string): string => `chatcmpl-${random}`;
export const callId = (): string => `call_${randomText(24)}`;

/** OpenAI's own style; every other style starts from it. */
export const openAiStyle: Style = {
  id: chatId,
  reasoning: 'hidden',
  usageAt: 'own',
  usageUnasked: false,
  toolCalls: 'pieces',
  finishNull: true,
  done: true,
  usage: openAiUsage,
};
