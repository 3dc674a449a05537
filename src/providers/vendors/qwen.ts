import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import { dashscopeImages } from '../wire/images/dashscope.ts';
import { dashscopeTasks } from '../wire/images/dashscope-tasks.ts';
import { everyWay, perModel } from '../wire/images/ways.ts';
import { wanVideo } from '../wire/video/wan.ts';
import { defineVendor } from '../vendor.ts';
import { qwenSpeech, qwenTranscriptions } from '../wire/qwen-sound.ts';
import { numbersOnly, openaiEmbeddings } from '../wire/openai-embeddings.ts';

const faults: readonly FaultRule[] = [
  { code: /^Arrearage$/i, kind: 'quota' },
  { code: /^(invalid_api_key|InvalidApiKey|AccessDenied(\..*)?)$/, kind: 'credentials' },
  { code: /^(data_inspection_failed|DataInspectionFailed)$/, kind: 'content_policy' },
  { code: /^(limit_requests|limit_burst_rate|Throttling(\..*)?)$/, kind: 'rate_limited' },
  { code: /^(model_not_found|ModelNotFound)$/, kind: 'unknown_model' },
  { status: 400, text: /Range of input length/i, kind: 'context_length' },
];

const [atOnce, later] = [dashscopeImages(faults), dashscopeTasks(faults)];

/** Wan's pictures before 2.6 are tasks (help.aliyun.com/zh/model-studio/text-to-image-v2-api-reference, 2026-08). */
const images = perModel(
  ({ upstreamModel }) => (/^(?:wanx|wan2\.[0-5])/.test(upstreamModel) ? later : atOnce),
  atOnce.fault,
);

/** Alibaba's Model Studio: help.aliyun.com/zh/model-studio/error-code and alibabacloud notice 724 (`max_tokens` deprecated 2026-05-30, still read). */
export const qwen = defineVendor({
  id: 'qwen',
  baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  consoleUrl: 'https://bailian.console.aliyun.com',
  env: { apiKey: 'DASHSCOPE_API_KEY' },
  speaks: {
    // "developer is not one of ['system', 'assistant', 'user', 'tool', 'function']" (public issues, 2026-03).
    chat: openaiChat({ developers: false, faults }),
    // help.aliyun.com/zh/model-studio/text-embedding-synchronous-api, 2026-08
    transcriptions: qwenTranscriptions(faults),
    speech: qwenSpeech(faults),
    embeddings: openaiEmbeddings({ inputsMax: 10, textOnly: true, drop: numbersOnly, faults }),
    ...everyWay(images),
    video: wanVideo({ faults }),
  },
});
