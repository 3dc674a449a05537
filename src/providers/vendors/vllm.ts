import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { openaiCompletions } from '../formats/openai-completions/adapter.ts';
import { defineVendor, pathUnderV1 } from '../vendor.ts';
import { openaiTranscriptions, type TranscriptionQuirks } from '../formats/audio/openai.ts';
import { openaiEmbeddings } from '../formats/embeddings/openai.ts';
import { rerank } from '../formats/rerank.ts';
import type { SupportRow } from '../support/rows.ts';

const takes: readonly SupportRow[] = [
  {
    source: 'docs.vllm.ai/en/stable/serving/openai_compatible_server, 2026-08',
    // The roles depend on the model's template; many know no `developer` ("Unexpected message
    // role.", public issues, 2026-06).
    developer: 'system',
    messages: { assistant: ['reasoning_content', 'reasoning', 'refusal'] },
  },
];

/**
 * docs.vllm.ai/en/stable/serving/openai_compatible_server/#transcriptions-api, 2026-08: its events
 * are those of chat, and are not requested.
 */
const transcribing: TranscriptionQuirks = {
  writes: () => ['json', 'text', 'verbose_json'],
  timedBy: 'verbose_json',
};

/**
 * docs.vllm.ai/en/stable/serving/openai_compatible_server, 2026-08. Without a reasoning parser the
 * reasoning is in the text, between tags.
 */
export const vllm = defineVendor({
  id: 'vllm',
  baseUrl: 'http://127.0.0.1:8000/v1',
  env: { apiKey: 'VLLM_API_KEY', baseUrl: 'VLLM_BASE_URL' },
  pathFor: pathUnderV1,
  adapters: {
    // A self-hosted server would fetch addresses inside its own network.
    chat: openaiChat({ takes, thinkTags: true, readsAddresses: [] }),
    completions: openaiCompletions(),
    embeddings: openaiEmbeddings(),
    rerank: rerank(),
    transcriptions: openaiTranscriptions(transcribing),
    translations: openaiTranscriptions({ ...transcribing, path: '/audio/translations' }),
  },
});
