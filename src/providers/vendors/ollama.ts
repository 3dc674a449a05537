import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { defineVendor, pathUnderV1 } from '../vendor.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import type { SupportRow } from '../support/rows.ts';

const takes: readonly SupportRow[] = [
  {
    source: 'github.com/ollama/ollama docs/openai.md, 2026-08',
    limit: { name: 'max_tokens', takesBoth: false },
    // Roles are the model's, and `developer` is none of them (ollama-python#453, 2025-03).
    developer: 'system',
    messages: { assistant: ['reasoning'] },
    tools: ['function'],
    toolsLack: toolHints,
    // `tool_choice`, `logit_bias` and `n` are listed as not supported.
    forced: 'words',
    lacks: [
      ...openaiOnlyExcept('modalities', 'audio'),
      ...openrouterOnly,
      'n',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'user',
      'parallel_tool_calls',
    ],
    // "invalid reasoning value: must be high, medium, low or none".
    effort: { takes: ['none', 'low', 'medium', 'high'] },
  },
];

/**
 * github.com/ollama/ollama docs/openai.md, 2026-08. A base URL without a path means its compatible
 * endpoint.
 */
export const ollama = defineVendor({
  id: 'ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  env: { apiKey: 'OLLAMA_API_KEY', baseUrl: 'OLLAMA_BASE_URL' },
  pathFor: pathUnderV1,
  adapters: {
    // Images are base64 (same page).
    chat: openaiChat({ takes, readsAddresses: [] }),
    // "prompt currently only accepts a string" (same page).
    completions: openaiCompletions({ onePrompt: true }),
    // Versions without base64 answer with numbers.
    embeddings: openaiEmbeddings({ textOnly: true }),
  },
});
