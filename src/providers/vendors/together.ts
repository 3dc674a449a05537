import {
  openaiSpeech,
  openaiTranscriptions,
  type TranscriptionQuirks,
} from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { togetherImages } from '../formats/images/hosts.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { rerank } from '../formats/rerank.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { status: 422, text: /tokens.{0,40}(exceed|must be)/i, kind: 'context_length' },
  { code: /^(credit_limit|payment_required)$/, kind: 'quota' },
];

const takes: readonly SupportRow[] = [
  {
    source: 'docs.together.ai/reference/chat-completions, 2026-08',
    limit: { name: 'max_tokens', takesBoth: false },
    // Roles are those of the page: system, user, assistant, tool.
    developer: 'system',
    messages: { assistant: ['reasoning', 'reasoning_content', 'function_call'] },
    tools: ['function'],
    toolsLack: toolHints,
    lacks: [...openaiOnlyExcept(), ...openrouterOnly, 'user', 'parallel_tool_calls'],
  },
  {
    source: 'docs.together.ai/reference/chat-completions, 2026-08',
    models: /gpt-oss/,
    effort: { takes: ['low', 'medium', 'high'] },
  },
];

/** docs.together.ai/reference/audio-transcriptions, 2026-08. */
const transcribing: TranscriptionQuirks = {
  writes: () => ['json', 'text', 'verbose_json'],
  timedBy: 'verbose_json',
  faults,
};

/** docs.together.ai/reference/chat-completions and /docs/error-codes, 2026-08. */
export const together = defineVendor({
  id: 'together',
  baseUrl: 'https://api.together.xyz/v1',
  consoleUrl: 'https://api.together.ai',
  env: { apiKey: 'TOGETHER_API_KEY' },
  adapters: {
    images: togetherImages(faults),
    chat: openaiChat({ takes, faults }),
    // docs.together.ai/reference/completions, 2026-08: the prompt is a string.
    completions: openaiCompletions({ onePrompt: true, faults }),
    // docs.together.ai/reference/embeddings and /rerank, 2026-08
    embeddings: openaiEmbeddings({ textOnly: true, drop: [{ member: 'encoding_format' }], faults }),
    rerank: rerank({ faults }),
    transcriptions: openaiTranscriptions(transcribing),
    translations: openaiTranscriptions({ ...transcribing, path: '/audio/translations' }),
    // docs.together.ai/reference/audio-speech, 2026-08
    speech: openaiSpeech({ makes: ['mp3', 'wav', 'pcm'], drop: ['instructions', 'speed'], faults }),
  },
});
