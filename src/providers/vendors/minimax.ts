import { minimaxSpeech } from '../formats/audio/minimax.ts';
import type { FaultRule } from '../formats/fault.ts';
import { minimaxImages } from '../formats/images/minimax.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiResponses } from '../formats/openai-responses/adapter.ts';
import { minimaxVideo } from '../formats/video/hailuo.ts';
import type { SupportRow } from '../support/rows.ts';
import { openaiOnlyExcept, openrouterOnly, toolHints } from '../support/unsupported.ts';
import { defineVendor } from '../vendor.ts';

const faults: readonly FaultRule[] = [
  { code: /^(1004|2049)$/, kind: 'credentials' },
  { code: /^1008$/, kind: 'quota' },
  { code: /^(1002|1039|1041|2045)$/, kind: 'rate_limited' },
  { code: /^(1026|1027)$/, kind: 'content_policy' },
  { code: /^2013$/, text: /context|token/i, kind: 'context_length' },
  { code: /^(2013|1042|20132)$/, kind: 'bad_request' },
  { code: /^1001$/, kind: 'timeout' },
  { code: /^(1000|1013|1024|1033)$/, kind: 'server_error' },
];

const reference = 'platform.minimaxi.com/document/text-chat-openai, 2026-08';
const responsesReference = 'platform.minimax.io/docs, 2026-08';

const takes: readonly SupportRow[] = [
  {
    source: reference,
    limit: { name: 'max_completion_tokens', takesBoth: false },
    developer: 'system',
    messages: { assistant: ['reasoning_content', 'reasoning_details'] },
    tools: ['function'],
    toolsLack: toolHints,
    // There is no `tool_choice` on the page, and no schema.
    forced: 'words',
    lacksChoice: true,
    lacksNone: true,
    schema: 'words',
    stops: 4,
    // "range (0.0, 1.0] … values outside this range return an error".
    members: { temperature: { within: [0.01, 1] } },
    lacks: [
      ...openaiOnlyExcept(),
      ...openrouterOnly,
      'n',
      'logprobs',
      'top_logprobs',
      'user',
      'parallel_tool_calls',
    ],
    // The M2 models always think.
    effort: { takes: [] },
  },
  {
    source: reference,
    models: /^MiniMax-M[3-9]/i,
    effort: {
      takes: [],
      switch: { member: 'thinking', off: { type: 'disabled' }, on: { type: 'adaptive' } },
    },
  },
];

const responsesTakes: readonly SupportRow[] = [
  {
    source: responsesReference,
    lacks: [
      'client_metadata',
      'prompt_cache_key',
      'prompt_cache_retention',
      'prompt_cache_options',
      'safety_identifier',
      'text.verbosity',
    ],
  },
];

/**
 * platform.minimaxi.com/document/text-chat-openai and /document/error-codes, 2026-08. Errors come
 * with status 200 in `base_resp`.
 */
export const minimax = defineVendor({
  id: 'minimax',
  baseUrl: 'https://api.minimaxi.com/v1',
  consoleUrl: 'https://platform.minimaxi.com',
  env: { apiKey: 'MINIMAX_API_KEY' },
  adapters: {
    chat: openaiChat({
      takes,
      // Without `reasoning_split` the reasoning is in the text; with it, streams repeat the details
      // from the beginning.
      thinkTags: true,
      cumulativeReasoning: true,
      faults,
    }),
    // Listed beside chat at platform.minimax.io/docs, 2026-08.
    responses: openaiResponses({ takes: responsesTakes, faults }),
    speech: minimaxSpeech(faults),
    images: minimaxImages(faults),
    video: minimaxVideo({ faults }),
  },
});
