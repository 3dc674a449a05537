import { type Dialect, part, type Style } from '../dialect.ts';
import { decodeImage } from '../image.ts';
import { eachMessage, someMessages } from '../rules/messages.ts';
import { formats, present, range } from '../rules/parameters.ts';
import { usualRules } from '../rules/usual.ts';
import {
  callId,
  counts,
  openAiEnvelope,
  openAiRows,
  openAiStyle,
  refuser,
  type Rows,
} from './base.ts';

const thinker = /deepseek-r1|qwen3|gpt-oss|magistral/i;

const ollamaRows: Rows = {
  ...openAiRows,
  wrong_key: { status: 401, type: 'api_error', message: 'unauthorized' },
  unknown_url: { status: 404, type: 'not_found_error', message: '404 page not found' },
  unknown_model: { status: 404, type: 'not_found_error', message: "model '{model}' not found" },
  context: {
    status: 400,
    type: 'invalid_request_error',
    message: 'the prompt is too long: {tokens} tokens, the context is 16',
  },
  policy: { status: 400, type: 'invalid_request_error', message: 'refused' },
  rate: { status: 429, type: 'api_error', message: 'too many requests' },
  quota: { status: 402, type: 'api_error', message: 'a subscription is required for this model' },
  server: {
    status: 500,
    type: 'api_error',
    message: 'llama runner process has terminated: exit status 2',
  },
  overloaded: {
    status: 503,
    type: 'api_error',
    message: 'server busy, please try again. maximum pending requests exceeded',
  },
};

/**
 * Recorded: `reasoning`, the role in every delta, usage in its own chunk. It ignores unknown
 * members; always one choice.
 */
const ollamaStyle: Style = {
  ...openAiStyle,
  id: (random) => `chatcmpl-${(random.charCodeAt(0) * 7) % 1000}`,
  reasoning: 'reasoning',
  toolCalls: 'whole',
  usage: ({ prompt, completion }) => counts(prompt, completion),
  chunk(draft, choice) {
    draft['system_fingerprint'] = 'fp_ollama';
    if (choice !== undefined)
      Object.assign(part(choice, 'delta'), {
        role: 'assistant',
        content: part(choice, 'delta')['content'] ?? '',
      });
  },
  whole(draft, choices) {
    draft['system_fingerprint'] = 'fp_ollama';
    for (const choice of choices) part(choice, 'message')['content'] ??= '';
  },
};

const inlineImages = eachMessage(({ images }) =>
  images.every((url) => decodeImage(url) !== undefined)
    ? undefined
    : { message: 'invalid image input' },
);

export const ollama: Dialect = {
  vendor: 'ollama',
  prefix: '/ollama/v1',
  key: 'optional',
  reasons: ({ model, raw }) => thinker.test(model) && raw['reasoning_effort'] !== 'none',
  callId,
  rules: [
    ({ raw }) =>
      typeof raw['model'] === 'string' && raw['model'] !== ''
        ? undefined
        : { message: 'model is required' },
    ({ messages }) =>
      messages.length > 0 ? undefined : { message: "[] is too short - 'messages'" },
    inlineImages,
  ],
  refuse: refuser(ollamaRows, openAiEnvelope),
  style: ollamaStyle,
};

/**
 * docs.vllm.ai: the type names the exception, the code is the status; unknown members are ignored.
 */
const vllmRows: Rows = {
  ...openAiRows,
  wrong_key: { status: 401, message: 'Unauthorized' },
  unknown_url: { status: 404, message: 'Not Found' },
  unknown_model: {
    status: 404,
    type: 'NotFoundError',
    message: 'The model `{model}` does not exist.',
  },
  bad_request: { status: 400, type: 'BadRequestError' },
  context: {
    status: 400,
    type: 'BadRequestError',
    message:
      "This model's maximum context length is 16 tokens. However, your request has {tokens} input tokens. Please reduce the length of the input messages.",
  },
  policy: { status: 400, type: 'BadRequestError', message: 'refused' },
  rate: { status: 429, type: 'TooManyRequests', message: 'too many requests' },
  quota: { status: 402, type: 'PaymentRequired', message: 'payment required' },
  server: {
    status: 500,
    type: 'InternalServerError',
    message: 'EngineCore encountered an issue. See stack trace (above) for the root cause.',
  },
  overloaded: {
    status: 503,
    type: 'ServiceUnavailableError',
    message: 'The server is overloaded.',
  },
};

export const vllm: Dialect = {
  vendor: 'vllm',
  prefix: '/vllm/v1',
  key: 'optional',
  reasons: ({ model }) => thinker.test(model),
  callId: () => `chatcmpl-tool-${callId().slice(5)}`,
  rules: usualRules({
    sees: (model) => /vl|vision|llava|pixtral|gemma-3/i.test(model),
    blind: () => ({ message: 'At most 0 image(s) may be provided in one prompt.' }),
  }),
  refuse: refuser(vllmRows, ({ kind, message, type, param, status }) => {
    if (kind === 'wrong_key') return { error: message };
    if (kind === 'unknown_url') return { detail: message };
    return { error: { message, type, param, code: status } };
  }),
  style: {
    ...openAiStyle,
    reasoning: 'reasoning',
    usage: ({ prompt, completion }) => ({
      ...counts(prompt, completion),
      prompt_tokens_details: null,
    }),
    chunk(_, choice) {
      if (choice !== undefined)
        Object.assign(choice, { logprobs: choice['logprobs'] ?? null, token_ids: null });
    },
    whole(draft, choices) {
      Object.assign(draft, {
        service_tier: null,
        system_fingerprint: null,
        prompt_logprobs: null,
        kv_transfer_params: null,
      });
      for (const choice of choices) {
        Object.assign(choice, {
          logprobs: choice['logprobs'] ?? null,
          stop_reason: null,
          token_ids: null,
        });
        const message = part(choice, 'message');
        Object.assign(message, {
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          tool_calls: message['tool_calls'] ?? [],
          reasoning: message['reasoning'] ?? null,
        });
      }
    },
  },
};

/** Recorded: 400 and 500; tools/server/README.md. */
const llamacppRows: Rows = {
  ...openAiRows,
  wrong_key: { status: 401, type: 'authentication_error', message: 'Invalid API Key' },
  unknown_url: { status: 404, type: 'not_found_error', message: 'File Not Found' },
  unknown_model: {
    status: 400,
    type: 'invalid_request_error',
    message: "model '{model}' not found",
  },
  bad_request: { status: 400, type: 'invalid_request_error' },
  context: {
    status: 400,
    type: 'exceed_context_size_error',
    message:
      'request ({tokens} tokens) exceeds the available context size (16 tokens), try increasing it',
  },
  policy: { status: 400, type: 'invalid_request_error', message: 'refused' },
  rate: { status: 429, type: 'unavailable_error', message: 'too many requests' },
  quota: { status: 402, type: 'payment_required', message: 'payment required' },
  server: { status: 500, type: 'server_error', message: 'the slot is unavailable' },
  overloaded: { status: 503, type: 'unavailable_error', message: 'Loading model' },
};

const timings = (prompt: number, predicted: number) => ({
  cache_n: 0,
  prompt_n: prompt,
  prompt_ms: 21.1,
  predicted_n: predicted,
  predicted_ms: 48.2,
});

/** Recorded: usage and timings on the finish chunk, no `[DONE]` (wire-formats §5.1). */
const llamacppStyle: Style = {
  ...openAiStyle,
  reasoning: 'reasoning_content',
  usageAt: 'finish',
  usageUnasked: true,
  done: false,
  usage: ({ prompt, cached, completion }) => ({
    ...counts(prompt, completion),
    prompt_tokens_details: { cached_tokens: cached },
  }),
  chunk(draft, _, { kind, answer }) {
    draft['system_fingerprint'] = 'b10499-sim';
    if (kind === 'finish') draft['timings'] = timings(answer.usage.prompt, answer.usage.completion);
  },
  whole(draft, choices, answer) {
    Object.assign(draft, {
      system_fingerprint: 'b10499-sim',
      timings: timings(answer.usage.prompt, answer.usage.completion),
    });
    for (const choice of choices) part(choice, 'message')['content'] ??= '';
  },
};

const typed = (param: string) => (complain: ReturnType<ReturnType<typeof range>>) =>
  complain?.code === 'invalid_type'
    ? { message: `Field '${param}': [json.exception.type_error.302] type must be number` }
    : undefined;

export const llamacpp: Dialect = {
  vendor: 'llamacpp',
  prefix: '/llamacpp/v1',
  key: 'optional',
  reasons: ({ model }) => thinker.test(model),
  callId: () => callId().slice(5),
  rules: [
    present('messages'),
    someMessages,
    (request) =>
      typed('temperature')(range('temperature', { min: -Infinity, max: Infinity })(request)),
    formats(['text', 'json_object', 'json_schema'], (type) => ({
      message: `response_format type must be one of "text" or "json_object", but got: ${type}`,
    })),
    eachMessage(({ images }, _, { model }) =>
      images.length === 0 || /vl|gemma|^sim-/.test(model)
        ? undefined
        : {
            message:
              'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
          },
    ),
  ],
  refuse: refuser(llamacppRows, ({ kind, message, type, status }) => {
    const size =
      kind === 'context'
        ? { n_prompt_tokens: Number(/\((\d+) tokens/.exec(message)?.[1]), n_ctx: 16 }
        : {};
    return { error: { code: status, message, type, ...size } };
  }),
  style: llamacppStyle,
};
