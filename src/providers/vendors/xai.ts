import { openaiChat } from '../wire/openai-chat.ts';
import { everyWay } from '../wire/images/ways.ts';
import { xaiEdits, xaiImages } from '../wire/images/xai.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';
import { openaiResponses } from '../wire/openai-responses.ts';
import { xaiVideo } from '../wire/video/xai.ts';
import { defineVendor } from '../vendor.ts';
import { xaiSpeech, xaiTranscriptions } from '../wire/xai-sound.ts';

const faults: readonly FaultRule[] = [
  { status: 400, text: /incorrect api key/i, kind: 'credentials' },
  // The status and the code are those of a forbidden key; only the words tell them apart (seen by clients since 2025-08).
  { status: 403, text: /violates usage guidelines/i, kind: 'content_policy' },
  { status: 400, text: /maximum prompt length/i, kind: 'context_length' },
  { text: /used all available credits|spending limit/i, kind: 'quota' },
];

/** docs.x.ai/docs/api-reference, 2026-08. Errors are strings beside a code; a wrong key is a 400 (recorded 2026-08). */
export const xai = defineVendor({
  id: 'xai',
  provider: 'x_ai',
  baseUrl: 'https://api.x.ai/v1',
  consoleUrl: 'https://console.x.ai',
  env: { apiKey: 'XAI_API_KEY' },
  speaks: {
    ...everyWay(xaiEdits(faults)),
    images: xaiImages(faults),
    chat: openaiChat({ faults }),
    // Its main interface since 2026 (docs.x.ai/docs/guides/chat, 2026-08).
    responses: openaiResponses({ faults, seals: /^grok-(?:4|[5-9])/ }),
    transcriptions: xaiTranscriptions(faults),
    speech: xaiSpeech(faults),
    video: xaiVideo({ faults }),
  },
});
