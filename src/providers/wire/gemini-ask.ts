import type { Ask, Call } from '../adapter.ts';
import { andDropped, leftOut, translationOf } from '../takes/translated.ts';
import { answersLeftOut } from '../takes/turns.ts';
import { singleCallWords } from '../takes/words.ts';
import { unthought } from './anthropic-messages-thinking.ts';
import { readConversation } from './chat-conversation.ts';
import { generationConfig, spoken, spokenFormat } from './gemini-config.ts';
import { geminiContents, isSigned } from './gemini-contents.ts';
import { type GeminiModel, geminiModel, takesPenalties } from './gemini-model.ts';
import { thinks } from './gemini-thinking.ts';
import { toolsOf } from './gemini-tools.ts';
import { listOf, objectOf, textOf } from './json.ts';
import { withSignatures } from './signatures.ts';
import { refuseTiers } from './tiers.ts';

const headers = { 'content-type': 'application/json' } as const;

/** The members of a chat request that Gemini has a word for. */
const chatToGemini = translationOf([
  'n',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'modalities',
  'audio',
  'safety_settings',
  'safetySettings',
  'extra_body',
]);

/** What this model does not take, by name. */
function droppedOf(call: Call, told: unknown, model: GeminiModel): readonly string[] | undefined {
  const { body } = call;
  const unread = leftOut(body, call.publicModel, chatToGemini);
  const penalties = takesPenalties(model)
    ? []
    : ['presence_penalty', 'frequency_penalty'].filter((name) => Boolean(body[name]));
  const messages = listOf(told);
  const answers = answersLeftOut(
    body['messages'],
    (i) => isSigned(objectOf(messages[i]) ?? {}),
    true,
  );
  return andDropped(unread, [...penalties, ...unthought(call, thinks(model)), ...answers]);
}

/**
 * The vendor's request (wire-formats §4.4, §4.5). The model and whether to stream stand in the
 * path.
 */
export function askGemini(call: Call): Ask {
  const { body } = call;
  refuseTiers(call);
  const model = geminiModel(call.upstreamModel);
  const messages = withSignatures(body['messages'], call.signatures);
  const dropped = droppedOf(call, messages, model);
  const told = readConversation(messages);
  const system = [
    ...told.system,
    ...spokenFormat(body, model),
    ...singleCallWords(body).map((text) => spoken(text, 'parallel_tool_calls')),
  ];
  const contents = geminiContents({ ...told, system }, model);
  const config = JSON.stringify(generationConfig(call, model));
  const { tools, toolConfig } = toolsOf(call);
  const safety = listOf(
    body['safety_settings'] ??
      body['safetySettings'] ??
      objectOf(objectOf(body['extra_body'])?.['google'])?.['safety_settings'],
  );
  const cached = textOf(objectOf(objectOf(body['extra_body'])?.['google'])?.['cached_content']);
  let json = `{"contents":[${contents.contents}]`;
  if (contents.system !== '') json += `,"systemInstruction":{"parts":[${contents.system}]}`;
  if (tools !== undefined) json += `,"tools":${JSON.stringify(tools)}`;
  if (toolConfig !== undefined) json += `,"toolConfig":${JSON.stringify(toolConfig)}`;
  if (config !== '{}') json += `,"generationConfig":${config}`;
  if (safety.length > 0) json += `,"safetySettings":${JSON.stringify(safety)}`;
  if (cached !== undefined) json += `,"cachedContent":${JSON.stringify(cached)}`;
  const method = call.streamUpstream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    path: `${modelPath(call.upstreamModel)}:${method}`,
    headers,
    body: Buffer.from(`${json}}`),
    dropped,
  };
}

/**
 * `/models/gemini-…`; an id with a slash says itself what it is (`tunedModels/…`, `endpoints/…`).
 */
export function modelPath(id: string): string {
  const path = id.split('/').map(encodeURIComponent).join('/');
  return path.includes('/') ? `/${path}` : `/models/${path}`;
}
