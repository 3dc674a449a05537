import { minimaxImages } from '../wire/images/minimax.ts';
import { openaiChat } from '../wire/openai-chat.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiResponses } from '../wire/openai-responses.ts';
import { minimaxVideo } from '../wire/video/hailuo.ts';
import { defineVendor } from '../vendor.ts';
import { minimaxSpeech } from '../wire/minimax-speech.ts';

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

/** platform.minimaxi.com/document/text-chat-openai and /document/error-codes, 2026-08. Errors come with status 200 in `base_resp`. */
export const minimax = defineVendor({
  id: 'minimax',
  baseUrl: 'https://api.minimaxi.com/v1',
  consoleUrl: 'https://platform.minimaxi.com',
  env: { apiKey: 'MINIMAX_API_KEY' },
  speaks: {
    chat: openaiChat({
      outputLimit: { name: 'max_completion_tokens', takesBoth: false },
      // Without `reasoning_split` the reasoning is in the text; with it, streams repeat the details from the beginning.
      thinkTags: true,
      cumulativeReasoning: true,
      faults,
    }),
    // Listed beside chat at platform.minimax.io/docs, 2026-08.
    responses: openaiResponses({ faults }),
    speech: minimaxSpeech(faults),
    images: minimaxImages(faults),
    video: minimaxVideo({ faults }),
  },
});
