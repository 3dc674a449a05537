import { functionName } from './chat-pieces.ts';
import { served } from './openai.ts';
import {
  effortRules,
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
import { refuses, rule, type Rule, type Shape, strings, tagged, text, whole } from './shape.ts';

// OpenAI's Responses (openai-openapi.yaml, 2026-08-21: CreateResponse, InputItem, Tool).

const definition = 'openai-openapi.yaml, 2026-08-21';
const breakpoint = { prompt_cache_breakpoint: object({ mode: one('explicit') }, 'mode') };
const status = one(
  'in_progress',
  'completed',
  'incomplete',
  'failed',
  'searching',
  'generating',
  'interpreting',
  'calling',
);

/** The parts of a message and of a function's result. */
const said: Readonly<Record<string, Shape>> = {
  input_text: object({ type: anything, text: text(), ...breakpoint }, 'text'),
  input_image: object({
    type: anything,
    image_url: text(),
    file_id: text(),
    detail: one('low', 'high', 'auto', 'original'),
    ...breakpoint,
  }),
  input_file: object({
    type: anything,
    file_id: text(),
    filename: text(),
    file_data: text(),
    file_url: text(),
    detail: text(),
    ...breakpoint,
  }),
  output_text: object(
    { type: anything, text: text(), annotations: list(map()), logprobs: list(anything) },
    'text',
  ),
  refusal: object({ type: anything, refusal: text() }, 'refusal'),
};
/** Those that a user, a system or a developer has no use for, and the other way round. */
const inputs = {
  input_text: said['input_text'],
  input_image: said['input_image'],
  input_file: said['input_file'],
} as Record<string, Shape>;
const outputs = { output_text: said['output_text'], refusal: said['refusal'] } as Record<
  string,
  Shape
>;

const message = tagged('role', {
  ...Object.fromEntries(
    ['user', 'system', 'developer'].map((role) => [
      role,
      object(
        {
          type: one('message'),
          role: anything,
          id: text(),
          status,
          content: either(text(), list(tagged('type', inputs))),
        },
        'content',
      ),
    ]),
  ),
  assistant: object(
    {
      type: one('message'),
      role: anything,
      id: text({ pattern: /^msg_/ }),
      status,
      phase: one('commentary', 'final_answer'),
      content: either(text(), list(tagged('type', outputs))),
    },
    'content',
  ),
});

const callId = text({ min: 1, max: 64 });
const call = {
  type: anything,
  id: text(),
  call_id: callId,
  status,
  caller: map(),
  namespace: text(),
};

const item: Shape = tagged(
  'type',
  {
    message,
    function_call: object(
      { ...call, name: text({ min: 1 }), arguments: text() },
      'call_id',
      'name',
      'arguments',
    ),
    function_call_output: object(
      { ...call, name: text(), output: either(text(), list(tagged('type', inputs))) },
      'call_id',
      'output',
    ),
    reasoning: object(
      {
        type: anything,
        id: text(),
        encrypted_content: text(),
        summary: list(object({ type: one('summary_text'), text: text() }, 'type', 'text')),
        content: list(object({ type: one('reasoning_text'), text: text() }, 'type', 'text')),
        status,
      },
      'summary',
    ),
    custom_tool_call: object({ ...call, name: text(), input: text() }, 'call_id', 'name', 'input'),
    custom_tool_call_output: object(
      { ...call, output: either(text(), list(map())) },
      'call_id',
      'output',
    ),
    item_reference: object({ type: anything, id: text() }, 'id'),
    compaction: object(
      { type: anything, id: text(), encrypted_content: text() },
      'encrypted_content',
    ),
    // What OpenAI's own tools made comes back as it was.
    ...Object.fromEntries(
      [
        'file_search_call',
        'computer_call',
        'computer_call_output',
        'web_search_call',
        'tool_search_call',
        'tool_search_output',
        'additional_tools',
        'image_generation_call',
        'code_interpreter_call',
        'local_shell_call',
        'local_shell_call_output',
        'shell_call',
        'shell_call_output',
        'apply_patch_call',
        'apply_patch_call_output',
        'mcp_list_tools',
        'mcp_approval_request',
        'mcp_approval_response',
        'mcp_call',
        'compaction_trigger',
        'program',
        'program_output',
      ].map((type) => [type, map()]),
    ),
  },
  message,
);

const tool: Shape = tagged('type', {
  function: object(
    {
      type: anything,
      // Beside the flat members some clients send chat's: recorded openai-0969, accepted.
      function: map(),
      name: functionName,
      description: text(),
      parameters: map(),
      strict: flag,
      output_schema: map(),
      defer_loading: flag,
      allowed_callers: strings(),
    },
    'name',
  ),
  custom: object(
    {
      type: anything,
      name: functionName,
      description: text(),
      format: map(),
      defer_loading: flag,
      allowed_callers: strings(),
    },
    'name',
  ),
  ...Object.fromEntries(
    [
      'file_search',
      'computer',
      'computer_use_preview',
      'web_search',
      'web_search_2025_08_26',
      'mcp',
      'code_interpreter',
      'image_generation',
      'local_shell',
      'shell',
      'namespace',
      'tool_search',
      'web_search_preview',
      'web_search_preview_2025_03_11',
      'apply_patch',
      'programmatic_tool_calling',
    ].map((type) => [type, map()]),
  ),
});

export const responsesMembers: Members = {
  ...served,
  model: text({ min: 1 }),
  input: either(text(), list(item)),
  instructions: text(),
  previous_response_id: text(),
  conversation: either(text(), object({ id: text() }, 'id')),
  prompt: map(),
  background: flag,
  include: list(
    one(
      'file_search_call.results',
      'web_search_call.results',
      'web_search_call.action.sources',
      'message.input_image.image_url',
      'computer_call_output.output.image_url',
      'code_interpreter_call.outputs',
      'reasoning.encrypted_content',
      'message.output_text.logprobs',
    ),
  ),
  max_output_tokens: whole(16),
  max_tool_calls: whole(1),
  parallel_tool_calls: flag,
  reasoning: object({
    effort: one('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    summary: one('auto', 'concise', 'detailed'),
    generate_summary: one('auto', 'concise', 'detailed'),
    mode: text(),
    context: text(),
  }),
  stream: flag,
  stream_options: object({ include_obfuscation: flag }),
  temperature: number(0, 2),
  top_p: number(0, 1),
  top_logprobs: whole(0, 20),
  text: object({
    format: tagged('type', {
      text: object({ type: anything }),
      json_object: object({ type: anything }),
      json_schema: object(
        { type: anything, name: functionName, description: text(), schema: map(), strict: flag },
        'name',
        'schema',
      ),
    }),
    verbosity: one('low', 'medium', 'high'),
  }),
  tools: list(tool),
  tool_choice: either(
    one('none', 'auto', 'required'),
    object({ type: one('function', 'custom'), name: text() }, 'type', 'name'),
    object(
      { type: one('allowed_tools'), mode: one('auto', 'required'), tools: list(map()) },
      'mode',
      'tools',
    ),
    object({ type: one('mcp'), server_label: text(), name: text() }, 'server_label'),
    object({
      type: one(
        'file_search',
        'web_search',
        'web_search_preview',
        'web_search_preview_2025_03_11',
        'computer',
        'computer_use',
        'computer_use_preview',
        'image_generation',
        'code_interpreter',
        'programmatic_tool_calling',
        'apply_patch',
        'shell',
      ),
    }),
  ),
  truncation: one('auto', 'disabled'),
  context_management: list(map()),
};

/**
 * No result without its call: a request that continues an earlier response may hold results alone.
 */
const knownCalls = rule(
  'OpenAI: "No tool call found for function call output"; recorded deepseek-0143',
  undefined,
  ({ body }) => {
    if (body['previous_response_id'] || body['conversation'] || body['prompt']) return [];
    const items = objectsOf(body['input']);
    if (items.some(({ type }) => type === 'item_reference' || type === 'compaction')) return [];
    const called = new Set(
      items.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id),
    );
    const told = new Set(
      items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id),
    );
    return [
      ...[...told]
        .filter((id) => !called.has(id))
        .map((id) => `input: the result ${String(id)} belongs to no call`),
      ...[...called]
        .filter((id) => !told.has(id))
        .map((id) => `input: the call ${String(id)} has no result`),
    ];
  },
);

export const responsesRules: readonly Rule[] = [
  ...samplingRules('reasoning.effort'),
  ...effortRules('reasoning.effort'),
  verbosityRule('text.verbosity'),
  strictSchemas(strictFunctions),
  strictSchemas(({ body }) =>
    memberAt(body, 'text.format.strict') === true
      ? [['text.format.schema', memberAt(body, 'text.format.schema')]]
      : [],
  ),
  refuses(
    /^(?:gpt-3|gpt-4|chatgpt-4o)/,
    'OpenAI: "reasoning.effort is not supported with this model"; vercel/ai 2026-08-22',
    'reasoning.summary',
  ),
  needs('OpenAI, by wire-formats §1.1', 'stream_options', 'stream', true),
  rule('OpenAI, by wire-formats §1.7', undefined, ({ body }) =>
    body['previous_response_id'] && body['conversation']
      ? ['previous_response_id: not beside conversation']
      : [],
  ),
  knownCalls,
  rule('recorded openai-0982, openai-0988', /deep-research/, ({ body }) =>
    objectsOf(body['tools']).some(({ type }) => type === 'function')
      ? ['tools: this model calls no functions']
      : [],
  ),
  rule(definition, undefined, ({ body }) =>
    body['model'] || body['prompt'] ? [] : ['model: is missing'],
  ),
];

export const openaiResponses: Endpoint = {
  path: /\/responses$/,
  source: definition,
  body: object(responsesMembers),
  rules: responsesRules,
};
