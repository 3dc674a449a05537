import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';
import { openaiEmbeddings } from '../wire/openai-embeddings.ts';

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

/** cloud.tencent.com/document/product/1729/111007 and /1729/97732 (error codes in Tencent Cloud's style), 2026-08. */
export const hunyuan = defineVendor({
  id: 'hunyuan',
  baseUrl: 'https://api.hunyuan.cloud.tencent.com/v1',
  consoleUrl: 'https://console.cloud.tencent.com/hunyuan',
  env: { apiKey: 'HUNYUAN_API_KEY' },
  speaks: {
    chat: openaiChat({
      outputLimit: { name: 'max_tokens', takesBoth: false },
      faults,
    }),
    // cloud.tencent.com/document/product/1729/111007, 2026-08: 200 texts at a time; neither encodings nor dimensions to choose from.
    embeddings: openaiEmbeddings({
      inputsMax: 200,
      textOnly: true,
      drop: [{ member: 'encoding_format' }],
      faults,
    }),
  },
});
