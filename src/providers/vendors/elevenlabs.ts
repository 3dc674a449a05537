import { defineVendor } from '../vendor.ts';
import { elevenlabsSpeech, elevenlabsTranscriptions } from '../formats/audio/elevenlabs.ts';

export const elevenlabs = defineVendor({
  id: 'elevenlabs',
  baseUrl: 'https://api.elevenlabs.io/v1',
  consoleUrl: 'https://elevenlabs.io/app',
  env: { apiKey: 'ELEVENLABS_API_KEY' },
  sign: (secret) => (secret ? { 'xi-api-key': secret } : {}),
  adapters: { transcriptions: elevenlabsTranscriptions, speech: elevenlabsSpeech },
});
