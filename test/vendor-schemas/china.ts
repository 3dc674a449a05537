import {
  answeredCalls,
  bytesOnly,
  cacheMark,
  format,
  functionTool,
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
  number,
  object,
  objectsOf,
  one,
  refuses,
  rule,
  type Rule,
} from './shape.ts';
import { tagged, text, whole } from './shape.ts';

// Chinese houses in OpenAI's chat format.

const chat = /\/chat\/completions$/;
const functions = list(tagged('type', { function: functionTool() }), { max: 128 });
const forced = (tool: unknown): boolean => tool === 'required' || isObject(tool);

const zhipuPage =
  'docs.bigmodel.cn/api-reference; zai-org/z-ai-sdk-python completions.py, 2026-04-08; java.agentscope.io/v2/en/integration/model/glm, 2026';

export const zhipu: Endpoint = {
  path: chat,
  source: zhipuPage,
  body: object(
    {
      ...usual,
      temperature: number(0, 1),
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        user: {
          image_url: part.image_url(),
          video_url: part.video_url,
          file_url: map(),
          input_audio: part.input_audio('wav', 'mp3'),
        },
        assistant: { reasoning_content: text() },
        call: { index: whole(0) },
        // Without the call's id, too: recorded zhipu-0036, accepted.
        toolNeeds: ['content'],
      }),
      request_id: text(),
      user_id: text(),
      do_sample: flag,
      seed: whole(),
      stop: stop(4),
      sensitive_word_check: map(),
      tools: list(
        tagged('type', {
          function: functionTool({ strict: flag }, { tool: { name: text() } }),
          web_search: map(),
          retrieval: map(),
          mcp: map(),
        }),
        { max: 128 },
      ),
      // "auto" alone by its pages; a named function is recorded, accepted (zhipu-0001).
      tool_choice: either(one('auto'), named),
      meta: map(),
      response_format: format('text', 'json_object'),
      thinking: object({ type: one('enabled', 'disabled'), clear_thinking: flag }),
      reasoning_effort: one('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
      watermark_enabled: flag,
      tool_stream: flag,
      // Recorded zhipu-0002 and others, accepted.
      stream_options: streamOptions,
    },
    'model',
    'messages',
  ),
  rules: [
    rule(
      'docs.bigmodel.cn: reasoning_effort is GLM-5.2’s and later; recorded zhipu-0011 with others, accepted',
      undefined,
      ({ body }) =>
        body['reasoning_effort'] === 'none'
          ? ['reasoning_effort: none does not end its thinking; `thinking` does (translation.md 3)']
          : [],
    ),
  ],
};

const qwenPage =
  'help.aliyun.com/zh/model-studio/qwen-api-reference, 2026-01-27; vercel/ai packages/alibaba, 2026-08-22';

export const qwen: Endpoint = {
  path: chat,
  source: qwenPage,
  body: object(
    {
      ...usual,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        all: { name: text() },
        user: {
          text: part.text({ cache_control: cacheMark }),
          image_url: part.image_url({
            min_pixels: whole(),
            max_pixels: whole(),
            cache_control: cacheMark,
          }),
          video_url: part.video_url,
          video: map(),
          input_audio: object(
            { type: anything, input_audio: object({ data: text(), format: text() }, 'data') },
            'input_audio',
          ),
        },
        system: { text: part.text({ cache_control: cacheMark }) },
        tool: { text: part.text({ cache_control: cacheMark }) },
        assistantParts: { text: part.text({ cache_control: cacheMark }) },
        assistant: { reasoning_content: text(), partial: flag },
        call: { index: whole(0) },
      }),
      temperature: number(0, 1.9999),
      presence_penalty: number(-2, 2),
      top_k: whole(0),
      repetition_penalty: number(),
      max_completion_tokens: whole(1),
      n: whole(1, 4),
      seed: whole(0, 2 ** 31 - 1),
      stop: either(text(), list(either(text(), list(whole())))),
      stream_options: streamOptions,
      tools: functions,
      tool_choice: either(one('auto', 'none'), named),
      parallel_tool_calls: flag,
      modalities: list(one('text', 'audio')),
      audio: map(),
      enable_thinking: flag,
      thinking_budget: whole(0),
      preserve_thinking: flag,
      enable_search: flag,
      search_options: map(),
      enable_code_interpreter: flag,
      vl_high_resolution_images: flag,
      logprobs: flag,
      top_logprobs: whole(0, 5),
      response_format: format('text', 'json_object', 'json_schema'),
      translation_options: map(),
      asr_options: map(),
      user: text(),
    },
    'model',
    'messages',
  ),
  rules: [
    rule(`${qwenPage}: n more than 1 without tools`, undefined, ({ body }) =>
      Number(body['n'] ?? 1) > 1 && objectsOf(body['tools']).length > 0
        ? ['n: is 1 beside tools']
        : [],
    ),
    rule(`${qwenPage}: no named tool while thinking`, undefined, ({ body }) =>
      body['enable_thinking'] === true && isObject(body['tool_choice'])
        ? ['tool_choice: no tool is named while thinking']
        : [],
    ),
    answeredCalls(qwenPage),
  ],
};

const moonshotPage =
  'platform.kimi.ai/docs/api/chat, 2026; vercel/ai packages/moonshotai, 2026-08-22; java.agentscope.io/v2/en/integration/model/kimi, 2026';
const kimi = /^kimi-k(?:2\.[5-9]|[3-9])/;
/** The sampling of these is the house's own, and nothing else is taken. */
const fixedSampling: Rule = rule(`${moonshotPage}: fixed by the platform`, kimi, ({ body }) => {
  const fixed: Record<string, unknown> = {
    temperature: memberAt(body, 'thinking.type') === 'disabled' ? 0.6 : 1,
    top_p: 0.95,
    n: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
  };
  return Object.entries(fixed)
    .filter(
      ([name, value]) => body[name] !== undefined && body[name] !== null && body[name] !== value,
    )
    .map(([name]) => `${name}: is fixed with this model`);
});

export const moonshot: Endpoint = {
  path: chat,
  source: moonshotPage,
  body: object(
    {
      ...usual,
      ...penalties,
      temperature: number(0, 1),
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        all: { name: text() },
        // It fetches nothing: bytes or ms:// files (vercel/ai packages/moonshotai, 2026-08-22).
        user: {
          image_url: either(
            bytesOnly,
            object(
              { type: anything, image_url: object({ url: text({ pattern: /^ms:/ }) }, 'url') },
              'image_url',
            ),
          ),
          video_url: part.video_url,
        },
        assistant: { reasoning_content: text(), partial: flag },
        call: { index: whole(0) },
      }),
      max_completion_tokens: whole(1),
      n: whole(1, 5),
      stop: stop(5),
      stream_options: streamOptions,
      tools: list(tagged('type', { function: functionTool(), builtin_function: map() }), {
        max: 128,
      }),
      tool_choice: either(one('none', 'auto', 'required'), named),
      response_format: format('text', 'json_object', 'json_schema'),
      thinking: object({
        type: one('enabled', 'disabled'),
        keep: one('all'),
        budget_tokens: whole(1024),
      }),
      reasoning_effort: one('low', 'high', 'max'),
      prompt_cache_key: text(),
      safety_identifier: text(),
    },
    'model',
    'messages',
  ),
  rules: [
    fixedSampling,
    rule(
      'HTTP 400 "tool_choice is incompatible with thinking enabled": harn-vm 35-moonshot.toml, 2026-08-26',
      /^kimi-k2\.[5-9]/,
      ({ body }) =>
        forced(body['tool_choice']) && memberAt(body, 'thinking.type') !== 'disabled'
          ? ['tool_choice: no tool is forced while thinking']
          : [],
    ),
    rule('the same: K3 takes required since 2026-08-26, no named one', /^kimi-k3/, ({ body }) =>
      isObject(body['tool_choice']) ? ['tool_choice: no named tool'] : [],
    ),
    refuses(/^(?!kimi-k3)/, `${moonshotPage}: Kimi K3’s alone`, 'reasoning_effort'),
    rule(`${moonshotPage}: always thinking`, /^kimi-k(?:2\.7|3)/, ({ body }) =>
      memberAt(body, 'thinking.type') === 'disabled' ? ['thinking: cannot be disabled'] : [],
    ),
    answeredCalls(moonshotPage),
  ],
};

const minimaxPage =
  'platform.minimax.io/docs/api-reference/text-openai-api, 2026; java.agentscope.io/v2/en/integration/model/minimax, 2026';

export const minimax: Endpoint = {
  path: chat,
  source: minimaxPage,
  body: object(
    {
      ...usual,
      temperature: number(0, 2),
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        all: { name: text() },
        user: { image_url: part.image_url(), video_url: part.video_url },
        assistant: { reasoning_content: text(), reasoning_details: list(map()) },
        call: { index: whole(0) },
      }),
      max_completion_tokens: whole(1),
      n: one(1),
      stream_options: streamOptions,
      tools: functions,
      thinking: object({ type: one('adaptive', 'disabled') }, 'type'),
      reasoning_split: flag,
      response_format: format('text', 'json_object', 'json_schema'),
      mask_sensitive_info: flag,
      service_tier: text(),
      top_k: whole(),
    },
    'model',
    'messages',
  ),
  rules: [
    refuses(undefined, `${minimaxPage}: deprecated for max_completion_tokens`, 'max_tokens'),
    refuses(
      undefined,
      'java.agentscope.io/v2/en/integration/model/minimax: not in the official schema; wire-formats §5.2',
      'tool_choice',
    ),
    answeredCalls(minimaxPage),
  ],
};

const arkPage =
  'volcengine/volcengine-python-sdk arkruntime completion_create_params.py, 2026-07-23; www.volcengine.com/docs/82379';

export const volcengine: Endpoint = {
  path: chat,
  source: arkPage,
  body: object(
    {
      ...usual,
      ...penalties,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool', 'function'],
        all: { name: text() },
        user: {
          image_url: part.image_url(),
          video_url: part.video_url,
          input_audio: object({ type: anything, input_audio: map() }),
        },
        assistant: { reasoning_content: text(), encrypted_content: text(), function_call: map() },
        call: { index: whole(0) },
      }),
      function_call: anything,
      functions: list(map()),
      logit_bias: map(number(-100, 100)),
      logprobs: flag,
      top_logprobs: whole(0, 20),
      max_completion_tokens: whole(1),
      n: whole(1),
      parallel_tool_calls: flag,
      repetition_penalty: number(),
      response_format: format('text', 'json_object', 'json_schema'),
      seed: whole(),
      service_tier: one('auto', 'default'),
      stop: stop(4),
      stream_options: object({ include_usage: flag, chunk_include_usage: flag }),
      thinking: object({ type: one('enabled', 'disabled', 'auto') }, 'type'),
      reasoning_effort: one('minimal', 'low', 'medium', 'high'),
      tools: functions,
      tool_choice: either(one('none', 'auto', 'required'), named),
      user: text(),
    },
    'model',
    'messages',
  ),
  rules: [
    answeredCalls(arkPage),
    rule(`${arkPage}: not beside max_tokens`, undefined, ({ body }) =>
      body['max_tokens'] && body['max_completion_tokens']
        ? ['max_completion_tokens: not beside max_tokens']
        : [],
    ),
  ],
};

const hunyuanPage =
  'cloud.tencent.com/document/product/1729/111007 (OpenAI compatible interface), 2026';

export const hunyuan: Endpoint = {
  path: chat,
  source: hunyuanPage,
  body: object(
    {
      ...usual,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        user: { image_url: part.image_url(), video_url: part.video_url },
        assistant: { reasoning_content: text() },
        call: { index: whole(0) },
      }),
      seed: whole(),
      stop: stop(Infinity),
      stream_options: streamOptions,
      tools: functions,
      tool_choice: either(one('none', 'auto', 'required', 'custom'), named),
      enable_enhancement: flag,
      enable_thinking: flag,
      enable_deep_search: flag,
      search_info: flag,
      citation: flag,
      force_search_enhancement: flag,
      moderation: flag,
      enable_multimedia: flag,
      custom_tool: map(),
      thinking: map(),
      reasoning_effort: one('none', 'low', 'medium', 'high'),
    },
    'model',
    'messages',
  ),
  rules: [
    rule(
      'cloud.tencent.com/document/product/1729/97732: the system is first; wire-formats §5.2',
      undefined,
      ({ body }) =>
        objectsOf(body['messages']).some(({ role }, index) => role === 'system' && index > 0)
          ? ['messages: a system’s after others']
          : [],
    ),
    rule('the same: roles alternate', undefined, ({ body }) => {
      const roles = objectsOf(body['messages']).map(({ role }) => role);
      return roles.some((role, index) => role === roles[index - 1] && role !== 'tool')
        ? ['messages: two in a row of the same role']
        : [];
    }),
    answeredCalls(hunyuanPage),
  ],
};

const siliconflowPage =
  'docs.siliconflow.cn/cn/api-reference/chat-completions/chat-completions, 2026';

export const siliconflow: Endpoint = {
  path: chat,
  source: siliconflowPage,
  body: object(
    {
      ...usual,
      messages: messages({
        roles: ['system', 'user', 'assistant', 'tool'],
        all: { name: text() },
        user: { image_url: part.image_url(), video_url: part.video_url, audio_url: map() },
        assistant: { reasoning_content: text(), prefix: flag },
        call: { index: whole(0) },
      }),
      frequency_penalty: number(-2, 2),
      presence_penalty: number(-2, 2),
      enable_thinking: flag,
      thinking_budget: whole(128, 32_768),
      reasoning_effort: one('high', 'max'),
      min_p: number(0, 1),
      top_k: number(),
      n: whole(1),
      seed: whole(),
      stop: stop(4),
      stream_options: streamOptions,
      response_format: format('text', 'json_object', 'json_schema'),
      tools: functions,
      tool_choice: either(one('none', 'auto', 'required'), named),
      logprobs: flag,
      top_logprobs: whole(0, 20),
    },
    'model',
    'messages',
  ),
  rules: [answeredCalls(siliconflowPage)],
};
