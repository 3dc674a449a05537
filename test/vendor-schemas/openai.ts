import {
  answeredCalls,
  format,
  functionName,
  functionTool,
  messages,
  named,
  part,
  penalties,
  stop,
  usual,
} from './chat-pieces.ts';
import {
  effortRules,
  reasoning,
  samplingRules,
  strictFunctions,
  strictSchemas,
  verbosityRule,
} from './openai-models.ts';
import {
  anything,
  either,
  type Endpoint,
  flag,
  isObject,
  list,
  map,
  type Members,
  memberAt,
  needs,
  number,
  object,
  objectsOf,
  one,
} from './shape.ts';
import { refuses, rule, type Rule, tagged, text, whole } from './shape.ts';

const definition = 'openai-openapi.yaml, 2026-08-21';

const breakpoint = { prompt_cache_breakpoint: object({ mode: one('explicit') }, 'mode') };
const custom = object(
  {
    type: one('custom'),
    custom: object({ name: functionName, description: text(), format: anything }, 'name'),
  },
  'custom',
);

/** What every request of OpenAI's may carry: how it is served, and who asked. */
export const served: Members = {
  user: text(),
  safety_identifier: text({ max: 64 }),
  prompt_cache_key: text(),
  prompt_cache_retention: one('in_memory', '24h'),
  prompt_cache_options: object({ mode: one('implicit', 'explicit'), ttl: text() }),
  metadata: map(text({ max: 512 })),
  // `ultrafast`: developers.openai.com/api/docs/guides/ultrafast-mode, 2026-09.
  service_tier: one('auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'),
  store: flag,
  moderation: object({ model: text(), policy: anything }, 'model'),
};

export const chatMembers: Members = {
  ...usual,
  ...penalties,
  ...served,
  messages: messages({
    roles: ['developer', 'system', 'user', 'assistant', 'tool', 'function'],
    all: { name: text() },
    user: {
      text: part.text(breakpoint),
      image_url: part.image_url(breakpoint),
      input_audio: part.input_audio('wav', 'mp3'),
      file: part.file(breakpoint),
    },
    system: { text: part.text(breakpoint) },
    assistantParts: { text: part.text(), refusal: part.refusal },
    // `annotations` and `index` are in no definition: recorded openai-0260 and openai-0498,
    // accepted. `parsed` is openai-node's own, which its stream helper sends back.
    assistant: {
      parsed: anything,
      refusal: text(),
      audio: object({ id: text() }, 'id'),
      function_call: map(),
      annotations: list(anything),
    },
    callId: text({ min: 1, max: 40 }),
    call: {
      type: one('function', 'custom'),
      custom: object({ name: text(), input: text() }, 'name', 'input'),
      index: whole(0),
    },
    callNeeds: ['id', 'type'],
  }),
  max_completion_tokens: whole(1),
  reasoning_effort: one('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  verbosity: one('low', 'medium', 'high'),
  modalities: list(one('text', 'audio'), { min: 1 }),
  audio: object(
    { voice: either(text(), map()), format: one('wav', 'aac', 'mp3', 'flac', 'opus', 'pcm16') },
    'voice',
    'format',
  ),
  web_search_options: object({
    user_location: map(),
    search_context_size: one('low', 'medium', 'high'),
  }),
  response_format: format('text', 'json_object', 'json_schema'),
  stop: stop(4),
  logit_bias: map(number(-100, 100)),
  logprobs: flag,
  top_logprobs: whole(0, 20),
  n: whole(1, 128),
  prediction: object(
    { type: one('content'), content: either(text(), list(part.text())) },
    'type',
    'content',
  ),
  seed: whole(),
  stream_options: object({ include_usage: flag, include_obfuscation: flag }),
  // Some clients tell the name beside the function, too: recorded openai-0717, accepted.
  tools: list(
    tagged('type', {
      function: functionTool({ strict: flag }, { tool: { name: text() } }),
      custom,
    }),
    { max: 128 },
  ),
  tool_choice: either(
    one('none', 'auto', 'required'),
    named,
    object({ type: one('custom'), custom: object({ name: text() }, 'name') }, 'custom'),
    object(
      {
        type: one('allowed_tools'),
        allowed_tools: object(
          { mode: one('auto', 'required'), tools: list(map()) },
          'mode',
          'tools',
        ),
      },
      'allowed_tools',
    ),
  ),
  parallel_tool_calls: flag,
  functions: list(object({ name: functionName, description: text(), parameters: map() }, 'name'), {
    max: 128,
  }),
  function_call: either(one('none', 'auto'), object({ name: text() }, 'name')),
};

export const chatRules: readonly Rule[] = [
  ...samplingRules('reasoning_effort'),
  ...effortRules('reasoning_effort'),
  verbosityRule('verbosity'),
  strictSchemas(strictFunctions),
  strictSchemas(({ body }) =>
    memberAt(body, 'response_format.json_schema.strict') === true
      ? [
          [
            'response_format.json_schema.schema',
            memberAt(body, 'response_format.json_schema.schema'),
          ],
        ]
      : [],
  ),
  refuses(
    reasoning,
    'OpenAI, recorded openai-0698: "Use \'max_completion_tokens\' instead"',
    'max_tokens',
  ),
  refuses(
    /^(?:o3(?!-mini)|o4|gpt-5(?:-(?!chat)|\.|$)|gpt-[6-9])/,
    'OpenAI, recorded openai-0281; openai-openapi.yaml StopConfiguration',
    'stop',
  ),
  refuses(/^o[134]/, 'OpenAI, by run-llama/llama_index#20865', 'parallel_tool_calls'),
  rule('OpenAI, recorded openai-0903', /^(?!.*search)/, ({ body }) =>
    isObject(body['web_search_options']) ? ['web_search_options: for the search models alone'] : [],
  ),
  rule('OpenAI, by wire-formats §0.8; BerriAI/litellm#34569', /^gpt-5\.4/, ({ body }) =>
    objectsOf(body['tools']).length > 0 &&
    ![undefined, null, 'none'].includes(body['reasoning_effort'] as undefined)
      ? ['tools: with an effort other than none they belong to /responses']
      : [],
  ),
  rule(
    'OpenAI, by wire-formats §0.8; danny-avila/LibreChat#14231',
    /^gpt-(?:5\.[5-9]|[6-9])/,
    ({ body }) =>
      objectsOf(body['tools']).length > 0 && body['reasoning_effort'] !== 'none'
        ? ['tools: without effort none they belong to /responses']
        : [],
  ),
  needs('OpenAI: "tool_choice is only allowed when tools are specified"', 'tool_choice', 'tools'),
  needs(
    'OpenAI: "parallel_tool_calls is only allowed when tools are specified"',
    'parallel_tool_calls',
    'tools',
  ),
  needs('OpenAI, by wire-formats §1.1', 'stream_options', 'stream', true),
  needs(`${definition}: logprobs must be true`, 'top_logprobs', 'logprobs', true),
  rule(definition, undefined, ({ body }) =>
    body['max_tokens'] !== undefined && body['max_completion_tokens'] !== undefined
      ? ['max_tokens: not beside max_completion_tokens']
      : [],
  ),
  answeredCalls('OpenAI, by wire-formats §1.1'),
];

const vectorMembers: Members = {
  model: text(),
  input: either(
    text({ min: 1 }),
    list(text({ min: 1 }), { min: 1, max: 2048 }),
    list(whole(0), { min: 1 }),
    list(list(whole(0)), { min: 1 }),
  ),
  encoding_format: one('float', 'base64'),
  dimensions: whole(1),
  user: text(),
};

const vectors: Endpoint = {
  path: /\/embeddings$/,
  source: definition,
  body: object(vectorMembers, 'model', 'input'),
};

export const openaiChat: Endpoint = {
  path: /\/chat\/completions$/,
  source: definition,
  body: object(chatMembers, 'model', 'messages'),
  rules: chatRules,
};

/** Azure's older addresses name the deployment, and the body need not. */
export const azureDeployments: readonly Endpoint[] = [
  {
    ...openaiChat,
    path: /\/deployments\/[^/]+\/chat\/completions$/,
    body: object(chatMembers, 'messages'),
  },
  { ...vectors, path: /\/deployments\/[^/]+\/embeddings$/, body: object(vectorMembers, 'input') },
];

export { vectors as openaiVectors };
