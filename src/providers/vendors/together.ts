import { openaiChat } from '../wire/openai-chat.ts';
import { togetherImages } from '../wire/images/hosts.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { defineVendor } from '../vendor.ts';
import { openaiSpeech } from '../wire/openai-speech.ts';
import { openaiTranscriptions } from '../wire/openai-transcriptions.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { rerank } from '../wire/rerank.ts';
import { openaisOwnBut, openroutersOwn, toolHints } from '../takes/untaken.ts';
import type { TakesRow } from '../takes/contract.ts';

const faults: readonly FaultRule[] = [
  { status: 422, text: /tokens.{0,40}(exceed|must be)/i, kind: 'context_length' },
  { code: /^(credit_limit|payment_required)$/, kind: 'quota' },
];

const takes: readonly TakesRow[] = [
  {
    source: 'docs.together.ai/reference/chat-completions, 2026-08',
    limit: { name: 'max_tokens', takesBoth: false },
    // Roles are those of the page: system, user, assistant, tool.
    developer: 'system',
    turns: { assistant: ['reasoning', 'reasoning_content', 'function_call'] },
    tools: ['function'],
    toolsLack: toolHints,
    lacks: [...openaisOwnBut(), ...openroutersOwn, 'user', 'parallel_tool_calls'],
  },
  {
    source: 'docs.together.ai/reference/chat-completions, 2026-08',
    models: /gpt-oss/,
    effort: { takes: ['low', 'medium', 'high'] },
  },
];

/** docs.together.ai/reference/chat-completions and /docs/error-codes, 2026-08. */
export const together = defineVendor({
  id: 'together',
  baseUrl: 'https://api.together.xyz/v1',
  consoleUrl: 'https://api.together.ai',
  env: { apiKey: 'TOGETHER_API_KEY' },
  speaks: {
    images: togetherImages(faults),
    chat: openaiChat({ takes, faults }),
    // docs.together.ai/reference/completions, 2026-08: the prompt is a string.
    completions: openaiCompletions({ onePrompt: true, faults }),
    // docs.together.ai/reference/embeddings and /rerank, 2026-08
    embeddings: openaiEmbeddings({ textOnly: true, drop: [{ member: 'encoding_format' }], faults }),
    rerank: rerank({ faults }),
    // docs.together.ai/reference/audio-transcriptions and /audio-speech, 2026-08
    transcriptions: openaiTranscriptions({
      writes: () => ['json', 'text', 'verbose_json'],
      timedBy: 'verbose_json',
      faults,
    }),
    translations: openaiTranscriptions({
      path: '/audio/translations',
      writes: () => ['json', 'text', 'verbose_json'],
      timedBy: 'verbose_json',
      faults,
    }),
    speech: openaiSpeech({ makes: ['mp3', 'wav', 'pcm'], drop: ['instructions', 'speed'], faults }),
  },
});
