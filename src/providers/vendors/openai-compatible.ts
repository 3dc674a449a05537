import { openaiChat } from '../wire/openai-chat.ts';
import { openaiEdits, openaiImages } from '../wire/images/openai.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { defineVendor } from '../vendor.ts';
import { openaiSpeech } from '../wire/openai-speech.ts';
import { openaiTranscriptions } from '../wire/openai-transcriptions.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { openaiModerations } from '../wire/openai-moderations.ts';
import { rerank } from '../wire/rerank.ts';
import { openAiVideos } from '../wire/video/openai-videos.ts';
import type { TakesRow } from '../takes/contract.ts';

const takes: readonly TakesRow[] = [
  {
    source: 'the format itself, as old servers read it, 2026-08',
    // The older name is the one that every such server reads.
    limit: { name: 'max_tokens', takesBoth: true },
    // Every server knows a system, few a developer.
    developer: 'system',
  },
];

/**
 * Any other server that speaks OpenAI's chat completions: its base URL is the operator's to give.
 * What clients refer to by address it reads itself, as the format says.
 */
export const openaiCompatible = defineVendor({
  id: 'openai-compatible',
  speaks: {
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
