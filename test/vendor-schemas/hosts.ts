import {
  answeredCalls,
  cacheMark,
  format,
  functionTool,
  jsonSchema,
  lastRole,
  messages,
  named,
  part,
  penalties,
  stop,
  streamOptions,
  usual,
} from './chat-pieces.ts';
import {
  anything,
  either,
  type Endpoint,
  flag,
  isObject,
  list,
  map,
  memberAt,
  needs,
  number,
  object,
  objectsOf,
  one,
  refuses,
  rule,
} from './shape.ts';
import { type Shape, strings, tagged, takes, text, whole } from './shape.ts';

// Houses that serve open models, and xAI, in OpenAI's chat format.

const chat = /\/chat\/completions$/;
const functions = list(tagged('type', { function: functionTool() }), { max: 128 });
const choice = either(one('none', 'auto', 'required'), named);

const groqPage =
  'console.groq.com/docs/openai, 2026; groq/groq-typescript completions.ts, 2026-07-24';

export const groq: Endpoint = {
  path: chat,
  source: groqPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'developer', 'user', 'assistant', 'tool', 'function'],
        user: { image_url: part.image_url(), document: map() },
        tool: { text: part.text(), image_url: part.image_url(), document: map() },
        // `reasoning`, not `reasoning_content`: "property 'reasoning_content' is unsupported"
        // (janhq/jan#8136).
        assistant: { reasoning: text(), function_call: map() },
        // A tool's name is recorded, accepted (groq-0093); elsewhere `messages[].name` is a 400.
        toolMembers: { name: text() },
      }),
      citation_options: one('enabled', 'disabled'),
      compound_custom: map(),
      disable_tool_validation: flag,
      documents: list(map()),
      exclude_domains: strings(),
      include_domains: strings(),
      include_reasoning: flag,
      max_completion_tokens: whole(1),
      n: one(1),
      parallel_tool_calls: flag,
      reasoning_effort: one('none', 'default', 'low', 'medium', 'high'),
      reasoning_format: one('hidden', 'raw', 'parsed'),
      response_format: format('text', 'json_object', 'json_schema'),
      search_settings: map(),
      seed: whole(),
      service_tier: one('auto', 'on_demand', 'flex', 'performance'),
      stop: stop(4),
      stream_options: streamOptions,
      tools: list(
        tagged('type', {
          function: functionTool(),
          browser_search: map(),
          code_interpreter: map(),
          mcp: map(),
        }),
        { max: 128 },
      ),
      tool_choice: choice,
      functions: list(map()),
      function_call: anything,
      user: text(),
    },
    'model',
    'messages',
  ),
  rules: [
    takes(
      /qwen3|qwen-3/,
      'console.groq.com/docs/reasoning, 2026; by its issue pi#1745',
      'reasoning_effort',
      'none',
      'default',
    ),
    takes(
      /gpt-oss/,
      'console.groq.com/docs/reasoning, 2026',
      'reasoning_effort',
      'low',
      'medium',
      'high',
    ),
    refuses(
      /^(?!deepseek-r1).*(?:llama|kimi|gemma|compound|allam)/,
      'console.groq.com/docs/reasoning, 2026: models that reason alone',
      'reasoning_effort',
      'reasoning_format',
    ),
    rule(
      'console.groq.com/docs/structured-outputs, 2026: gpt-oss, kimi-k2, llama-4 alone',
      /llama-?3|qwen|gemma|deepseek-r1|compound/,
      ({ body }) =>
        memberAt(body, 'response_format.type') === 'json_schema'
          ? ['response_format: no json_schema with this model']
          : [],
    ),
    rule(
      'console.groq.com/docs/vision, 2026: llama-4 and qwen3.6 alone',
      /llama-?3|gpt-oss|kimi|qwen3-32b|deepseek-r1/,
      ({ body }) =>
        objectsOf(body['messages']).some(({ content }) =>
          objectsOf(content).some(({ type }) => type === 'image_url'),
        )
          ? ['messages: this model sees no pictures']
          : [],
    ),
    // gpt-oss-safeguard takes tools (console.groq.com/docs/browser-search, 2026).
    rule('recorded groq-0075', /llama-guard/, ({ body }) =>
      objectsOf(body['tools']).length > 0 ? ['tools: this model calls none'] : [],
    ),
    answeredCalls(groqPage),
  ],
};

const cerebrasPage = 'Cerebras/cerebras-cloud-sdk-node completions.ts, 2026-07-08';

export const cerebras: Endpoint = {
  path: chat,
  source: cerebrasPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'developer', 'user', 'assistant', 'tool'],
        all: { name: text() },
        user: { image_url: part.image_url() },
        // `reasoning_content` is refused: Kilo-Org/kilocode#10375.
        assistant: { reasoning: text() },
        call: { index: whole(0) },
      }),
      clear_thinking: flag,
      disable_reasoning: flag,
      logit_bias: map(number(-100, 100)),
      logprobs: flag,
      max_completion_tokens: whole(1),
      min_completion_tokens: whole(),
      min_tokens: whole(),
      model_parameters: map(),
      n: whole(1),
      parallel_tool_calls: flag,
      prediction: map(),
      prompt_cache_key: text(),
      reasoning_effort: one('none', 'low', 'medium', 'high'),
      reasoning_format: one('none', 'parsed', 'text_parsed', 'raw', 'hidden'),
      response_format: format('text', 'json_object', 'json_schema'),
      seed: whole(),
      service_tier: one('auto', 'default', 'flex', 'priority'),
      stop: stop(4),
      stream_options: streamOptions,
      tool_choice: choice,
      tools: functions,
      top_logprobs: whole(0, 20),
      user: text(),
    },
    'model',
    'messages',
  ),
  rules: [
    takes(
      /gpt-oss/,
      'inference-docs.cerebras.ai/capabilities/reasoning, 2026',
      'reasoning_effort',
      'low',
      'medium',
      'high',
    ),
    refuses(
      /llama|instruct|coder/,
      'inference-docs.cerebras.ai/capabilities/reasoning, 2026: gpt-oss and GLM alone',
      'reasoning_effort',
      'disable_reasoning',
    ),
    answeredCalls(cerebrasPage),
  ],
};

const togetherPage = 'togethercomputer/together-typescript completions.ts, 2026-08-19';

export const together: Endpoint = {
  path: chat,
  source: togetherPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool', 'function'],
        // `tool_calls: null` on a user's message: recorded other-0233, accepted.
        all: { name: text(), tool_calls: anything },
        user: {
          image_url: part.image_url(),
          video_url: part.video_url,
          audio_url: map(),
          input_audio: part.input_audio('wav'),
        },
        assistant: { function_call: map(), reasoning: text(), reasoning_content: text() },
        call: { index: whole(0) },
      }),
      chat_template_kwargs: anything,
      compliance: one('hipaa'),
      context_length_exceeded_behavior: one('truncate', 'error'),
      echo: flag,
      function_call: either(one('none', 'auto'), map()),
      logit_bias: map(number()),
      logprobs: whole(0, 20),
      min_p: number(0, 1),
      n: whole(1, 128),
      reasoning: object({ enabled: flag }),
      reasoning_effort: one('low', 'medium', 'high'),
      repetition_penalty: number(),
      response_format: format('text', 'json_object', 'json_schema'),
      safety_model: text(),
      seed: whole(),
      stop: strings(),
      // In no definition of it; other clients send it and it is recorded without complaint over
      // Hugging Face.
      stream_options: streamOptions,
      tool_choice: choice,
      tools: functions,
      top_k: whole(),
    },
    'model',
    'messages',
  ),
  rules: [answeredCalls(togetherPage)],
};

const fireworksPage = 'fw-ai-external/python-sdk completion_create_params.py, 2026-07-21';

export const fireworks: Endpoint = {
  path: chat,
  source: fireworksPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        user: { image_url: part.image_url(), video_url: part.video_url },
        assistant: { reasoning_content: text() },
        call: { index: whole(0) },
        all: { name: text() },
      }),
      context_length_exceeded_behavior: one('error', 'truncate'),
      echo: flag,
      echo_last: whole(),
      function_call: anything,
      functions: list(map()),
      ignore_eos: flag,
      logit_bias: map(number()),
      logprobs: either(flag, whole(0, 5)),
      max_completion_tokens: whole(1),
      metadata: map(text()),
      min_p: number(0, 1),
      mirostat_lr: number(),
      mirostat_target: number(),
      n: whole(1, 128),
      parallel_tool_calls: flag,
      perf_metrics_in_response: flag,
      prediction: anything,
      prompt_cache_isolation_key: text(),
      prompt_cache_key: text(),
      prompt_truncate_len: whole(),
      raw_output: flag,
      reasoning_effort: either(one('none', 'low', 'medium', 'high'), whole(), flag),
      reasoning_history: one('disabled', 'interleaved', 'preserved'),
      repetition_penalty: number(),
      response_format: tagged('type', {
        text: map(),
        json_object: object({ type: anything, schema: map() }),
        json_schema: object({ type: anything, json_schema: jsonSchema, schema: map() }),
        grammar: map(),
      }),
      return_token_ids: flag,
      safe_tokenization: flag,
      seed: whole(),
      service_tier: one('auto', 'default', 'flex', 'priority'),
      speculation: anything,
      stop: stop(4),
      stream_options: streamOptions,
      thinking: tagged('type', {
        enabled: object({ type: anything, budget_tokens: whole(1024) }),
        disabled: object({ type: anything }),
      }),
      tool_choice: either(one('none', 'auto', 'any', 'required'), named),
      tools: functions,
      top_k: whole(0, 100),
      top_logprobs: whole(0, 5),
      typical_p: number(0, 1),
      user: text(),
    },
    'model',
    'messages',
  ),
  rules: [
    answeredCalls(fireworksPage),
    rule(`${fireworksPage}: cannot be combined`, undefined, ({ body }) =>
      body['thinking'] && body['reasoning_effort'] ? ['reasoning_effort: not beside thinking'] : [],
    ),
  ],
};

const xaiPage =
  'docs.x.ai/docs/api-reference; xai-org/xai-proto chat.proto, 2026-05-17; vercel/ai packages/xai, 2026-08-22';

/** grok-4 and later reason, but for those that say they do not. */
const grokReasons = /^grok-(?:3-mini|4(?!.*non-reasoning)|code|latest|build|5)/;

export const xai: Endpoint = {
  path: chat,
  source: xaiPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'developer', 'user', 'assistant', 'tool', 'function'],
        all: { name: text() },
        user: { image_url: part.image_url(), file: part.file() },
        assistant: { reasoning_content: text(), refusal: text() },
        call: { index: whole(0) },
      }),
      max_completion_tokens: whole(1),
      deferred: flag,
      logprobs: flag,
      top_logprobs: whole(0, 8),
      n: whole(1, 128),
      parallel_tool_calls: flag,
      reasoning_effort: one('none', 'low', 'medium', 'high', 'xhigh'),
      response_format: format('text', 'json_object', 'json_schema'),
      seed: whole(),
      service_tier: one('default', 'priority'),
      stop: stop(4),
      stream_options: streamOptions,
      // The name beside the function: recorded xai-0096, accepted.
      tools: list(
        tagged('type', { function: functionTool({ strict: flag }, { tool: { name: text() } }) }),
        { max: 128 },
      ),
      // The second is recorded with five models, accepted (xai-0116).
      tool_choice: either(choice, object({ type: one('tool'), name: text() }, 'name')),
      user: text(),
      web_search_options: map(),
    },
    'model',
    'messages',
  ),
  rules: [
    refuses(
      grokReasons,
      'docs.x.ai/docs/guides/reasoning: presencePenalty, frequencyPenalty and stop are errors',
      'presence_penalty',
      'frequency_penalty',
      'stop',
    ),
    refuses(
      /^grok-(?:2|3(?!-mini)|4(?:-0709|-latest|-fast|-1|$)|code|build|4\.20(?:-\d{4})?-(?:non-)?reasoning)/,
      'recorded xai-0213; vercel/ai packages/xai supports-reasoning-effort.ts, 2026-08-22; grok2api#814',
      'reasoning_effort',
    ),
    takes(/^grok-3-mini/, 'docs.x.ai/docs/guides/reasoning', 'reasoning_effort', 'low', 'high'),
    takes(
      /^grok-4\.3/,
      'docs.x.ai/docs/guides/reasoning, 2026',
      'reasoning_effort',
      'none',
      'low',
      'medium',
      'high',
    ),
    takes(
      /^grok-4\.5/,
      'docs.x.ai/docs/guides/reasoning, by anomalyco/opencode#39448',
      'reasoning_effort',
      'low',
      'medium',
      'high',
    ),
    answeredCalls(xaiPage),
    needs(xaiPage, 'top_logprobs', 'logprobs', true),
  ],
};

const openrouterPage = 'OpenRouterTeam/typescript-sdk chatrequest.ts, 2026-08-22';
const marked = { cache_control: cacheMark };

export const openrouter: Endpoint = {
  path: chat,
  source: openrouterPage,
  body: object(
    {
      ...usual,
      ...penalties,
      cache_control: cacheMark,
      debug: map(),
      image_config: map(),
      logit_bias: map(number(-100, 100)),
      logprobs: flag,
      max_completion_tokens: whole(1),
      messages: messages({
        roles: ['system', 'developer', 'user', 'assistant', 'tool'],
        all: { name: text(), ...marked },
        user: {
          text: part.text(marked),
          image_url: part.image_url(marked),
          input_audio: part.input_audio(
            'wav',
            'mp3',
            'flac',
            'm4a',
            'ogg',
            'aiff',
            'aac',
            'pcm16',
            'pcm24',
          ),
          file: part.file(marked),
          video_url: part.video_url,
        },
        system: { text: part.text(marked) },
        tool: { text: part.text(marked), image_url: part.image_url(marked) },
        assistant: {
          reasoning: text(),
          reasoning_content: text(),
          reasoning_details: list(map()),
          refusal: text(),
          images: list(map()),
          audio: map(),
          annotations: list(map()),
        },
        // Recorded, accepted: openrouter-0102, openrouter-0140.
        call: { index: whole(0), ...marked },
      }),
      metadata: map(text()),
      min_p: number(0, 1),
      modalities: list(one('text', 'image', 'audio')),
      models: strings(),
      n: whole(1),
      parallel_tool_calls: flag,
      plugins: list(map()),
      prediction: map(),
      prompt_cache_key: text(),
      prompt_cache_options: map(),
      provider: map(),
      reasoning: object({
        effort: one('max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'),
        max_tokens: whole(0),
        exclude: flag,
        enabled: flag,
        summary: text(),
      }),
      reasoning_effort: one('max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'),
      repetition_penalty: number(0, 2),
      response_format: tagged('type', {
        text: map(),
        json_object: map(),
        json_schema: object({ type: anything, json_schema: jsonSchema }, 'json_schema'),
        grammar: map(),
        python: map(),
      }),
      seed: whole(),
      service_tier: text(),
      session_id: text({ max: 128 }),
      stop: stop(4),
      stop_server_tools_when: list(map()),
      stream_options: streamOptions,
      tools: list((value, at, tell) =>
        isObject(value) && String(value['type']).startsWith('openrouter:')
          ? undefined
          : routed(value, at, tell),
      ),
      // 'any' too: recorded openrouter-0106, accepted.
      tool_choice: either(one('none', 'auto', 'required', 'any'), named),
      top_a: number(0, 1),
      top_k: whole(0),
      top_logprobs: whole(0, 20),
      trace: map(),
      user: text(),
      verbosity: one('low', 'medium', 'high', 'xhigh', 'max'),
      // On its pages and recorded, not in the definition.
      include_reasoning: flag,
      transforms: strings(),
      usage: map(),
      web_search_options: map(),
      route: text(),
      preset: text(),
      fallback_models: strings(),
    },
    'messages',
  ),
  rules: [
    rule('openrouter.ai/docs/use-cases/reasoning-tokens', undefined, ({ body }) =>
      isObject(body['reasoning']) &&
      body['reasoning']['effort'] !== undefined &&
      body['reasoning_effort'] !== undefined &&
      body['reasoning']['effort'] !== body['reasoning_effort']
        ? ['reasoning_effort: differs from reasoning.effort']
        : [],
    ),
  ],
};
const routed: Shape = tagged('type', {
  function: object(
    {
      type: anything,
      ...marked,
      eager_input_streaming: flag,
      function: object(
        { name: text({ min: 1, max: 64 }), description: text(), parameters: map(), strict: flag },
        'name',
      ),
    },
    'function',
  ),
});

const perplexityPage =
  'perplexityai/perplexity-node api.ts, 2026-07-30; docs.perplexity.ai/api-reference/chat-completions-post';

export const perplexity: Endpoint = {
  path: chat,
  source: perplexityPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        user: {
          image_url: part.image_url(),
          file_url: map(),
          pdf_url: map(),
          video_url: part.video_url,
        },
        assistant: { reasoning_steps: list(map()) },
      }),
      ...Object.fromEntries(
        (
          'country disable_search enable_search_classifier image_domain_filter image_format_filter language_preference last_updated_after_filter ' +
          'last_updated_before_filter latitude longitude num_images num_search_results return_images return_related_questions safe_search ' +
          'search_after_date_filter search_before_date_filter search_domain_filter search_language_filter search_recency_filter stream_mode ' +
          // Recorded other-0051, accepted.
          'search_context_size'
        )
          .split(' ')
          .map((name) => [name, anything]),
      ),
      logprobs: flag,
      top_logprobs: whole(0),
      n: whole(1),
      parallel_tool_calls: flag,
      reasoning_effort: one('minimal', 'low', 'medium', 'high'),
      response_format: tagged('type', {
        text: map(),
        json_schema: object(
          {
            type: anything,
            json_schema: object(
              { name: text(), description: text(), schema: map(), strict: flag },
              'schema',
            ),
          },
          'json_schema',
        ),
        regex: map(),
      }),
      search_mode: one('web', 'academic', 'sec'),
      stop: stop(Infinity),
      // In no definition; recorded other-0175, accepted.
      stream_options: streamOptions,
      top_k: whole(0),
      web_search_options: map(),
    },
    'model',
    'messages',
  ),
  rules: [
    refuses(
      undefined,
      'docs.perplexity.ai: no function calling; wire-formats §5.2',
      'tools',
      'tool_choice',
    ),
    rule(
      'docs.perplexity.ai: "Last message must have role `user` or `tool`"; wire-formats §5.2',
      undefined,
      (request) =>
        ['user', 'tool'].includes(String(lastRole(request)))
          ? []
          : ['messages: the last one is not a user’s'],
    ),
    rule(
      'docs.perplexity.ai: "After the (optional) system message(s), user and assistant roles should be alternating"',
      undefined,
      ({ body }) => {
        const roles = objectsOf(body['messages']).map(({ role }) => role);
        const after = roles.slice(roles.findIndex((role) => role !== 'system'));
        return [
          ...(after[0] === 'assistant' ? ['messages: begin with the assistant’s'] : []),
          ...(after.includes('system') ? ['messages: a system’s after others'] : []),
          ...(after.some((role, index) => role === after[index - 1])
            ? ['messages: two in a row of the same role']
            : []),
        ];
      },
    ),
  ],
};

/** Over the router any host may answer: what Hugging Face's own definition has. */
const huggingfacePage =
  'huggingface/huggingface.js packages/tasks chat-completion inference.ts, 2026';

export const huggingface: Endpoint = {
  path: chat,
  source: huggingfacePage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        // `tool_calls: null` on users' messages, a part with text and picture: recorded other-0201
        // and other-0204, accepted.
        all: { name: text(), tool_calls: anything },
        user: {
          text: object({ type: anything, text: text(), image_url: anything }, 'text'),
          image_url: object(
            {
              type: anything,
              image_url: object({ url: text(), detail: text() }, 'url'),
              text: anything,
            },
            'image_url',
          ),
        },
        assistant: { reasoning: text(), reasoning_content: text() },
        call: { index: whole(0) },
      }),
      logit_bias: either(map(number()), list(number())),
      logprobs: flag,
      max_completion_tokens: whole(1),
      n: whole(1),
      parallel_tool_calls: flag,
      reasoning_effort: one('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
      response_format: format('text', 'json_object', 'json_schema'),
      seed: whole(),
      stop: stop(4),
      stream_options: streamOptions,
      // Without its type, too: recorded other-0214, accepted.
      tool_choice: either(choice, object({ type: one('function'), function: map() }, 'function')),
      tool_prompt: text(),
      tools: functions,
      top_logprobs: whole(0, 20),
      top_k: whole(),
      user: text(),
    },
    'messages',
  ),
  rules: [answeredCalls(huggingfacePage)],
};
