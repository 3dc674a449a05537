import { countsOverChat } from '../bridges/count-over-chat.ts';
import { geminiChat } from '../wire/gemini.ts';
import { geminiCount } from '../wire/gemini-count.ts';
import { geminiImages } from '../wire/images/gemini.ts';
import { everyWay } from '../wire/images/ways.ts';
import { geminiVideo } from '../wire/video/veo.ts';
import { defineVendor } from '../vendor.ts';
import { geminiSpeech } from '../wire/gemini-speech.ts';
import { geminiEmbeddings } from '../wire/gemini-embeddings.ts';

export const gemini = defineVendor({
  id: 'gemini',
  provider: 'gcp.gemini',
  ownedBy: 'google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  consoleUrl: 'https://aistudio.google.com',
  env: { apiKey: 'GEMINI_API_KEY', baseUrl: 'GEMINI_BASE_URL' },
  sign: (secret) => (secret ? { 'x-goog-api-key': secret } : {}),
  speaks: {
    chat: geminiChat,
    speech: geminiSpeech,
    embeddings: geminiEmbeddings,
    ...everyWay(geminiImages),
    video: geminiVideo,
  },
  counts: countsOverChat(geminiCount),
});
