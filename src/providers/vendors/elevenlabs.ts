import { defineVendor } from '../vendor.ts';
import { elevenlabsSpeech, elevenlabsTranscriptions } from '../wire/elevenlabs.ts';

export const elevenlabs = defineVendor({
  id: 'elevenlabs',
  baseUrl: 'https://api.elevenlabs.io/v1',
  consoleUrl: 'https://elevenlabs.io/app',
  env: { apiKey: 'ELEVENLABS_API_KEY' },
  sign: (secret) => (secret ? { 'xi-api-key': secret } : {}),
  speaks: { transcriptions: elevenlabsTranscriptions, speech: elevenlabsSpeech },
});
