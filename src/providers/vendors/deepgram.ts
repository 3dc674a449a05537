import { defineVendor, secretIn } from '../vendor.ts';
import { deepgramSpeech, deepgramTranscriptions } from '../formats/audio/deepgram.ts';

export const deepgram = defineVendor({
  id: 'deepgram',
  baseUrl: 'https://api.deepgram.com/v1',
  consoleUrl: 'https://console.deepgram.com',
  env: { apiKey: 'DEEPGRAM_API_KEY' },
  sign: secretIn('authorization', 'Token '),
  adapters: { transcriptions: deepgramTranscriptions, speech: deepgramSpeech },
});
