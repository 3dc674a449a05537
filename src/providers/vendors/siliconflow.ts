import { forAllImageOperations } from '../formats/adapters.ts';
import { openaiSpeech, openaiTranscriptions } from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { siliconflowImages } from '../formats/images/hosts.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { rerank } from '../formats/rerank.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { code: /^(30001|30011)$/, kind: 'quota' },
  { code: /^20012$/, kind: 'unknown_model' },
  { code: /^(50603|50505)$/, kind: 'overloaded' },
  { code: /^20015$/, text: /length|max_seq_len|token/i, kind: 'context_length' },
];

const takes: readonly SupportRow[] = [
  {
    source: 'docs.siliconflow.cn/cn/api-reference/chat-completions, 2026-08',
    limit: { name: 'max_tokens', takesBoth: false },
    developer: 'system',
    messages: { assistant: ['reasoning_content'], prefix: 'prefix' },
    tools: ['function'],
    toolsLack: toolHints,
    stops: 4,
    schema: 'object',
    lacks: [
      ...openaiOnlyExcept(),
      ...openrouterOnly,
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'user',
      'parallel_tool_calls',
    ],
    effort: { takes: [], switch: { member: 'enable_thinking', off: false, on: true } },
  },
  // These models think always, or never: "Value error, current model does not support parameter
  // `enable_thinking`".
  {
    source: 'docs.siliconflow.cn/cn/api-reference/chat-completions, 2026-08',
    models:
      /^(?!.*(?:Qwen3|Hunyuan-A13B|GLM-4\.[5-9]|GLM-5|DeepSeek-V3\.[1-9]|DeepSeek-V4))|Instruct|Thinking|Coder/i,
    effort: { takes: [], usual: 'none' },
  },
];

/**
 * docs.siliconflow.cn/cn/api-reference/chat-completions and /cn/faqs/error-code, 2026-08. Codes are
 * numbers beside a message.
 */
export const siliconflow = defineVendor({
  id: 'siliconflow',
  baseUrl: 'https://api.siliconflow.cn/v1',
  consoleUrl: 'https://cloud.siliconflow.cn',
  env: { apiKey: 'SILICONFLOW_API_KEY' },
  adapters: {
    ...forAllImageOperations(siliconflowImages(faults)),
    chat: openaiChat({ takes, faults }),
    // docs.siliconflow.cn/cn/userguide/guides/fim, 2026-08
    completions: openaiCompletions({ onePrompt: true, faults }),
    // docs.siliconflow.cn/cn/api-reference/embeddings and /rerank, 2026-08: 32 texts at a time.
    embeddings: openaiEmbeddings({ inputsMax: 32, textOnly: true, faults }),
    rerank: rerank({ faults }),
    // docs.siliconflow.cn/cn/api-reference/audio, 2026-08: the request has a file and a model, the
    // answer only a text.
    transcriptions: openaiTranscriptions({
      writes: () => ['json', 'text'],
      fields: () => [],
      faults,
    }),
    speech: openaiSpeech({ makes: ['mp3', 'opus', 'wav', 'pcm'], drop: ['instructions'], faults }),
  },
});
