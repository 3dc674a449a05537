import { defineVendor, secretIn } from '../vendor.ts';
import { elevenlabsSpeech, elevenlabsTranscriptions } from '../formats/audio/elevenlabs.ts';

export const elevenlabs = defineVendor({
  id: 'elevenlabs',
  baseUrl: 'https://api.elevenlabs.io/v1',
  consoleUrl: 'https://elevenlabs.io/app',
  env: { apiKey: 'ELEVENLABS_API_KEY' },
  sign: secretIn('xi-api-key'),
  adapters: { transcriptions: elevenlabsTranscriptions, speech: elevenlabsSpeech },
});
