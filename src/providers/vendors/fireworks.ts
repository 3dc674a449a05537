import { openaiChat } from '../wire/openai-chat.ts';
import { fireworksImages } from '../wire/images/hosts.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { defineVendor } from '../vendor.ts';
import { numbersOnly, openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { rerank } from '../wire/rerank.ts';

const faults: readonly FaultRule[] = [
  { status: 412, kind: 'quota' },
  { status: 400, text: /prompt is too long/i, kind: 'context_length' },
];

/** docs.fireworks.ai/api-reference/post-chatcompletions and /guides/inference-error-codes, 2026-08. */
export const fireworks = defineVendor({
  id: 'fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  consoleUrl: 'https://app.fireworks.ai',
  env: { apiKey: 'FIREWORKS_API_KEY' },
  speaks: {
    images: fireworksImages(faults),
    chat: openaiChat({
      faults,
    }),
    completions: openaiCompletions({ faults }),
    // docs.fireworks.ai/api-reference/creates-an-embedding-vector-representing-the-input-text and /rerank-documents, 2026-08
    embeddings: openaiEmbeddings({ drop: numbersOnly, faults }),
    rerank: rerank({ faults }),
  },
});
