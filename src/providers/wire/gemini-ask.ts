import type { Ask, Call } from '../adapter.ts';
import { readConversation } from './chat-conversation.ts';
import { generationConfig, spokenFormat } from './gemini-config.ts';
import { geminiContents } from './gemini-contents.ts';
import { geminiModel } from './gemini-model.ts';
import { toolsOf } from './gemini-tools.ts';
import { objectOf, textOf } from './json.ts';
import { withSignatures } from './signatures.ts';

const headers = { 'content-type': 'application/json' } as const;

/** The vendor's request (wire-formats §4.4, §4.5). The model and whether to stream stand in the path. */
export function askGemini(call: Call): Ask {
  const { body } = call;
  const model = geminiModel(call.upstreamModel);
  const told = readConversation(withSignatures(body['messages'], call.signatures));
  const format = spokenFormat(body, model);
  const system = format === undefined ? told.system : [...told.system, format];
  const contents = geminiContents({ ...told, system }, model);
  const config = JSON.stringify(generationConfig(call, model));
  const { tools, toolConfig } = toolsOf(body);
  const cached = textOf(objectOf(objectOf(body['extra_body'])?.['google'])?.['cached_content']);
  let json = `{"contents":[${contents.contents}]`;
  if (contents.system !== '') json += `,"systemInstruction":{"parts":[${contents.system}]}`;
  if (tools !== undefined) json += `,"tools":${JSON.stringify(tools)}`;
  if (toolConfig !== undefined) json += `,"toolConfig":${JSON.stringify(toolConfig)}`;
  if (config !== '{}') json += `,"generationConfig":${config}`;
  if (cached !== undefined) json += `,"cachedContent":${JSON.stringify(cached)}`;
  const method = call.streamUpstream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    path: `${modelPath(call.upstreamModel)}:${method}`,
    headers,
    body: Buffer.from(`${json}}`),
  };
}

/** `/models/gemini-…`; an id with a slash says itself what it is (`tunedModels/…`, `endpoints/…`). */
export function modelPath(id: string): string {
  const path = id.split('/').map(encodeURIComponent).join('/');
  return path.includes('/') ? `/${path}` : `/models/${path}`;
}
