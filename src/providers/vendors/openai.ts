import {
  openaiChatOverResponsesSupport,
  openaiChatSupport,
  openaiResponsesSupport,
  reasoningModels,
} from '../support/openai.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { chatOverResponses, chatOrResponses } from '../formats/openai-responses/chat.ts';
import {
  responsesCompact,
  responsesCount,
  type ResponsesQuirks,
  openaiResponses,
} from '../formats/openai-responses/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { perCall, forAllImageOperations } from '../formats/adapters.ts';
import type { Adapter } from '../adapter.ts';
import { completionsOverChat } from '../bridges/completions-over-chat.ts';
import { defineVendor } from '../vendor.ts';
import { gptImages, openaiEdits, openaiImages } from '../formats/images/openai.ts';
import { streamedImages } from '../formats/images/openai-stream.ts';
import {
  openaiSpeech,
  type SpeechQuirks,
  openaiTranscriptions,
  type TranscriptionQuirks,
} from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import { openaiModerations } from '../formats/moderations.ts';
import { openAiVideos } from '../formats/video/openai.ts';

/**
 * From gpt-5.4 on functions are refused on chat while the model reasons: "To use function tools,
 * use /v1/responses or set reasoning_effort to 'none'." (public issues since 2026-05). 5.4 does not
 * reason unless a request sets an effort (recorded: chat calls, 200).
 */
export const functionsElsewhere =
  /^(?!.*-chat)gpt-(?:5\.(?:[4-9](?!\d)|[1-9]\d)|(?:[6-9]|1\d)(?!\d))/;

export const nativeResponses = {
  boundsToolCalls: true,
  seals: reasoningModels,
  // Recorded 2026-08: OpenAI's begin so, and those of other servers of its models (Bedrock: `rsn_…`)
  // have no + or /, as all of xAI's have. "The encrypted content … could not be verified" for one
  // of xAI's (lidge-jun/opencodex#2248, 2026-08).
  ownSeals: /^gAAAA|^[\w=-]+$/,
  takes: openaiResponsesSupport,
} satisfies ResponsesQuirks;

/**
 * Completions as they were before chat, for the few models that have nothing else
 * (developers.openai.com/api/docs/models, 2026-08: announced to end on 2026-09-28); all others
 * refuse it with a 404. Azure's ids have no dot.
 */
export const legacyCompletions = (chat: Adapter, native: Adapter): Adapter => {
  const bridged = completionsOverChat(chat);
  return perCall(
    ({ upstreamModel }) =>
      /-instruct|^(?:text-)?(?:ada|babbage|curie|davinci)(?:-|$)/.test(upstreamModel)
        ? native
        : bridged,
    chat.fault,
  );
};

/**
 * developers.openai.com/api/docs/guides/speech-to-text, 2026-08: whisper writes captions, its
 * successors count tokens and stream; a second that has begun is counted whole.
 */
export const transcribing = {
  writes: (model) =>
    /diarize/.test(model)
      ? ['json', 'text', 'diarized_json']
      : model.startsWith('gpt-')
        ? ['json', 'text']
        : ['json', 'text', 'srt', 'verbose_json', 'vtt'],
  streams: (model) => model.startsWith('gpt-'),
  wholeSeconds: true,
} satisfies TranscriptionQuirks;

/**
 * …/guides/text-to-speech, 2026-08: tts-1 is sold by the character, its successors by tokens, which
 * they report only in events.
 */
export const speaking = { counts: (model) => !model.startsWith('tts-') } satisfies SpeechQuirks;

/**
 * "string too long. Expected a string with maximum length 40": ids of other vendors' calls are
 * longer (openai-openapi.yaml; recorded xai-0057).
 */
export const callIds = { pattern: /^[^]{0,40}$/, length: 40 };

const chat = chatOrResponses(
  openaiChat({ takes: openaiChatSupport, toolIds: callIds }),
  chatOverResponses({ takes: openaiChatOverResponsesSupport }),
  functionsElsewhere,
  openaiChatSupport,
);

export const openai = defineVendor({
  id: 'openai',
  // Only the organization for which reasoning was sealed can open it.
  signsForAccount: true,
  baseUrl: 'https://api.openai.com/v1',
  consoleUrl: 'https://platform.openai.com',
  env: { apiKey: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
  // platform.openai.com/docs/guides/tools-web-search, 2026-08: models that search by themselves.
  readsBeyond: (model) => /search|deep-research/.test(model),
  adapters: {
    chat,
    responses: openaiResponses(nativeResponses),
    compact: responsesCompact(),
    completions: legacyCompletions(chat, openaiCompletions()),
    embeddings: openaiEmbeddings(),
    moderations: openaiModerations(),
    transcriptions: openaiTranscriptions(transcribing),
    translations: openaiTranscriptions({ ...transcribing, path: '/audio/translations' }),
    speech: openaiSpeech(speaking),
    ...forAllImageOperations(streamedImages(openaiEdits(gptImages), gptImages.faults)),
    images: streamedImages(openaiImages(gptImages), gptImages.faults),
    video: openAiVideos(),
  },
  counts: { responses: responsesCount() },
});
