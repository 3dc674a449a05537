import { completionsOverChat } from '../bridges/completions-over-chat.ts';
import { perCall } from '../formats/adapters.ts';
import type { FaultRule } from '../formats/fault.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { asksOneAnswer } from '../formats/openai-completions/request.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { status: 402, kind: 'quota' },
  { status: 400, text: /content exists risk/i, kind: 'content_policy' },
];

const reference = 'api-docs.deepseek.com/api/create-chat-completion, 2026-08';
const thinkingMode = 'api-docs.deepseek.com/guides/thinking_mode, 2026-08';
const off = { member: 'thinking', off: { type: 'disabled' } };
// `medium` is not on the page, and was recorded (2026-06, 200).
const efforts = {
  takes: ['low', 'medium', 'high', 'max'],
  map: { minimal: 'low', xhigh: 'high' },
} as const;

const takes: readonly SupportRow[] = [
  {
    source: reference,
    // `max_completion_tokens` is not documented and would be ignored: then no limit holds.
    limit: { name: 'max_tokens', takesBoth: false },
    // "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`" (public
    // issues, 2026-07).
    developer: 'system',
    tools: ['function'],
    toolsLack: toolHints,
    stops: 16,
    lacks: [
      ...openaiOnlyExcept(),
      ...openrouterOnly,
      'user',
      'seed',
      'include_reasoning',
      'reasoning_format',
    ],
  },
  // "Invalid n value (currently only n = 1 is supported)".
  { source: reference, refusesItself: true, lacks: ['n'] },
  // "This response_format type is unavailable now" (llm-exe#662).
  { source: 'api-docs.deepseek.com/guides/json_mode, 2026-08', schema: 'object' },
  // Only models that read images take anything but text.
  { source: reference, models: /^(?!.*vl)/i, refusesItself: true, parts: ['text'] },
  {
    source: thinkingMode,
    effort: { ...efforts, switch: off },
    // "Missing `reasoning_content` field in the assistant message" (same page, #tool-calls).
    messages: {
      assistant: ['reasoning_content'],
      needsThoughts: true,
      prefix: 'prefix',
      documents: { instead: 'text' },
    },
  },
  { source: thinkingMode, while: 'reasoning', forced: 'silent' },
  {
    source: thinkingMode,
    models: /^deepseek-chat$/,
    effort: { ...efforts, usual: 'none', switch: { ...off, on: { type: 'enabled' } } },
  },
];

const chat = openaiChat({ takes, faults });
const bridged = completionsOverChat(chat);

/**
 * Text with a prefix and, if given, a suffix (api-docs.deepseek.com/api/create-completion,
 * 2026-08): in beta, one prompt, one answer, of some models.
 */
const betaPath = '/beta/completions';
const native = openaiCompletions({
  path: betaPath,
  onePrompt: true,
  drop: ['n', 'best_of'],
  faults,
});
const completes = /^deepseek-(?:chat|coder|v4-pro)/;

/** api-docs.deepseek.com/api/create-chat-completion and /quick_start/error_codes, 2026-08. */
export const deepseek = defineVendor({
  id: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  consoleUrl: 'https://platform.deepseek.com',
  env: { apiKey: 'DEEPSEEK_API_KEY' },
  // `/v1` means nothing at DeepSeek (api-docs.deepseek.com, "Your First API Call"), but the beta
  // does not lie below it.
  baseUrlFor: (baseUrl) => baseUrl.replace(/^(https:\/\/api\.deepseek\.com)\/v1\/?$/, '$1'),
  pathFor: (prefix, path) =>
    path === betaPath && prefix.endsWith('/beta') ? '/completions' : path,
  adapters: {
    chat,
    completions: perCall(
      (call) => (completes.test(call.upstreamModel) && asksOneAnswer(call) ? native : bridged),
      chat.fault,
    ),
  },
});
