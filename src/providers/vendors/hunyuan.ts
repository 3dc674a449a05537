import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { code: /^(AuthFailure|UnauthorizedOperation)(\..*)?$/, kind: 'credentials' },
  {
    code: /^(ResourceInsufficient|FailedOperation\.(ResourcePackExhausted|UserUnAuthError|ServiceNotActivated|ServiceStop.*))$/,
    kind: 'quota',
  },
  { code: /^(LimitExceeded|RequestLimitExceeded)(\..*)?$/, kind: 'rate_limited' },
  {
    code: /^(OperationDenied\.)?(TextIllegalDetected|ImageIllegalDetected)$/,
    kind: 'content_policy',
  },
  { code: /^FailedOperation\.EngineServer(Limit|Error).*$/, kind: 'overloaded' },
];

const reference = 'cloud.tencent.com/document/product/1729/111007, 2026-08';

const takes: readonly SupportRow[] = [
  {
    source: reference,
    limit: { name: 'max_tokens', takesBoth: false },
    closed: true,
    // Roles are system, user, assistant and tool.
    developer: 'system',
    messages: { lacks: { assistant: ['name'] }, assistant: ['reasoning_content'] },
    tools: ['function'],
    toolsLack: toolHints,
    schema: 'words',
    stops: 16,
    lacks: [
      ...openaiOnlyExcept(),
      ...openrouterOnly,
      'n',
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'parallel_tool_calls',
      'user',
    ],
    effort: { takes: [], usual: 'none' },
  },
  { source: reference, models: /^hunyuan-t1/, effort: { takes: [] } },
  {
    source: reference,
    models: /^(?:hy\d|hunyuan-a13b)/,
    effort: { takes: [], switch: { member: 'enable_thinking', off: false, on: true } },
  },
];

/**
 * cloud.tencent.com/document/product/1729/111007 and /1729/97732 (error codes in Tencent Cloud's
 * style), 2026-08.
 */
export const hunyuan = defineVendor({
  id: 'hunyuan',
  baseUrl: 'https://api.hunyuan.cloud.tencent.com/v1',
  consoleUrl: 'https://console.cloud.tencent.com/hunyuan',
  env: { apiKey: 'HUNYUAN_API_KEY' },
  adapters: {
    // "messages 中 system 角色必须位于列表的最开始", "user 和 assistant 角色需交替出现" (1729/111007).
    chat: openaiChat({ takes, alternates: true, faults }),
    // cloud.tencent.com/document/product/1729/111007, 2026-08: 200 texts at a time; neither
    // encodings nor dimensions to choose from.
    embeddings: openaiEmbeddings({
      inputsMax: 200,
      textOnly: true,
      drop: [{ member: 'encoding_format' }],
      faults,
    }),
  },
});
