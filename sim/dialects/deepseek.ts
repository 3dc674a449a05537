import { type Dialect, part, type Rule, type Style } from '../dialect.ts';
import { list, object } from '../json.ts';
import type { ChatRequest } from '../request.ts';
import {
  contents,
  eachMessage,
  parts,
  someMessages,
  toolResultsFollowCalls,
} from '../rules/messages.ts';
import {
  formats,
  jsonModeNamesJson,
  none,
  present,
  range,
  stopAtMost,
  topLogprobsWithLogprobs,
  unsupported,
} from '../rules/parameters.ts';
import { choiceIsKnown, wellFormedTools } from '../rules/tools.ts';
import {
  callId,
  counts,
  openAiEnvelope,
  openAiRows,
  openAiStyle,
  refuser,
  type Rows,
} from './base.ts';

const invalid = { type: 'invalid_request_error', code: 'invalid_request_error' };

/**
 * Recorded: 400, 401, unknown model. Status list: api-docs.deepseek.com/quick_start/error_codes.
 */
const rows: Rows = {
  ...openAiRows,
  missing_key: {
    ...invalid,
    status: 401,
    type: 'authentication_error',
    message: 'Authentication Fails (auth header format should be Bearer sk-...)',
  },
  wrong_key: {
    ...invalid,
    status: 401,
    type: 'authentication_error',
    message: 'Authentication Fails, Your api key: {key} is invalid',
  },
  unknown_model: {
    ...invalid,
    status: 400,
    message:
      'The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed {model}.',
  },
  bad_request: { ...invalid, status: 400 },
  context: {
    ...invalid,
    status: 400,
    message:
      "This model's maximum context length is 16 tokens. However, you requested {tokens} tokens. Please reduce the length of the messages or completion.",
  },
  policy: { ...invalid, status: 400, message: 'Content Exists Risk' },
  rate: {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_reached',
    message: 'Rate limit reached. Please pace your requests.',
  },
  quota: {
    status: 402,
    type: 'unknown_error',
    code: 'invalid_request_error',
    message: 'Insufficient Balance',
  },
  server: {
    status: 500,
    type: 'server_error',
    code: 'internal_error',
    message: 'Our server encounters an issue. Please retry after a brief wait.',
  },
  overloaded: {
    status: 503,
    type: 'service_unavailable_error',
    code: 'service_unavailable_error',
    message: 'Service is too busy.',
  },
};

/** The v4 models think by default, `deepseek-chat` only on request. */
function thinks({ raw, model }: ChatRequest): boolean {
  const mode = object(raw['thinking'])['type'];
  if (mode === 'enabled' || mode === 'disabled') return mode === 'enabled';
  return /^deepseek-(?:reasoner|v4|flash)/.test(model);
}

const roleVariants = ['system', 'user', 'assistant', 'tool'];
const knownRoles: Rule = eachMessage(({ role }, index) =>
  roleVariants.includes(role)
    ? undefined
    : {
        message: `Failed to deserialize the JSON body into the target type: messages[${index}].role: unknown variant \`${role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``,
      },
);

const noForcedToolsWhileThinking: Rule = (request) =>
  thinks(request) && request.toolChoice.mode === 'required'
    ? { message: 'Thinking mode does not support this tool_choice' }
    : undefined;

/** wire-formats §5.2: assistant messages with tool calls must carry their reasoning. */
const reasoningComesBack: Rule = eachMessage(({ raw, role }, index, request) => {
  const called = role === 'assistant' && list(raw['tool_calls']).length > 0;
  if (!called || !thinks(request) || typeof raw['reasoning_content'] === 'string') return undefined;
  return {
    message: `Missing \`reasoning_content\` field in the assistant message at message index ${index}.`,
  };
});

const oneChoice: Rule = ({ n }) =>
  n === 1 ? undefined : { message: 'Invalid n value (currently only n = 1 is supported)' };

const rules: readonly Rule[] = [
  present('model'),
  someMessages,
  knownRoles,
  contents,
  parts(
    (type, { model }) => type === 'text' || (type === 'image_url' && model.includes('vl')),
    (type, index) => ({
      message: `Failed to deserialize the JSON body into the target type: messages[${index}]: unknown variant \`${type}\`, expected \`text\``,
    }),
  ),
  range('temperature', { min: 0, max: 2 }),
  range('top_p', { min: 0, max: 1, openMin: true }),
  range('max_tokens', { min: 1, max: 393_216, whole: true }),
  stopAtMost(16),
  oneChoice,
  topLogprobsWithLogprobs,
  none(['logprobs', 'top_logprobs'], unsupported, thinks),
  ({ raw, stream }) =>
    raw['stream_options'] && !stream
      ? { message: 'stream_options should be set along with stream = true' }
      : undefined,
  formats(['text', 'json_object'], () => ({
    message: 'This response_format type is unavailable now',
  })),
  jsonModeNamesJson(
    "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.",
  ),
  wellFormedTools,
  choiceIsKnown,
  noForcedToolsWhileThinking,
  toolResultsFollowCalls,
  reasoningComesBack,
];

/**
 * Recorded: the finish chunk carries usage, `usage` and `logprobs` are null on all others; `:
 * keep-alive` comments fill waits.
 */
const style: Style = {
  ...openAiStyle,
  reasoning: 'reasoning_content',
  usageAt: 'finish',
  usageUnasked: true,
  usage: ({ prompt, cached, completion, reasoning }) => ({
    ...counts(prompt, completion),
    prompt_tokens_details: { cached_tokens: cached },
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    prompt_cache_hit_tokens: cached,
    prompt_cache_miss_tokens: prompt - cached,
  }),
  preamble: () => ': keep-alive\n\n',
  chunk(draft, choice, { kind, answer }) {
    draft['usage'] ??= null;
    draft['system_fingerprint'] = 'fp_sim';
    if (choice === undefined) return;
    choice['logprobs'] ??= null;
    const delta = part(choice, 'delta');
    if (kind === 'finish') delta['content'] = '';
    if (answer.usage.reasoning === 0) return;
    if (kind === 'reasoning' || kind === 'role') delta['content'] = null;
    if (kind !== 'reasoning') delta['reasoning_content'] = kind === 'role' ? '' : null;
  },
  whole(draft, choices) {
    draft['system_fingerprint'] = 'fp_sim';
    for (const choice of choices) {
      choice['logprobs'] ??= null;
      part(choice, 'message')['content'] ??= '';
    }
  },
};

export const deepseek: Dialect = {
  vendor: 'deepseek',
  prefix: '/deepseek',
  key: 'bearer',
  reasons: thinks,
  callId,
  rules,
  refuse: refuser(rows, openAiEnvelope),
  style,
};
