import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiEdits, openaiImages } from '../formats/images/openai.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { defineVendor } from '../vendor.ts';
import { openaiSpeech, openaiTranscriptions } from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import { openaiModerations } from '../formats/moderations.ts';
import { rerank } from '../formats/rerank.ts';
import { openAiVideos } from '../formats/video/openai.ts';
import type { SupportRow } from '../support/rows.ts';

const takes: readonly SupportRow[] = [
  {
    source: 'the format itself, as old servers read it, 2026-08',
    // The older name is the one that every such server reads.
    limit: { name: 'max_tokens', takesBoth: true },
    // Every server knows the role `system`, few know `developer`.
    developer: 'system',
  },
];

/**
 * Any other server with OpenAI's chat completions; the operator configures its base URL. It fetches
 * the addresses in requests itself, as the format says.
 */
export const openaiCompatible = defineVendor({
  id: 'openai-compatible',
  adapters: {
    images: openaiImages(),
    image_edits: openaiEdits(),
    image_variations: openaiEdits(
      { drop: ['prompt', 'quality', 'style', 'background'] },
      '/images/variations',
    ),
    chat: openaiChat({ takes }),
    completions: openaiCompletions(),
    embeddings: openaiEmbeddings(),
    moderations: openaiModerations(),
    rerank: rerank(),
    transcriptions: openaiTranscriptions({ streams: () => true }),
    translations: openaiTranscriptions({ path: '/audio/translations' }),
    speech: openaiSpeech(),
    video: openAiVideos({ ownWords: true }),
  },
});
