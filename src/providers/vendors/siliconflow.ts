import { openaiChat } from '../wire/openai-chat.ts';
import { everyWay } from '../wire/images/ways.ts';
import { siliconflowImages } from '../wire/images/hosts.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiCompletions } from '../wire/openai-completions.ts';
import { defineVendor } from '../vendor.ts';
import { openaiSpeech } from '../wire/openai-speech.ts';
import { openaiTranscriptions } from '../wire/openai-transcriptions.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';
import { rerank } from '../wire/rerank.ts';

const faults: readonly FaultRule[] = [
  { code: /^(30001|30011)$/, kind: 'quota' },
  { code: /^20012$/, kind: 'unknown_model' },
  { code: /^(50603|50505)$/, kind: 'overloaded' },
  { code: /^20015$/, text: /length|max_seq_len|token/i, kind: 'context_length' },
];

/** docs.siliconflow.cn/cn/api-reference/chat-completions and /cn/faqs/error-code, 2026-08. Codes are numbers beside a message. */
export const siliconflow = defineVendor({
  id: 'siliconflow',
  baseUrl: 'https://api.siliconflow.cn/v1',
  consoleUrl: 'https://cloud.siliconflow.cn',
  env: { apiKey: 'SILICONFLOW_API_KEY' },
  speaks: {
    ...everyWay(siliconflowImages(faults)),
    chat: openaiChat({
      outputLimit: { name: 'max_tokens', takesBoth: false },
      faults,
    }),
    // docs.siliconflow.cn/cn/userguide/guides/fim, 2026-08
    completions: openaiCompletions({ onePrompt: true, faults }),
    // docs.siliconflow.cn/cn/api-reference/embeddings and /rerank, 2026-08: 32 texts at a time.
    embeddings: openaiEmbeddings({ inputsMax: 32, textOnly: true, faults }),
    rerank: rerank({ faults }),
    // docs.siliconflow.cn/cn/api-reference/audio, 2026-08: a file and a model, and a text alone.
    transcriptions: openaiTranscriptions({
      writes: () => ['json', 'text'],
      fields: () => [],
      faults,
    }),
    speech: openaiSpeech({ makes: ['mp3', 'opus', 'wav', 'pcm'], drop: ['instructions'], faults }),
  },
});
