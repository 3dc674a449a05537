import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { defineVendor } from '../vendor.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import type { SupportRow } from '../support/rows.ts';

const reference = 'platform.moonshot.cn/docs/api/chat, 2026-08';
const turns = {
  prefix: 'partial', // …/docs/api/partial
  assistant: ['reasoning_content'],
  documents: { instead: 'text, image, video' },
} as const;

const takes: readonly SupportRow[] = [
  {
    source: reference,
    developer: 'system',
    // "the current version of Kimi API does not support the tool_choice=required parameter"
    // (…/guide/migrating-from-openai-to-kimi).
    forced: 'required',
    tools: ['function', 'builtin_function'],
    closed: true,
    toolsLack: ['name', ...toolHints],
    stops: 5,
    members: { temperature: { within: [0, 1] } },
    messages: turns,
    lacks: [
      ...openaiOnlyExcept('safety_identifier', 'prompt_cache_key'),
      ...openrouterOnly,
      'seed',
      'include_reasoning',
      'reasoning_format',
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'parallel_tool_calls',
      'user',
    ],
    effort: { takes: [], usual: 'none' },
  },
  { source: reference, models: /^(?:moonshot-v1|kimi-k2-|kimi-latest)/, schema: 'object' },
  {
    source: reference,
    models: /^kimi-k(?:2\.[5-9]|[3-9])|thinking/,
    effort: { takes: [] },
    // "thinking is enabled but reasoning_content is missing in assistant tool call message" (public
    // reports, 2026-01 to 2026-05)
    messages: { needsThoughts: true, ...turns },
  },
  {
    source: 'platform.moonshot.cn/docs/api/chat, 2026-08; can1357/oh-my-pi#1077, 2026-05',
    models: /^kimi-k2\.[56]/,
    effort: {
      takes: [],
      switch: { member: 'thinking', off: { type: 'disabled' }, on: { type: 'enabled' } },
    },
  },
  {
    // "tool_choice specified is incompatible with thinking enabled".
    source: 'platform.moonshot.cn/docs/api/chat, 2026-08; can1357/oh-my-pi#1077, 2026-05',
    models: /^kimi-k2\.[56]/,
    while: 'reasoning',
    forced: 'silent',
  },
  {
    source: reference,
    models: /^kimi-k[3-9]/,
    effort: { takes: ['low', 'high', 'max'] },
  },
  {
    // Sampling is fixed from k2.5 on; other values are refused.
    source: reference,
    models: /^kimi-k(?:2\.[5-9]|[3-9])/,
    lacks: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'n'],
  },
];

/** platform.moonshot.cn/docs/api/chat and /docs/api/errors, 2026-08. */
export const moonshot = defineVendor({
  id: 'moonshot',
  provider: 'moonshot_ai',
  baseUrl: 'https://api.moonshot.cn/v1',
  consoleUrl: 'https://platform.moonshot.cn',
  env: { apiKey: 'MOONSHOT_API_KEY' },
  adapters: {
    chat: openaiChat({
      takes,
      // Images and videos only as base64 or by file id
      // (platform.moonshot.cn/docs/guide/use-kimi-vision-model, 2026-08).
      readsAddresses: [],
      faults: [
        { code: /^exceeded_current_quota_error$/, kind: 'quota' },
        { code: /^engine_overloaded_error$/, kind: 'overloaded' },
        { code: /^content_filter$/, kind: 'content_policy' },
        { status: 400, text: /exceeded model token limit/i, kind: 'context_length' },
      ],
    }),
  },
});
