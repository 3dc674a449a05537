import { refuse } from '../../base/refusal.ts';
import type { Call } from '../adapter.ts';
import type { TextPart } from './chat-conversation.ts';
import { type GeminiModel, isThird, takesPenalties } from './gemini-model.ts';
import { geminiSchema } from './gemini-schema.ts';
import { wishOf } from './anthropic-messages-thinking.ts';
import { thinkingOf } from './gemini-thinking.ts';
import { stopWords } from './stop-text.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';

/** What the client wants the answer to look like. */
interface Format {
  readonly json: boolean;
  readonly schema: JsonObject | undefined;
}

function formatOf(body: JsonObject): Format {
  const format = objectOf(body['response_format']);
  const described = objectOf(format?.['json_schema']);
  const schema =
    format?.['type'] === 'json_schema'
      ? (objectOf(described?.['schema']) ?? objectOf(format['schema']))
      : undefined;
  return { json: format?.['type'] === 'json_object' || format?.['type'] === 'json_schema', schema };
}

/**
 * Before the third generation, JSON and functions exclude each other: "Function calling with a
 * response mime type … is unsupported" (wire-formats §4.5).
 */
const formatIsRefused = (body: JsonObject, model: GeminiModel): boolean =>
  listOf(body['tools']).length > 0 && !isThird(model);

/** What is said to a model that cannot be bound to the format that the client asks for. */
export function spokenFormat(body: JsonObject, model: GeminiModel): TextPart[] {
  const { json, schema } = formatOf(body);
  if (!json || !formatIsRefused(body, model)) return [];
  const shape =
    schema === undefined
      ? 'one JSON object'
      : `one JSON value that matches this JSON Schema: ${sortedText(schema)}`;
  const text = `When you answer without calling a function, answer with ${shape}\nWrite the JSON alone, without a code fence.`;
  return [spoken(text, 'response_format')];
}

/** An instruction for what the request has no parameter for. */
export const spoken = (text: string, param: string): TextPart => ({
  kind: 'text',
  text,
  param,
  cache: undefined,
});

/**
 * The same schema is the same text, in whatever order a client's library wrote it today: a prefix
 * that the vendor can cache.
 */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(value[name])}`).join(',')}}`;
}

function responseFormat(body: JsonObject, model: GeminiModel): object {
  const { json, schema } = formatOf(body);
  if (!json || formatIsRefused(body, model)) return {};
  return {
    responseMimeType: 'application/json',
    ...(schema === undefined ? {} : { responseJsonSchema: geminiSchema(schema) }),
  };
}

/** ai.google.dev/api/generate-content#FIELDS.stop_sequences, 2026-08. */
export const stopsMax = 5;

/** The vendor's seed has 32 bits; a longer one keeps its lower 31. */
function seedOf(seed: unknown): number | undefined {
  return typeof seed === 'number' ? seed % 2 ** 31 : undefined;
}

function modalities(body: JsonObject): object {
  const asked = listOf(body['modalities']).filter((one) => typeof one === 'string');
  if (asked.length === 0 || (asked.length === 1 && asked[0] === 'text')) return {};
  const audio = asked.includes('audio') ? (objectOf(body['audio']) ?? {}) : undefined;
  const format = textOf(audio?.['format']);
  if (format !== undefined && format !== 'pcm16')
    refuse('invalid_value', { param: 'audio.format', why: "this model speaks 'pcm16'." });
  const voiceName = textOf(audio?.['voice']);
  return {
    // A model that speaks says nothing else (ai.google.dev/gemini-api/docs/speech-generation,
    // 2026-08).
    responseModalities: audio === undefined ? asked.map((one) => one.toUpperCase()) : ['AUDIO'],
    ...(voiceName === undefined
      ? {}
      : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } }),
  };
}

function thinkingConfig(call: Call, model: GeminiModel): object | undefined {
  const { body } = call;
  const wish = wishOf(call);
  const own = objectOf(objectOf(objectOf(body['extra_body'])?.['google'])?.['thinking_config']);
  return own ?? (wish && thinkingOf(wish, model));
}

/** `generationConfig`; undefined members are left out when it is written. */
export function generationConfig(call: Call, model: GeminiModel): object {
  const { body } = call;
  const told = (member: string): unknown => body[member] ?? undefined;
  const { stop } = body;
  const penalties = takesPenalties(model);
  return {
    temperature: told('temperature'),
    topP: told('top_p'),
    topK: call.beside?.topK ?? told('top_k'),
    maxOutputTokens: call.outputTokensMax ?? told('max_completion_tokens') ?? told('max_tokens'),
    stopSequences: stop == null ? undefined : stopWords(stop).slice(0, stopsMax),
    candidateCount: body['n'] === 1 ? undefined : told('n'),
    seed: seedOf(body['seed']),
    presencePenalty: penalties ? told('presence_penalty') : undefined,
    frequencyPenalty: penalties ? told('frequency_penalty') : undefined,
    responseLogprobs: body['logprobs'] === true ? true : undefined,
    logprobs: body['logprobs'] === true ? told('top_logprobs') : undefined,
    thinkingConfig: thinkingConfig(call, model),
    ...responseFormat(body, model),
    ...modalities(body),
  };
}
