import {
  completionsAnsweredAsChat,
  completionsOverChat,
} from '../bridges/completions-over-chat.ts';
import { perCall } from '../formats/adapters.ts';
import { openaiSpeech, openaiTranscriptions } from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { openaiModerations } from '../formats/moderations.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { asksPlainly } from '../formats/openai-completions/request.ts';
import type { TranscriptionRequest } from '../media-request.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { text: /too large for model with \d+ maximum context length/i, kind: 'context_length' },
  { code: /^invalid_model$/, kind: 'unknown_model' },
  { status: 422, kind: 'bad_request' },
];

const reference = 'docs.mistral.ai/api/endpoint/chat (its OpenAPI definition), 2026-08';
const reasoning = 'docs.mistral.ai/capabilities/reasoning, 2026-08';

/** Unknown members are refused with 422, `extra_forbidden`: the definition closes its objects. */
const takes: readonly SupportRow[] = [
  {
    source: reference,
    closed: true,
    refusesItself: true,
    limit: { name: 'max_tokens', takesBoth: false },
    developer: 'system',
    tools: ['function'],
    untypedTools: true, // recorded 2026-08: answered
    toolsLack: ['name', ...toolHints],
    choices: ['any'],
    members: { seed: { as: 'random_seed' }, temperature: { within: [0, 1.5] } },
    lacks: [
      ...openaiOnlyExcept('metadata', 'prompt_cache_key', 'prediction'),
      'user',
      'logprobs',
      'logit_bias',
      'service_tier',
      'top_logprobs',
      'functions',
      'function_call',
      'top_k',
      'min_p',
      'repetition_penalty',
      'thinking_budget',
      'include_reasoning',
      'reasoning_format',
      ...openrouterOnly,
    ],
    // litellm#30835: `reasoning_content` in messages is a 422, and so is a name, except on a tool's
    // result.
    messages: {
      assistant: [],
      partsLack: ['cache_control', 'prompt_cache_breakpoint'],
      // "Expected last role User or Tool (or Assistant with prefix True)".
      prefix: 'prefix',
      needsPrefix: true,
      documents: 'document_url',
      // Recorded, 3230: "Expected last role User or Tool", "Unexpected role 'system' after role
      // 'assistant'".
      system: 'before',
      lacks: {
        system: ['name'],
        developer: ['name'],
        user: ['name'],
        assistant: ['name'],
      },
    },
  },
  { source: reasoning, effort: { takes: [], usual: 'none' } },
  { source: reasoning, models: /^magistral/, effort: { takes: [] } },
  {
    source: reasoning,
    models: /^(?:mistral-small-(?:latest|26)|mistral-medium-(?:latest|3[.-][5-9]))/,
    effort: {
      takes: ['none', 'high'],
      map: { minimal: 'high', low: 'high', medium: 'high', xhigh: 'high', max: 'high' },
      usual: 'none',
    },
  },
];

const chat = openaiChat({
  // The finish chunk has the usage without a request for it.
  streamOptions: false,
  // mistral-openapi.yaml, 2026-08: a tool message has the same parts as a user's.
  mediaInResults: /./,
  toolIds: { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
  takes,
  faults,
});

/**
 * Fill in the middle (docs.mistral.ai/api/endpoint/fim, 2026-08; recorded): requests like those of
 * completions, answers like those of chat.
 */
const fim = completionsAnsweredAsChat(chat, {
  path: '/fim/completions',
  onePrompt: true,
  streamOptions: false,
  rename: { seed: 'random_seed' },
  drop: [
    'user',
    'echo',
    'best_of',
    'logprobs',
    'logit_bias',
    'n',
    'presence_penalty',
    'frequency_penalty',
  ],
});
const bridged = completionsOverChat(chat);

/**
 * docs.mistral.ai/capabilities/audio_transcription, 2026-08: one format, with segments and speakers
 * on request; a language and timestamps exclude each other.
 */
function listened({
  returns,
  language,
  temperature,
}: TranscriptionRequest): readonly (readonly [string, string])[] {
  const timed = returns !== 'json' && returns !== 'text';
  return [
    ...(language !== undefined && !timed ? [['language', language] as const] : []),
    ...(temperature !== undefined ? [['temperature', String(temperature)] as const] : []),
    ...(timed ? [['timestamp_granularities[]', 'segment'] as const] : []),
    ...(returns === 'diarized_json' ? [['diarize', 'true'] as const] : []),
  ];
}

/** docs.mistral.ai/api, 2026-08. Unknown members are refused with 422. */
export const mistral = defineVendor({
  id: 'mistral',
  provider: 'mistral_ai',
  baseUrl: 'https://api.mistral.ai/v1',
  consoleUrl: 'https://console.mistral.ai',
  env: { apiKey: 'MISTRAL_API_KEY' },
  adapters: {
    chat,
    embeddings: openaiEmbeddings({
      textOnly: true,
      rename: { dimensions: 'output_dimension' },
      drop: [{ member: 'user' }],
      faults,
    }),
    moderations: openaiModerations({ faults }),
    transcriptions: openaiTranscriptions({
      writes: () => ['json', 'text'],
      timedBy: 'json',
      fields: listened,
      faults,
    }),
    // Recorded 2026-08: all audio in one JSON answer.
    speech: openaiSpeech({
      makes: ['mp3', 'wav', 'pcm', 'flac', 'opus'],
      usualVoice: 'en_paul_neutral',
      drop: ['instructions', 'speed'],
      faults,
    }),
    completions: perCall(
      (call) => (call.upstreamModel.startsWith('codestral') && asksPlainly(call) ? fim : bridged),
      chat.fault,
    ),
  },
});
