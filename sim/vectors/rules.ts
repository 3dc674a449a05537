import type { EmbeddingRules } from './embeddings.ts';
import { mistralModeration, type ModerationRules, openAiModeration } from './moderations.ts';
import type { RerankRules } from './rerank.ts';

/** A vendor's endpoints other than chat. */
export interface VectorRules {
  readonly embeddings?: EmbeddingRules;
  readonly moderations?: ModerationRules;
  readonly rerank?: RerankRules;
}

const members = (names: string): readonly string[] => names.split(' ');
const both = { member: 'encoding_format', known: ['float', 'base64'] };
const numbers = { member: 'encoding_format', known: ['float'] };
const tokensUsage = (tokens: number) => ({
  usage: { prompt_tokens: tokens, total_tokens: tokens },
});

/** CreateEmbeddingRequest of the OpenAPI description, 2026-08-21. */
const openAi: EmbeddingRules = {
  inputsMax: 2_048,
  tokens: true,
  only: members('input model encoding_format dimensions user'),
  encodings: both,
};

export const vectorRules: Readonly<Record<string, VectorRules>> = {
  openai: { embeddings: openAi, moderations: openAiModeration },
  azure: { embeddings: { ...openAi, only: [...(openAi.only ?? []), 'input_type'] } },
  // docs.mistral.ai/api, 2026-08: it refuses unknown members
  mistral: {
    embeddings: {
      inputsMax: 16_384,
      only: members('model metadata input output_dimension output_dtype encoding_format'),
      encodings: both,
      dimensions: 'output_dimension',
      usage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 }),
    },
    moderations: mistralModeration,
  },
  // help.aliyun.com/zh/model-studio/text-embedding-synchronous-api, 2026-08
  qwen: { embeddings: { inputsMax: 10, encodings: numbers } },
  zhipu: {
    embeddings: { inputsMax: 64, only: members('model input dimensions request_id user_id') },
    rerank: {
      documentsMax: 128,
      only: members(
        'model query documents top_n return_documents return_raw_scores request_id user_id',
      ),
      texts: true,
      cost: tokensUsage,
    },
  },
  volcengine: { embeddings: { inputsMax: 256, encodings: both } },
  hunyuan: { embeddings: { inputsMax: 200, only: members('model input dimensions user') } },
  together: {
    embeddings: { inputsMax: 2_048, only: members('model input dimensions user') },
    rerank: { documentsMax: 1_024, cost: tokensUsage, returns: true },
  },
  fireworks: {
    embeddings: { inputsMax: 2_048, tokens: true, encodings: numbers },
    rerank: { documentsMax: 1_024, results: 'data', cost: tokensUsage },
  },
  siliconflow: {
    embeddings: { inputsMax: 32, encodings: both },
    rerank: {
      documentsMax: 1_024,
      texts: true,
      cost: (tokens) => ({ tokens: { input_tokens: tokens, output_tokens: 0 } }),
    },
  },
  openrouter: {
    embeddings: { inputsMax: 2_048, tokens: true, encodings: both },
    rerank: {
      documentsMax: 1_000,
      cost: (tokens) => ({ usage: { total_tokens: tokens } }),
      returns: true,
    },
  },
  ollama: { embeddings: { inputsMax: 2_048, encodings: both } },
  vllm: {
    embeddings: { inputsMax: 2_048, tokens: true, encodings: both },
    rerank: {
      documentsMax: 1_024,
      cost: (tokens) => ({ usage: { total_tokens: tokens } }),
      returns: true,
    },
  },
  llamacpp: {
    embeddings: { inputsMax: 2_048, tokens: true, encodings: both },
    rerank: { documentsMax: 1_024, cost: tokensUsage },
  },
  // docs.perplexity.ai/api-reference/embeddings-post, 2026-08
  perplexity: {
    embeddings: {
      path: '/v1/embeddings',
      inputsMax: 512,
      encodings: { member: 'encoding_format', known: ['base64_int8', 'base64_binary'] },
      bytes: true,
    },
  },
};
