import type { Dropped } from '../wire/openai-chat-quirks.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import { chatOverResponses } from '../wire/openai-responses-chat.ts';
import type { EffortFloor } from '../wire/openai-responses-chat-ask.ts';
import { responsesCompact, responsesCount } from '../wire/openai-responses-more.ts';
import { chatUnlessDemanded, type ResponsesDemand } from '../wire/openai-responses-demand.ts';
import { type NativeQuirks, openaiResponses } from '../wire/openai-responses.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { perCall } from '../wire/per-call.ts';
import type { Adapter } from '../adapter.ts';
import { completionsOverChat } from '../bridges/completions-over-chat.ts';
import { defineVendor } from '../vendor.ts';
import { gptImages, openaiEdits, openaiImages } from '../wire/images/openai.ts';
import { everyWay } from '../wire/images/ways.ts';
import { streamedImages } from '../wire/images/openai-stream.ts';
import { openaiSpeech, type SpeechQuirks } from '../wire/openai-speech.ts';
import { openaiTranscriptions, type TranscriptionQuirks } from '../wire/openai-transcriptions.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { openaiModerations } from '../wire/openai-moderations.ts';
import { openAiVideos } from '../wire/video/openai-videos.ts';

/** Reasoning models refuse sampling (developers.openai.com/api/docs/guides/reasoning, 2026-08): dropped, because `model` alone may change (row 62c). */
const sampling: readonly Dropped[] = [
  { member: 'temperature', but: 1 },
  { member: 'top_p', but: 1 },
  { member: 'presence_penalty', but: 0 },
  { member: 'frequency_penalty', but: 0 },
  { member: 'logprobs', but: false },
  { member: 'top_logprobs' },
  { member: 'logit_bias' },
];

const reasoning = /^(?:o[1-9]|gpt-(?:[5-9]|1\d)(?!\d))(?!.*-chat)/;

const thoughtless = /^(?:gpt-[34](?!\d)|chatgpt-|gpt-\d[\d.]*-chat)/;

/** Models that reason and what they refuse; Azure sells the same ones. From gpt-5.1 on sampling is accepted with effort `none` (same page). */
export const reasoningModels = [
  { models: reasoning, outputLimit: 'max_completion_tokens' },
  // Models that do not reason refuse to be told how much.
  { models: thoughtless, drop: [{ member: 'reasoning_effort' }] },
  { models: /^(?:o[1-9]|gpt-5(?:-(?!chat)|$))/, drop: sampling },
  { models: /^gpt-(?:5\.|(?:[6-9]|1\d)(?!\d))(?!.*-chat)/, drop: sampling, unlessEffort: 'none' },
] as const;

const neverSilent = /^gpt-6(?:-astra|\.1-sol|\.2-)/;

/**
 * From gpt-5.4 on functions are refused on chat while the model reasons: "To use function tools, use /v1/responses or set reasoning_effort to
 * 'none'." (public issues since 2026-05). gpt-5.4-mini does not reason unless asked to (recorded: chat calls, 200). Some models refuse `none`.
 */
export const functionsElsewhere: readonly ResponsesDemand[] = [
  { models: neverSilent },
  { models: /^gpt-5\.4-mini/, unlessEffort: 'none', defaultEffort: 'none' },
  {
    models: /^(?!gpt-5\.4-mini|.*-chat)gpt-(?:5\.(?:[4-9](?!\d)|[1-9]\d)|(?:[6-9]|1\d)(?!\d))/,
    unlessEffort: 'none',
  },
];

export const effortFloors: readonly EffortFloor[] = [
  { models: neverSilent, refused: ['none', 'minimal'], least: 'low' },
];

/** On `/responses` the same models refuse the same sampling, and their reasoning comes sealed when asked for. */
export const nativeResponses = {
  seals: reasoning,
  refusals: [
    { models: thoughtless, drop: [{ member: 'reasoning' }] },
    { models: /^(?:o[1-9]|gpt-5(?:-(?!chat)|$))/, drop: sampling },
    { models: /^gpt-(?:5\.|(?:[6-9]|1\d)(?!\d))(?!.*-chat)/, drop: sampling, unlessEffort: 'none' },
  ],
} satisfies NativeQuirks;

/**
 * Completions as they were before chat, for the few models that have nothing else (developers.openai.com/api/docs/models, 2026-08: announced to
 * end on 2026-09-28); all others refuse it with a 404. Azure's ids have no dot.
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

/** developers.openai.com/api/docs/guides/speech-to-text, 2026-08: whisper writes captions, its successors count tokens and stream; the second that has begun counts. */
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

/** …/guides/text-to-speech, 2026-08: tts-1 is sold by the character, its successors by tokens, which they tell in events alone. */
export const speaking = { counts: (model) => !model.startsWith('tts-') } satisfies SpeechQuirks;

const chat = chatUnlessDemanded(
  openaiChat({ models: reasoningModels }),
  chatOverResponses({ floors: effortFloors }),
  functionsElsewhere,
);

export const openai = defineVendor({
  id: 'openai',
  // Sealed reasoning opens for the organization alone that it was sealed for.
  signsForAccount: true,
  baseUrl: 'https://api.openai.com/v1',
  consoleUrl: 'https://platform.openai.com',
  env: { apiKey: 'OPENAI_API_KEY' },
  speaks: {
    chat,
    responses: openaiResponses(nativeResponses),
    compact: responsesCompact(),
    completions: legacyCompletions(chat, openaiCompletions()),
    embeddings: openaiEmbeddings(),
    moderations: openaiModerations(),
    transcriptions: openaiTranscriptions(transcribing),
    translations: openaiTranscriptions({ ...transcribing, path: '/audio/translations' }),
    speech: openaiSpeech(speaking),
    ...everyWay(streamedImages(openaiEdits(gptImages), gptImages.faults)),
    images: streamedImages(openaiImages(gptImages), gptImages.faults),
    video: openAiVideos(),
  },
  counts: { responses: responsesCount() },
});
