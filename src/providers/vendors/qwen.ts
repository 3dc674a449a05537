import { forAllImageOperations, picturesPerCall } from '../formats/adapters.ts';
import { qwenSpeech, qwenTranscriptions } from '../formats/audio/qwen.ts';
import { numbersOnly, openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { dashscopeImages, dashscopeTasks } from '../formats/images/dashscope.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { wanVideo } from '../formats/video/wan.ts';
import type { SupportRow, ThinkingSwitch } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { code: /^Arrearage$/i, kind: 'quota' },
  { code: /^(invalid_api_key|InvalidApiKey|AccessDenied(\..*)?)$/, kind: 'credentials' },
  { code: /^(data_inspection_failed|DataInspectionFailed)$/, kind: 'content_policy' },
  { code: /^(limit_requests|limit_burst_rate|Throttling(\..*)?)$/, kind: 'rate_limited' },
  { code: /^(model_not_found|ModelNotFound)$/, kind: 'unknown_model' },
  { status: 400, text: /Range of input length/i, kind: 'context_length' },
];

const reference = 'help.aliyun.com/zh/model-studio/use-qwen-by-calling-api, 2026-08';
const deepThinking = 'help.aliyun.com/zh/model-studio/deep-thinking, 2026-08';
const thinking: ThinkingSwitch = {
  member: 'enable_thinking',
  off: false,
  on: true,
  budget: { member: 'thinking_budget', tokens: { minimal: 1_024, low: 2_048, medium: 8_192 } },
};

const takes: readonly SupportRow[] = [
  {
    source: reference,
    // "developer is not one of ['system', 'assistant', 'user', 'tool', 'function']" (public issues,
    // 2026-03).
    developer: 'system',
    messages: { assistant: ['reasoning_content'], prefix: 'partial' },
    tools: ['function'],
    // `tool_choice` is auto, none or a tool's name.
    forced: 'named',
    members: { temperature: { within: [0, 1.99] } }, // "[0, 2)"
    lacks: [...openaiOnlyExcept('modalities', 'audio'), ...openrouterOnly, 'user'],
  },
  { source: deepThinking, effort: { takes: [], usual: 'none' } },
  // Models that think only when a request turns thinking on.
  {
    source: deepThinking,
    models: /^qwen(?:-(?:plus|turbo|flash)|3-(?:max|vl-|omni-))/,
    effort: { takes: [], usual: 'none', switch: thinking },
  },
  // Models that think unless a request turns thinking off.
  {
    source: deepThinking,
    models: /^qwen3(?:\.\d+-|-\d+b)(?!.*(?:instruct|coder))/,
    effort: { takes: [], switch: thinking },
  },
  { source: deepThinking, models: /^(?:qwq|qvq)|-thinking/, effort: { takes: [] } },
  // "tool_choice … does not support being set to required or object in thinking mode" (same page).
  { source: deepThinking, while: 'reasoning', forced: 'silent' },
  // The word "json" has to be in the prompt, and a schema is none of the two types
  // (help.aliyun.com/zh/model-studio/json-mode, 2026-08).
  { source: 'help.aliyun.com/zh/model-studio/json-mode, 2026-08', schema: 'object' },
  // "Json mode response is not supported when enable_thinking is true".
  {
    source: 'help.aliyun.com/zh/model-studio/json-mode, 2026-08',
    while: 'reasoning',
    schema: 'words',
  },
];

const [atOnce, later] = [dashscopeImages(faults), dashscopeTasks(faults)];

/**
 * Wan's image models before 2.6 answer with a task
 * (help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference, 2026-08).
 */
const images = picturesPerCall(
  ({ upstreamModel }) => (/^(?:wanx|wan2\.[0-5])/.test(upstreamModel) ? later : atOnce),
  atOnce.fault,
);

/**
 * Alibaba's Model Studio: help.aliyun.com/zh/model-studio/error-code and alibabacloud notice 724
 * (`max_tokens` deprecated 2026-05-30, still read).
 */
export const qwen = defineVendor({
  id: 'qwen',
  baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  consoleUrl: 'https://bailian.console.aliyun.com',
  env: { apiKey: 'DASHSCOPE_API_KEY' },
  adapters: {
    chat: openaiChat({ takes, faults }),
    // help.aliyun.com/zh/model-studio/text-embedding-synchronous-api, 2026-08
    transcriptions: qwenTranscriptions(faults),
    speech: qwenSpeech(faults),
    embeddings: openaiEmbeddings({ inputsMax: 10, textOnly: true, drop: numbersOnly, faults }),
    ...forAllImageOperations(images),
    video: wanVideo({ faults }),
  },
});
