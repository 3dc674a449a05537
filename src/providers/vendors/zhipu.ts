import { openaiSpeech, openaiTranscriptions } from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { cogView } from '../formats/images/hosts.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { rerank } from '../formats/rerank.ts';
import { cogVideo } from '../formats/video/cogvideo.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

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

const reference = 'docs.bigmodel.cn/api-reference, 2026-08';

const takes: readonly SupportRow[] = [
  {
    source: reference,
    developer: 'system', // "[1214] Incorrect role information" (public issues, 2026-09)
    limit: { name: 'max_tokens', takesBoth: false },
    closed: true,
    // `tool_choice` is `auto` on the page; a named tool was recorded, and is called.
    forced: 'required',
    lacksNone: true,
    schema: 'object',
    tools: ['function', 'web_search', 'retrieval', 'mcp'],
    toolsLack: toolHints,
    stops: 1,
    members: { temperature: { within: [0, 1] } },
    messages: {
      assistant: ['reasoning_content'],
      lacks: { assistant: ['name'] },
      documents: { instead: 'text, image, video' },
    },
    lacks: [
      ...openaiOnlyExcept(),
      ...openrouterOnly,
      'include_reasoning',
      'reasoning_format',
      'n',
      'logprobs',
      'top_logprobs',
      'user',
      'parallel_tool_calls',
      'logit_bias',
      'presence_penalty',
      'frequency_penalty',
    ],
    effort: { takes: [], usual: 'none' },
  },
  {
    // The effort has an effect from 5.2 on, and is ignored before (recorded 2026-03: glm-4.7-flash,
    // 200).
    source: reference,
    models: /^glm-(?:4\.[5-9]|[5-9])/,
    effort: {
      takes: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      switch: { member: 'thinking', off: { type: 'disabled' } },
    },
  },
];

/**
 * docs.bigmodel.cn/cn/api/api-code, 2026-08: codes are numbers written as strings, whatever the
 * status.
 */
export const zhipu = defineVendor({
  id: 'zhipu',
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  consoleUrl: 'https://open.bigmodel.cn',
  env: { apiKey: 'ZHIPU_API_KEY' },
  adapters: {
    chat: openaiChat({ takes, faults }),
    // docs.bigmodel.cn/api-reference, 2026-08: embedding-3 and rerank
    embeddings: openaiEmbeddings({
      inputsMax: 64,
      textOnly: true,
      drop: [{ member: 'encoding_format' }, { member: 'user' }],
      faults,
    }),
    rerank: rerank({ faults }),
    // docs.bigmodel.cn/api-reference, 2026-08: glm-asr writes only a text, glm-tts makes WAV.
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
