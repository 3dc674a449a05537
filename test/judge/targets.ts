/** A target of a client that changes only `model`: a vendor and one of its current models. */
export interface Target {
  readonly vendor: string;
  readonly model: string;
  /** The media that it takes besides text. */
  readonly media: readonly string[];
  /** It reasons by default. */
  readonly thinks: boolean;
}

const sees = ['image'];
const reads = ['image', 'file'];

/**
 * The targets of the matrix: each wire format, and models of one vendor that accept different
 * requests.
 */
export const matrixTargets: readonly Target[] = [
  { vendor: 'openai', model: 'gpt-5.4', media: reads, thinks: false },
  { vendor: 'openai', model: 'gpt-4o', media: reads, thinks: false },
  { vendor: 'openai', model: 'o3', media: reads, thinks: true },
  { vendor: 'anthropic', model: 'claude-sonnet-4-5', media: reads, thinks: false },
  { vendor: 'anthropic', model: 'claude-opus-5-5', media: reads, thinks: true },
  {
    vendor: 'gemini',
    model: 'gemini-2.5-flash',
    media: [...reads, 'audio', 'video'],
    thinks: true,
  },
  {
    vendor: 'gemini',
    model: 'gemini-3.8-flash',
    media: [...reads, 'audio', 'video'],
    thinks: true,
  },
  {
    vendor: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    media: reads,
    thinks: false,
  },
  {
    vendor: 'bedrock',
    model: 'us.amazon.nova-pro-v1:0',
    media: [...reads, 'video'],
    thinks: false,
  },
  { vendor: 'cohere', model: 'command-a-03-2025', media: [], thinks: false },
  { vendor: 'mistral', model: 'mistral-medium-latest', media: reads, thinks: false },
  { vendor: 'deepseek', model: 'deepseek-v4-flash', media: [], thinks: true },
  { vendor: 'groq', model: 'openai/gpt-oss-120b', media: [], thinks: true },
  { vendor: 'xai', model: 'grok-4.3', media: sees, thinks: true },
  { vendor: 'zhipu', model: 'glm-5', media: [], thinks: true },
  { vendor: 'moonshot', model: 'kimi-k2.6', media: sees, thinks: true },
];

/** One current chat model of each vendor, for second turns. */
export const chatTargets: readonly Target[] = [
  { vendor: 'openai', model: 'gpt-5.4', media: reads, thinks: false },
  { vendor: 'azure', model: 'gpt-5.2', media: reads, thinks: false },
  { vendor: 'anthropic', model: 'claude-opus-5', media: reads, thinks: true },
  {
    vendor: 'gemini',
    model: 'gemini-3.8-flash',
    media: [...reads, 'audio', 'video'],
    thinks: true,
  },
  {
    vendor: 'vertex',
    model: 'gemini-3.8-flash',
    media: [...reads, 'audio', 'video'],
    thinks: true,
  },
  {
    vendor: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    media: reads,
    thinks: false,
  },
  { vendor: 'cohere', model: 'command-a-03-2025', media: [], thinks: false },
  { vendor: 'mistral', model: 'magistral-medium-latest', media: sees, thinks: true },
  { vendor: 'deepseek', model: 'deepseek-v4-flash', media: [], thinks: true },
  { vendor: 'groq', model: 'openai/gpt-oss-120b', media: [], thinks: true },
  { vendor: 'cerebras', model: 'gpt-oss-120b', media: [], thinks: true },
  { vendor: 'together', model: 'openai/gpt-oss-120b', media: [], thinks: true },
  { vendor: 'fireworks', model: 'accounts/fireworks/models/glm-5', media: [], thinks: true },
  { vendor: 'xai', model: 'grok-4.3', media: sees, thinks: true },
  { vendor: 'openrouter', model: 'z-ai/glm-5', media: [], thinks: true },
  { vendor: 'perplexity', model: 'sonar-pro', media: sees, thinks: false },
  { vendor: 'huggingface', model: 'openai/gpt-oss-120b', media: [], thinks: true },
  { vendor: 'zhipu', model: 'glm-5', media: [], thinks: true },
  { vendor: 'qwen', model: 'qwen3.7-max', media: [], thinks: false },
  { vendor: 'moonshot', model: 'kimi-k3', media: sees, thinks: true },
  { vendor: 'minimax', model: 'MiniMax-M3', media: sees, thinks: true },
  { vendor: 'volcengine', model: 'doubao-seed-2-0-pro', media: sees, thinks: true },
  { vendor: 'hunyuan', model: 'hunyuan-2.0-thinking', media: [], thinks: true },
  { vendor: 'siliconflow', model: 'zai-org/GLM-5', media: [], thinks: true },
  { vendor: 'ollama', model: 'qwen3', media: [], thinks: true },
  { vendor: 'vllm', model: 'openai/gpt-oss-120b', media: [], thinks: true },
  { vendor: 'llamacpp', model: 'qwen3', media: [], thinks: true },
];
