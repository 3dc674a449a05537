import type { Vendor } from './vendor.ts';
import { anthropic } from './vendors/anthropic.ts';
import { azure } from './vendors/azure.ts';
import { bedrock } from './vendors/bedrock.ts';
import { bfl } from './vendors/bfl.ts';
import { cerebras } from './vendors/cerebras.ts';
import { cohere } from './vendors/cohere.ts';
import { deepgram } from './vendors/deepgram.ts';
import { deepseek } from './vendors/deepseek.ts';
import { elevenlabs } from './vendors/elevenlabs.ts';
import { fal } from './vendors/fal.ts';
import { fireworks } from './vendors/fireworks.ts';
import { gemini } from './vendors/gemini.ts';
import { groq } from './vendors/groq.ts';
import { huggingface } from './vendors/huggingface.ts';
import { hunyuan } from './vendors/hunyuan.ts';
import { ideogram } from './vendors/ideogram.ts';
import { jimeng } from './vendors/jimeng.ts';
import { jina } from './vendors/jina.ts';
import { kling } from './vendors/kling.ts';
import { llamacpp } from './vendors/llamacpp.ts';
import { minimax } from './vendors/minimax.ts';
import { mistral } from './vendors/mistral.ts';
import { moonshot } from './vendors/moonshot.ts';
import { ollama } from './vendors/ollama.ts';
import { openaiCompatible } from './vendors/openai-compatible.ts';
import { openai } from './vendors/openai.ts';
import { openrouter } from './vendors/openrouter.ts';
import { perplexity } from './vendors/perplexity.ts';
import { qwen } from './vendors/qwen.ts';
import { recraft } from './vendors/recraft.ts';
import { replicate } from './vendors/replicate.ts';
import { runway } from './vendors/runway.ts';
import { siliconflow } from './vendors/siliconflow.ts';
import { stability } from './vendors/stability.ts';
import { together } from './vendors/together.ts';
import { vertex } from './vendors/vertex.ts';
import { vidu } from './vendors/vidu.ts';
import { vllm } from './vendors/vllm.ts';
import { volcengine } from './vendors/volcengine.ts';
import { voyage } from './vendors/voyage.ts';
import { xai } from './vendors/xai.ts';
import { zhipu } from './vendors/zhipu.ts';

const list: readonly Vendor[] = [
  openai,
  azure,
  anthropic,
  gemini,
  vertex,
  bedrock,
  cohere,
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
  voyage,
  jina,
  kling,
  jimeng,
  runway,
  vidu,
  bfl,
  fal,
  replicate,
  stability,
  ideogram,
  recraft,
  elevenlabs,
  deepgram,
  ollama,
  vllm,
  llamacpp,
  openaiCompatible,
];

/** Every vendor by the id that the configuration file uses. */
export const vendors: ReadonlyMap<string, Vendor> = new Map(
  list.map((vendor) => [vendor.id, vendor]),
);
