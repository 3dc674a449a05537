import { anthropicCounts, anthropicMessages, claudeElsewhere } from './anthropic.ts';
import { converse } from './bedrock.ts';
import { hunyuan, minimax, moonshot, qwen, siliconflow, volcengine, zhipu } from './china.ts';
import { cohereChat, cohereVectors } from './cohere.ts';
import { deepseek, deepseekResponses } from './deepseek.ts';
import {
  cerebras,
  fireworks,
  groq,
  huggingface,
  openrouter,
  perplexity,
  together,
  xai,
} from './hosts.ts';
import { llamacpp, ollama, vllm } from './local.ts';
import { gemini, geminiOnVertex, geminiVectors } from './gemini.ts';
import { mistralChat, mistralVectors } from './mistral.ts';
import { azureDeployments, openaiChat, openaiVectors } from './openai.ts';
import { openaiResponses } from './responses.ts';
import { type Endpoint, flag, held, isObject, strings } from './shape.ts';

const tables: Readonly<Record<string, readonly Endpoint[]>> = {
  openai: [openaiChat, openaiResponses, openaiVectors],
  anthropic: [anthropicMessages, anthropicCounts],
  azure: [...azureDeployments, openaiChat, openaiResponses, openaiVectors, anthropicMessages],
  gemini: [gemini, geminiVectors],
  vertex: [
    geminiOnVertex,
    claudeElsewhere(
      /\/models\/[^/:]+:(?:stream)?[rR]awPredict$/,
      'vertex-2023-10-16',
      'docs.cloud.google.com, partner-models/claude/use-claude; wire-formats §5.2',
      {
        stream: flag,
        anthropic_beta: strings(),
      },
    ),
  ],
  bedrock: [converse],
  cohere: [cohereChat, cohereVectors],
  mistral: [mistralChat, mistralVectors],
  deepseek: [deepseek, deepseekResponses],
  groq: [groq],
  cerebras: [cerebras],
  together: [together],
  fireworks: [fireworks],
  xai: [xai, openaiResponses],
  openrouter: [openrouter],
  perplexity: [perplexity],
  huggingface: [huggingface],
  zhipu: [zhipu],
  qwen: [qwen],
  moonshot: [moonshot],
  minimax: [minimax],
  volcengine: [volcengine],
  hunyuan: [hunyuan],
  siliconflow: [siliconflow],
  ollama: [ollama],
  vllm: [vllm],
  llamacpp: [llamacpp],
};

/** Whether there is a table for what this vendor takes at this address. */
export function endpointOf(vendor: string, path: string): Endpoint | undefined {
  const address = path.split('?')[0] ?? '';
  return tables[vendor]?.find((endpoint) => endpoint.path.test(address));
}

/** Vendors that have a table. */
export const vendorsHeld: readonly string[] = Object.keys(tables);

/**
 * What this vendor's documents say against a request; nothing where there is no table for the
 * address. `path` is what follows the vendor's host or base URL; names of headers are in lower
 * case.
 */
export function violations(
  vendor: string,
  path: string,
  upstreamModel: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: unknown,
): string[] {
  const endpoint = endpointOf(vendor, path);
  if (endpoint === undefined) return [];
  if (!isObject(body)) return ['body: is no object'];
  return held(endpoint, { body, model: upstreamModel, headers });
}
