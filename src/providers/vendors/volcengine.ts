import type { WholeAdapter } from '../adapter.ts';
import { forAllImageOperations, wholePerCall } from '../formats/adapters.ts';
import { openaiEmbeddings, multimodalEmbeddings } from '../formats/embeddings/openai.ts';
import type { FaultRule } from '../formats/fault.ts';
import { seedream } from '../formats/images/seedream.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiResponses } from '../formats/openai-responses/adapter.ts';
import { seedanceVideo } from '../formats/video/seedance.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { code: /^AccountOverdueError$/, kind: 'quota' },
  { code: /^QuotaExceeded(\..*)?$/, kind: 'quota' },
  { code: /^(AuthenticationError|AccessDenied|OperationDenied(\..*)?)$/, kind: 'credentials' },
  { code: /^(InvalidEndpointOrModel|ModelNotOpen|InvalidEndpoint)(\..*)?$/, kind: 'unknown_model' },
  { code: /^ServerOverloaded$/, kind: 'overloaded' },
  {
    code: /^(RateLimitExceeded|ModelAccountRpmRateLimitExceeded|ModelAccountTpmRateLimitExceeded)(\..*)?$/,
    kind: 'rate_limited',
  },
  { code: /SensitiveContentDetected/, kind: 'content_policy' },
  { text: /exceed max message tokens/i, kind: 'context_length' },
];

const reference = 'volcengine.com/docs/82379/1494384, 2026-08';
const deepThinking = 'volcengine.com/docs/82379/1449737, 2026-08';

const takes: readonly SupportRow[] = [
  {
    source: reference,
    developer: 'system',
    messages: { assistant: ['reasoning_content', 'encrypted_content', 'function_call'] },
    tools: ['function'],
    toolsLack: toolHints,
    stops: 4,
    lacks: [...openaiOnlyExcept(), ...openrouterOnly, 'n', 'seed', 'user'],
  },
  {
    source: deepThinking,
    models: /seed/,
    effort: {
      takes: ['minimal', 'low', 'medium', 'high'],
      // At Volcengine `minimal` means no thinking at all.
      map: { minimal: 'low' },
      switch: { member: 'thinking', off: { type: 'disabled' } },
    },
  },
  // Models before 1.8 have only the switch.
  {
    source: deepThinking,
    models: /seed-1-6(?!-lite)/,
    effort: {
      takes: [],
      switch: { member: 'thinking', off: { type: 'disabled' }, on: { type: 'enabled' } },
    },
  },
];

const responsesTakes: readonly SupportRow[] = [
  {
    source: 'volcengine.com/docs/82379/1569618, 2026-08',
    lacks: [
      'client_metadata',
      'prompt_cache_key',
      'prompt_cache_retention',
      'prompt_cache_options',
      'safety_identifier',
      'user',
      'metadata',
      'text.verbosity',
    ],
  },
];

const byModel = (seeing: WholeAdapter, reading: WholeAdapter): WholeAdapter =>
  wholePerCall(
    ({ upstreamModel }) => (upstreamModel.includes('-vision') ? seeing : reading),
    reading,
  );

/** Ark: volcengine.com/docs/82379/1299023 (error codes), 2026-08. */
export const volcengine = defineVendor({
  id: 'volcengine',
  ownedBy: 'doubao',
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  consoleUrl: 'https://console.volcengine.com/ark',
  env: { apiKey: 'ARK_API_KEY' },
  adapters: {
    ...forAllImageOperations(seedream(faults)),
    chat: openaiChat({ takes, faults }),
    // volcengine.com/docs/82379/1521766, 2026-08: 256 texts at a time; models that read images have
    // an address of their own.
    embeddings: byModel(
      multimodalEmbeddings({ faults }),
      openaiEmbeddings({ inputsMax: 256, textOnly: true, faults }),
    ),
    // volcengine.com/docs/82379/1569618, 2026-08.
    responses: openaiResponses({ takes: responsesTakes, faults }),
    video: seedanceVideo({ faults }),
  },
});
