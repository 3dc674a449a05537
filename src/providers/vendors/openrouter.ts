import { forAllImageOperations } from '../formats/adapters.ts';
import { openrouterTranscriptions } from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { openrouterImages } from '../formats/images/hosts.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { rerank } from '../formats/rerank.ts';
import type { SupportRow } from '../support/rows.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  // Recorded: an unknown embedding model is a 400.
  { status: 400, text: /^Model \S+ does not exist$/, kind: 'unknown_model' },
  { status: 403, text: /moderation|flagged/i, kind: 'content_policy' },
  { status: 502, kind: 'overloaded' },
  { status: 503, kind: 'overloaded' },
  { status: 400, text: /token limit reached/i, kind: 'context_length' },
];

/**
 * Members that let another model answer than the requested one, which is charged
 * (openrouter.ai/docs/guides/routing/model-fallbacks, 2026-08): failover is the gateway's task.
 */
const fallbacks = ['models', 'route'];

const takes: readonly SupportRow[] = [
  {
    source: 'openrouter.ai/docs/api/reference/parameters, 2026-08',
    members: Object.fromEntries(
      fallbacks.map((member) => [member, { takes: [], otherwise: 'drop' as const }]),
    ),
    messages: {
      assistant: [
        'reasoning',
        'reasoning_content',
        'reasoning_details',
        'refusal',
        'images',
        'audio',
        'annotations',
      ],
    },
    choices: ['any'], // recorded 2026-08: a tool is called
    effort: { takes: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'], reads: ['reasoning'] },
  },
];

/**
 * openrouter.ai/docs/api/reference/errors-and-debugging, 2026-08. Codes are statuses; 403 reports
 * moderation.
 */
export const openrouter = defineVendor({
  id: 'openrouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  consoleUrl: 'https://openrouter.ai',
  env: { apiKey: 'OPENROUTER_API_KEY' },
  // openrouter.ai/docs/features/prompt-caching, 2026-08
  readsCacheMarks: true,
  // Some of the models that it sells do so (recorded 2026-08: x-ai/grok-4-fast).
  thinksBeyondLimit: true,
  // openrouter.ai/docs/features/web-search, 2026-08: a suffix of the model's name; other models
  // search by themselves.
  readsBeyond: (model) => /:online$|^perplexity\/|search-preview|deep-research/.test(model),
  adapters: {
    chat: openaiChat({
      takes,
      faults,
      // openrouter.ai/docs/use-cases/usage-accounting, 2026-08
      takesCostWish: true,
      // Recorded 2026-08 (openrouter-0182): Claude reads an image in a tool's result.
      mediaInResults: /^anthropic\//,
      // `file_data` takes an address (openrouter.ai/docs/features/multimodal/pdfs, 2026-08).
      readsAddresses: ['image', 'video', 'file'],
    }),
    // openrouter.ai/docs/api/api-reference/completions, 2026-08: the prompt is a string.
    completions: openaiCompletions({ onePrompt: true, drop: fallbacks, faults }),
    embeddings: openaiEmbeddings({ faults }),
    rerank: rerank({ faults }),
    ...forAllImageOperations(openrouterImages(faults)),
    transcriptions: openrouterTranscriptions(faults),
  },
});
