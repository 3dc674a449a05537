import {
  openaiSpeech,
  openaiTranscriptions,
  type TranscriptionQuirks,
} from '../formats/audio/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { code: /^tool_use_failed$/, kind: 'bad_request' },
  { status: 413, kind: 'context_length' },
  { status: 498, kind: 'overloaded' },
];

const reference = 'console.groq.com/docs/api-reference#chat-create, 2026-08';
const reasoning = 'console.groq.com/docs/reasoning, 2026-08';
const turns = {
  lacks: { assistant: ['name'] },
  partsLack: ['cache_control', 'prompt_cache_breakpoint'],
  callsLack: ['index'],
  documents: { instead: 'text, image' },
} as const;

const takes: readonly SupportRow[] = [
  {
    source: reference,
    closed: true,
    refusesItself: true,
    members: {
      // Documented, and refused with all values but one.
      n: { takes: [1], otherwise: { refuse: 'it gives one answer at a time.' } },
      logprobs: {
        takes: [],
        idle: [false],
        otherwise: { refuse: 'it does not tell the probabilities of its tokens.' },
      },
    },
    stops: 4,
    tools: ['function', 'browser_search', 'code_interpreter', 'mcp'],
    toolsLack: ['name', ...toolHints],
    lacks: [
      ...openaiOnlyExcept('metadata', 'store'),
      ...openrouterOnly,
      'top_logprobs',
      'logit_bias',
      'top_k',
      'min_p',
      'repetition_penalty',
      'thinking_budget',
    ],
  },
  // "property 'reasoning_content' is unsupported", and so is 'annotations' (janhq/jan#8136,
  // 2026-05; tashfeenahmed/freellmapi#1070, 2026-08).
  { source: 'janhq/jan#8136, 2026-05', messages: { assistant: ['function_call'], ...turns } },
  // Other models do not reason, and refuse both an effort and earlier reasoning.
  { source: reasoning, effort: { takes: [], usual: 'none' } },
  {
    source: reasoning,
    models: /gpt-oss/,
    effort: { takes: ['low', 'medium', 'high'] },
    messages: { assistant: ['reasoning', 'function_call'], ...turns },
  },
  // "reasoning_effort must be one of none or default" (pi#1745).
  {
    source: reasoning,
    models: /qwen3/,
    effort: {
      takes: ['none', 'default'],
      map: {
        minimal: 'default',
        low: 'default',
        medium: 'default',
        high: 'default',
        xhigh: 'default',
        max: 'default',
      },
    },
    messages: { assistant: ['reasoning', 'function_call'], ...turns },
  },
  {
    source: 'console.groq.com/docs/structured-outputs, 2026-08',
    models: /^(?!.*(?:gpt-oss|llama-4|kimi))/,
    schema: 'object',
  },
  // "json mode cannot be combined with tool/function calling" (same page).
  { source: 'console.groq.com/docs/structured-outputs, 2026-08', formatBesideTools: 'words' },
];

/**
 * console.groq.com/docs/speech-to-text, 2026-08: no captions, but segments from which they can be
 * made; no events.
 */
const whisper: TranscriptionQuirks = {
  writes: () => ['json', 'text', 'verbose_json'],
  timedBy: 'verbose_json',
  faults,
};

/** console.groq.com/docs/api-reference and /docs/errors, 2026-08. */
export const groq = defineVendor({
  id: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  consoleUrl: 'https://console.groq.com',
  env: { apiKey: 'GROQ_API_KEY' },
  // console.groq.com/docs/compound, 2026-08: systems that search and run code by themselves
  // (recorded: 14,100 tokens for 236 bytes).
  readsBeyond: (model) => /compound/.test(model),
  adapters: {
    // console.groq.com/docs/service-tiers, 2026-08: `on_demand`, `flex`, `performance`, `auto`.
    chat: openaiChat({ takes, standardTier: 'on_demand', faults }),
    transcriptions: openaiTranscriptions(whisper),
    translations: openaiTranscriptions({ ...whisper, path: '/audio/translations' }),
    // console.groq.com/docs/text-to-speech/orpheus, 2026-08: only WAV
    speech: openaiSpeech({ makes: ['wav'], usualVoice: 'autumn', drop: ['instructions'], faults }),
  },
});
