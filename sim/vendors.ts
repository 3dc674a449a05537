import { anthropic } from './anthropic/anthropic.ts';
import { bedrock } from './bedrock/bedrock.ts';
import type { Dialect } from './dialect.ts';
import { azure } from './dialects/azure.ts';
import { deepseek } from './dialects/deepseek.ts';
import { groq } from './dialects/groq.ts';
import { cerebras, fireworks, huggingface, siliconflow, together } from './dialects/hosts.ts';
import { hunyuan } from './dialects/hunyuan.ts';
import { llamacpp, ollama, vllm } from './dialects/local.ts';
import { minimax } from './dialects/minimax.ts';
import { mistral } from './dialects/mistral.ts';
import { moonshot } from './dialects/moonshot.ts';
import { openai } from './dialects/openai.ts';
import { openrouter } from './dialects/openrouter.ts';
import { perplexity } from './dialects/perplexity.ts';
import { qwen } from './dialects/qwen.ts';
import { volcengine } from './dialects/volcengine.ts';
import { xai } from './dialects/xai.ts';
import { zhipu } from './dialects/zhipu.ts';
import { cohere } from './cohere/cohere.ts';
import { gemini } from './google/gemini.ts';
import { vertex } from './google/vertex.ts';
import type { OwnFormat } from './own-format.ts';
import { jina, voyage } from './vectors/voyage-and-jina.ts';

/** The vendors with OpenAI's chat format, each at its own path. */
export const vendors: readonly Dialect[] = [
  openai,
  azure,
  deepseek,
  qwen,
  moonshot,
  zhipu,
  minimax,
  volcengine,
  hunyuan,
  xai,
  mistral,
  groq,
  together,
  fireworks,
  openrouter,
  perplexity,
  cerebras,
  huggingface,
  siliconflow,
  ollama,
  vllm,
  llamacpp,
];

/** The vendors with a format of their own. */
export const ownFormats: readonly OwnFormat[] = [
  anthropic,
  bedrock,
  gemini,
  vertex,
  cohere,
  voyage,
  jina,
];

const step = (path: string): string => path.split('/')[1] ?? '';

/** By the first step of the path, which is unique. */
const byStep = new Map(vendors.map((dialect) => [step(dialect.prefix), dialect]));
const ownByStep = new Map(ownFormats.map((format) => [step(format.prefix), format]));

/** The vendor with its own format that a URL belongs to. */
export const ownFormatAt = (url: string): OwnFormat | undefined =>
  ownByStep.get(step(url.split('?')[0] ?? ''));

export interface Route {
  readonly dialect: Dialect;
  /** The path after the vendor's base URL, without the query. */
  readonly path: string;
  /** The model in the path, in Azure's legacy API. */
  readonly deployment: string | undefined;
}

/**
 * The vendor that a URL belongs to; undefined when there is none. A vendor's other base URLs
 * (`/deepseek/v1`, Azure's deployments) lead to the same vendor.
 */
export function route(url: string): Route | undefined {
  const [path = '', query = ''] = url.split('?');
  const dialect = byStep.get(step(path));
  if (dialect === undefined) return undefined;
  const legacy = /^\/azure\/openai\/deployments\/([^/]+)(\/.*)$/.exec(path);
  if (legacy !== null) {
    const versioned = new URLSearchParams(query).has('api-version');
    return {
      dialect,
      path: versioned ? (legacy[2] ?? '') : 'no api-version',
      deployment: decodeURIComponent(legacy[1] ?? ''),
    };
  }
  const rest = path.startsWith(`${dialect.prefix}/`) ? path.slice(dialect.prefix.length) : '';
  return {
    dialect,
    path: dialect.vendor === 'deepseek' ? rest.replace(/^\/(?:v1|beta)\//, '/') : rest,
    deployment: undefined,
  };
}
