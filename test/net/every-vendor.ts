import type { Build } from './build.ts';
import { type Case, soundForm } from './cases.ts';
import type { Asked, Records } from './client.ts';
import { modelId } from './customer.ts';
import { playAll, recordPlayed } from './exchanges.ts';
import type { Recording } from './recordings.ts';
import { bodies } from './refusal-bodies.ts';

/** The models of each vendor, one for each API that depends on the model: `kind=model`. */
const sold: Readonly<Record<string, string>> = {
  anthropic: 'chat=claude-sonnet-4-5 chat=claude-opus-5',
  azure: 'chat completion embedding transcription speech=gpt-4o-mini-tts image=gpt-image-2',
  bedrock:
    'chat=us.amazon.nova-pro-v1:0 chat=us.anthropic.claude-sonnet-4-5-20250929-v1:0 embedding=amazon.titan-embed-text-v2:0 embedding=cohere.embed-v4:0 rerank=cohere.rerank-v3-5:0',
  bfl: 'image=flux-2-pro image=flux-kontext-pro',
  cerebras: 'chat=gpt-oss-120b',
  cohere: 'chat=command-a-03-2025 embedding=embed-v4.0 rerank=rerank-v3.5',
  deepgram: 'transcription=nova-3 speech=aura-2-thalia-en',
  deepseek: 'chat=deepseek-v4-flash chat=deepseek-chat completion=deepseek-chat',
  elevenlabs: 'transcription=scribe_v1 speech=eleven_v3',
  fal: 'image=fal-ai/flux-2',
  fireworks:
    'chat=accounts/fireworks/models/glm-5 completion embedding rerank image=accounts/fireworks/models/flux-1-schnell-fp8',
  gemini:
    'chat=gemini-2.5-flash chat=gemini-3.8-flash embedding=gemini-embedding-001 speech=gemini-2.5-flash-preview-tts image=gemini-2.5-flash-image image=imagen-4.0-generate-001 video=veo-3.1-generate-preview',
  groq: 'chat=openai/gpt-oss-120b transcription=whisper-large-v3 speech=playai-tts',
  huggingface: 'chat=openai/gpt-oss-120b',
  hunyuan: 'chat=hunyuan-2.0-thinking embedding=hunyuan-embedding',
  ideogram: 'image=ideogram-v3',
  jimeng: 'video=jimeng_t2v_v30',
  jina: 'embedding=jina-embeddings-v4 rerank=jina-reranker-v2',
  kling: 'video=kling-v2-6',
  llamacpp: 'chat=qwen3 completion embedding rerank',
  minimax: 'chat=MiniMax-M3 speech=speech-2.6-hd image=image-01 video=MiniMax-Hailuo-2.3',
  mistral:
    'chat=mistral-medium-latest chat=magistral-medium-latest completion=codestral-latest embedding=mistral-embed moderation transcription=voxtral-mini-latest speech=voxtral-mini-tts-latest',
  moonshot: 'chat=kimi-k3 chat=kimi-k2.6',
  ollama: 'chat=qwen3 completion embedding',
  openai:
    'chat=gpt-5.4 chat=gpt-4o chat=o3 completion=gpt-3.5-turbo-instruct embedding moderation transcription=whisper-1 transcription=gpt-4o-transcribe speech=tts-1 speech=gpt-4o-mini-tts image=gpt-image-2 video=sora-2',
  'openai-compatible':
    'chat completion embedding moderation rerank transcription speech image video',
  openrouter:
    'chat=z-ai/glm-5 chat=anthropic/claude-sonnet-4.5 completion embedding rerank transcription image',
  perplexity: 'chat=sonar-pro embedding=pplx-embed-v1-0.6b',
  qwen: 'chat=qwen3.7-max embedding=text-embedding-v4 transcription=qwen3-asr-flash speech=qwen3-tts-flash image=qwen-image video=wan2.6-t2v',
  recraft: 'image=recraftv3',
  replicate: 'image=black-forest-labs/flux-2-pro',
  runway: 'image=gen4_image video=gen4.5',
  siliconflow:
    'chat=zai-org/GLM-5 completion embedding rerank transcription speech image=Qwen/Qwen-Image',
  stability: 'image=stable-image-core',
  together:
    'chat=openai/gpt-oss-120b completion embedding rerank transcription speech image=black-forest-labs/FLUX.2-pro',
  vertex:
    'chat=gemini-3.8-flash chat=claude-sonnet-4-5 embedding=gemini-embedding-001 speech=gemini-2.5-flash-tts image=imagen-4.0-generate-001 video=veo-3.1-generate-001',
  vidu: 'video=viduq2',
  vllm: 'chat=openai/gpt-oss-120b completion embedding rerank transcription',
  volcengine:
    'chat=doubao-seed-2-0-pro embedding=doubao-embedding image=doubao-seedream-4-5 video=doubao-seedance-2-0',
  voyage: 'embedding=voyage-3.5 rerank=rerank-2.5',
  xai: 'chat=grok-4.3 transcription speech image=grok-imagine-image video=grok-imagine-video',
  zhipu:
    'chat=glm-5 embedding=embedding-3 rerank=rerank transcription=glm-asr speech=glm-tts image=glm-image video=cogvideox-3',
};

/** The valid requests of every endpoint for models of this kind. */
function requestsFor(
  kind: string,
  model: string,
): readonly (readonly [name: string, asked: Asked])[] {
  if (kind === 'transcription')
    return ['transcriptions', 'translations'].map(
      (name) => [name, { path: `/v1/audio/${name}`, ...soundForm(model) }] as const,
    );
  return bodies
    .filter((family) => family.kind === kind || (family.kind === 'completion' && kind === 'chat'))
    .flatMap(({ name, path, body, headers = {} }) =>
      body.map(
        (one, index) => [`${name}-${index}`, { path, headers, body: { ...one, model } }] as const,
      ),
    );
}

/**
 * These send one request for each text, all at once: after a fault it is chance which of them still
 * arrive.
 */
const severalAtOnce = /^(?:bedrock|vertex)-embedding-2-embeddings-[12]$/;

function casesAt(vendor: string): readonly Case[] {
  return (sold[vendor] ?? '').split(' ').flatMap((entry, index) => {
    const [kind = '', upstreamModel = 'model-1'] = entry.split('=');
    const base = { kind, vendor, prefix: '/v1', upstreamModel, recording: undefined };
    const names = requestsFor(kind, '').map(
      ([name]) => `${vendor}-${kind}-${index}-${name.replaceAll(' ', '-')}`,
    );
    return names.flatMap((name, at): readonly Case[] => {
      if (severalAtOnce.test(name)) return [];
      const [, asked = { path: '' }] =
        requestsFor(kind, modelId({ ...base, name, asked: { path: '' } }))[at] ?? [];
      return [{ ...base, name, asked }];
    });
  });
}

/**
 * Records the requests to every vendor; the response is the endpoint's usual one, where there is a
 * recording.
 */
export function recordEveryVendor(
  build: Build,
  recordings: readonly Recording[],
): Promise<Records> {
  const cases = Object.keys(sold).flatMap(casesAt);
  return recordPlayed(build, 'every-vendor', cases, recordings, (serving, vendor) =>
    playAll(serving, vendor, cases, 'vendor'),
  );
}
