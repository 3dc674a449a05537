import { completionsOverChat } from '../bridges/completions-over-chat.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { asksOneAnswer } from '../wire/openai-completions-ask.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { perCall } from '../wire/per-call.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { status: 402, kind: 'quota' },
  { status: 400, text: /content exists risk/i, kind: 'content_policy' },
];

// `max_completion_tokens` is not documented and would be ignored: then no limit holds.
const chat = openaiChat({
  // "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`" (public issues, 2026-07).
  developers: false,
  outputLimit: { name: 'max_tokens', takesBoth: false },
  // api-docs.deepseek.com/guides/thinking_mode#tool-calls, 2026-08: "Missing `reasoning_content` field in the assistant message".
  thoughtsWithCalls: /^(?!deepseek-chat$)/,
  faults,
});
const bridged = completionsOverChat(chat);

/** Text with a prefix and, if given, a suffix (api-docs.deepseek.com/api/create-completion, 2026-08): in beta, one prompt, one answer, of some models. */
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
  // `/v1` means nothing at DeepSeek (api-docs.deepseek.com, "Your First API Call"), but the beta does not lie below it.
  home: (baseUrl) => baseUrl.replace(/^(https:\/\/api\.deepseek\.com)\/v1\/?$/, '$1'),
  place: (prefix, path) => (path === betaPath && prefix.endsWith('/beta') ? '/completions' : path),
  speaks: {
    chat,
    completions: perCall(
      (call) => (completes.test(call.upstreamModel) && asksOneAnswer(call) ? native : bridged),
      chat.fault,
    ),
  },
});
