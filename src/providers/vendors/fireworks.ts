import { numbersOnly, openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { fireworksImages } from '../formats/images/hosts.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { rerank } from '../formats/rerank.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { status: 412, kind: 'quota' },
  { status: 400, text: /prompt is too long/i, kind: 'context_length' },
];

const takes: readonly SupportRow[] = [
  {
    source: 'docs.fireworks.ai/api-reference/post-chatcompletions, 2026-08',
    // The models' templates know the roles system, user, assistant and tool.
    developer: 'system',
    messages: { assistant: ['reasoning_content'] },
    stops: 4,
    tools: ['function'],
    toolsLack: toolHints,
    lacks: [...openaiOnlyExcept('metadata', 'prompt_cache_key', 'prediction'), ...openrouterOnly],
    effort: { takes: ['none', 'low', 'medium', 'high'], map: { minimal: 'low' } },
  },
  {
    source: 'docs.fireworks.ai/api-reference/post-chatcompletions, 2026-08',
    models: /gpt-oss/,
    effort: { takes: ['low', 'medium', 'high'] },
  },
];

/**
 * docs.fireworks.ai/api-reference/post-chatcompletions and /guides/inference-error-codes, 2026-08.
 */
export const fireworks = defineVendor({
  id: 'fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  consoleUrl: 'https://app.fireworks.ai',
  env: { apiKey: 'FIREWORKS_API_KEY' },
  adapters: {
    images: fireworksImages(faults),
    chat: openaiChat({ takes, faults }),
    completions: openaiCompletions({ faults }),
    // docs.fireworks.ai/api-reference/creates-an-embedding-vector-representing-the-input-text and
    // /rerank-documents, 2026-08
    embeddings: openaiEmbeddings({ drop: numbersOnly, faults }),
    rerank: rerank({ faults }),
  },
});
