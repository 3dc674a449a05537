import { openaiChat } from '../wire/openai-chat.ts';
import { defineVendor } from '../vendor.ts';
import { openaiSpeech } from '../wire/openai-speech.ts';
import { openaiTranscriptions, type TranscriptionQuirks } from '../wire/openai-transcriptions.ts';
import type { FaultRule } from '../wire/openai-chat-quirks.ts';

const faults: readonly FaultRule[] = [
  { code: /^tool_use_failed$/, kind: 'bad_request' },
  { status: 413, kind: 'context_length' },
  { status: 498, kind: 'overloaded' },
];

/** console.groq.com/docs/speech-to-text, 2026-08: no captions, but segments to make them of; no events. */
const whisper: TranscriptionQuirks = {
  writes: () => ['json', 'text', 'verbose_json'],
  timedBy: 'verbose_json',
  faults,
};

/** console.groq.com/docs/api-reference and /docs/errors, 2026-08. */
export const groq = defineVendor({
  id: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  consoleUrl: 'https://console.groq.com',
  env: { apiKey: 'GROQ_API_KEY' },
  speaks: {
    chat: openaiChat({
      // console.groq.com/docs/reasoning, 2026-08: other models do not reason and refuse to be told how much.
      models: [{ models: /^(?!openai\/gpt-oss|qwen)/, drop: [{ member: 'reasoning_effort' }] }],
      faults,
    }),
    transcriptions: openaiTranscriptions(whisper),
    translations: openaiTranscriptions({ ...whisper, path: '/audio/translations' }),
    // console.groq.com/docs/text-to-speech/orpheus, 2026-08: WAV alone
    speech: openaiSpeech({ makes: ['wav'], usualVoice: 'autumn', drop: ['instructions'], faults }),
  },
});
