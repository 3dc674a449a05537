import { countsOverChat } from '../bridges/index.ts';
import { geminiChat, geminiCount } from '../formats/gemini/adapter.ts';
import { geminiNative, geminiNativeCount } from '../formats/gemini/native.ts';
import { geminiNativeEmbeddings } from '../formats/gemini/native-embeddings.ts';
import { geminiImages } from '../formats/images/gemini.ts';
import { forAllImageOperations } from '../formats/adapters.ts';
import { geminiVideo } from '../formats/video/veo.ts';
import { defineVendor, secretIn } from '../vendor.ts';
import { geminiSpeech } from '../formats/audio/gemini.ts';
import { geminiEmbeddings } from '../formats/embeddings/gemini.ts';

export const gemini = defineVendor({
  id: 'gemini',
  provider: 'gcp.gemini',
  ownedBy: 'google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  // Pages of at most 1,000 (ai.google.dev/api/models, 2026-11).
  models: { path: '/models?pageSize=1000' },
  consoleUrl: 'https://aistudio.google.com',
  env: { apiKey: 'GEMINI_API_KEY', baseUrl: 'GEMINI_BASE_URL' },
  sign: secretIn('x-goog-api-key'),
  adapters: {
    chat: geminiChat,
    generate_content: geminiNative,
    speech: geminiSpeech,
    embeddings: geminiEmbeddings,
    embed_content: geminiNativeEmbeddings,
    ...forAllImageOperations(geminiImages),
    video: geminiVideo,
  },
  counts: { ...countsOverChat(geminiCount), generate_content: geminiNativeCount },
});
