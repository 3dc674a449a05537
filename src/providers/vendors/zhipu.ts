import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { cogView } from '../wire/images/cogview.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import { cogVideo } from '../wire/video/cogvideo.ts';
import { defineVendor } from '../vendor.ts';
import { openaiSpeech } from '../wire/openai-speech.ts';
import { openaiTranscriptions } from '../wire/openai-transcriptions.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { rerank } from '../wire/rerank.ts';

const faults: readonly FaultRule[] = [
  { code: /^100[0-4]$/, kind: 'credentials' },
  { code: /^(111[0-3]|1308|1309)$/, kind: 'quota' },
  { code: /^(1211|1220|1221|1222)$/, kind: 'unknown_model' },
  { code: /^1261$/, kind: 'context_length' },
  { code: /^1301$/, kind: 'content_policy' },
  { code: /^(1302|1303|1304|1305)$/, kind: 'rate_limited' },
  { code: /^(1312|1230|1234)$/, kind: 'overloaded' },
  { code: /^121[0-5]$/, kind: 'bad_request' },
];

/** docs.bigmodel.cn/cn/api/api-code, 2026-08: codes are numbers written as strings, whatever the status. */
export const zhipu = defineVendor({
  id: 'zhipu',
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  consoleUrl: 'https://open.bigmodel.cn',
  env: { apiKey: 'ZHIPU_API_KEY' },
  speaks: {
    chat: openaiChat({
      developers: false, // "[1214] Incorrect role information" (public issues, 2026-09)
      outputLimit: { name: 'max_tokens', takesBoth: false },
      faults,
    }),
    // docs.bigmodel.cn/api-reference, 2026-08: embedding-3 and rerank
    embeddings: openaiEmbeddings({
      inputsMax: 64,
      textOnly: true,
      drop: [{ member: 'encoding_format' }, { member: 'user' }],
      faults,
    }),
    rerank: rerank({ faults }),
    // docs.bigmodel.cn/api-reference, 2026-08: glm-asr writes a text alone, glm-tts makes WAV.
    transcriptions: openaiTranscriptions({
      writes: () => ['json', 'text'],
      fields: () => [],
      faults,
    }),
    speech: openaiSpeech({
      makes: ['wav', 'pcm'],
      usualVoice: 'tongtong',
      drop: ['instructions'],
      faults,
    }),
    images: cogView(faults),
    video: cogVideo({ faults }),
  },
});
