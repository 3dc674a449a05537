import { modelLine, readTable } from '../catalog-lines.ts';

/**
 * Embedding, moderation and rerank models, at list prices of November 2026, US dollars at 7.1 yuan.
 */
const table = `
  text-embedding-3-small        openai      openai   =                             embedding  input   0.142
  text-embedding-3-large        azure       openai   =                             embedding  input   0.923
  mistral-embed                 mistral     mistral  =                             embedding  input   0.71
  text-embedding-v4             qwen        qwen     =                             embedding  input   0.5
  embedding-3                   zhipu       zhipu    =                             embedding  input   0.5
  hunyuan-embedding             hunyuan     hunyuan  =                             embedding  input   0.7
  doubao-embedding-large-text   volcengine  doubao   doubao-embedding-large-text-250515 embedding input 0.7
  multilingual-e5-large         together    intfloat intfloat/multilingual-e5-large-instruct embedding input 0.142
  qwen3-embedding-8b            fireworks   qwen     accounts/fireworks/models/qwen3-embedding-8b embedding input 0.71
  bge-m3                        siliconflow baai     BAAI/bge-m3                   embedding  input   0.5
  openai/text-embedding-3-small openrouter  openai   =                             embedding  input   0.142
  pplx-embed-v1                 perplexity  perplexity pplx-embed-v1-0.6b          embedding  input   0.0284
  nomic-embed-text              ollama      nomic    =                             embedding  input   0.1
  e5-mistral-7b                 vllm        intfloat intfloat/e5-mistral-7b-instruct embedding input  0.1
  qwen3-embedding-0.6b          llamacpp    qwen     Qwen3-Embedding-0.6B-Q8_0     embedding  input   0.1
  gemini-embedding-001          gemini      google   =                             embedding  input   1.065
  gemini-embedding-2            gemini      google   =                             embedding  input   1.42
  text-embedding-005            vertex      google   =                             embedding  input   0.71
  embed-v4.0                    cohere      cohere   =                             embedding  input   0.852
  titan-embed-text-v2           bedrock     amazon   amazon.titan-embed-text-v2:0  embedding  input   0.142
  embed-multilingual-v3         bedrock     cohere   cohere.embed-multilingual-v3  embedding  input   0.71
  nova-embeddings               bedrock     amazon   amazon.nova-2-multimodal-embeddings-v1:0 embedding input 0.9585
  voyage-4                      voyage      voyage   =                             embedding  input   0.426
  jina-embeddings-v3            jina        jina     =                             embedding  input   0.355
  omni-moderation-latest        openai      openai   =                             moderation request 0
  mistral-moderation-latest     mistral     mistral  =                             moderation input   0
  rerank-v3.5                   cohere      cohere   =                             rerank     request 0.0142
  rerank-v3-5-bedrock           bedrock     cohere   cohere.rerank-v3-5:0          rerank     request 0.0142
  rerank-2.5                    voyage      voyage   =                             rerank     input   0.355
  jina-reranker-v3              jina        jina     =                             rerank     input   0.355
  rerank                        zhipu       zhipu    =                             rerank     input   0.8
  bge-reranker-v2-m3            siliconflow baai     BAAI/bge-reranker-v2-m3       rerank     input   0.1
  llama-rank                    together    salesforce Salesforce/Llama-Rank-v1    rerank     input   0.71
  qwen3-reranker-8b             fireworks   qwen     accounts/fireworks/models/qwen3-reranker-8b rerank input 1.42
  voyageai/rerank-2.5-lite      openrouter  voyage   =                             rerank     input   0.142
`;

export const vectorModels = readTable(table, ([kind = '', member = '', yuan = '']) => ({
  kind,
  price: `${member}: ${yuan}`,
}));

/** Their lines in a configuration file. */
export const vectorModelLines = (): string[] =>
  vectorModels.map((model) => modelLine(model, model.kind, '', model.price));
