import {
  type Documented,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  isObject,
  type JsonObject,
  type Unchecked,
} from '../../../base/json.ts';
import { refuse } from '../../../base/refusal.ts';
import type { VendorRequest, VendorCall } from '../../adapter.ts';
import { readConversation, type TextPart } from '../../conversation/conversation.ts';
import { mediaAfterResults } from '../../conversation/tool-results.ts';
import { droppedReasoning } from '../../conversation/reasoning-request.ts';
import { stopWords } from '../../conversation/stop-text.ts';
import { withCallSignatures } from '../../conversation/call-signatures.ts';
import { refuseServiceTier } from '../../billable-features.ts';
import { refuseParam } from '../../support/rules.ts';
import { withDropped, droppedMembers, chatTranslation } from '../../support/unsupported.ts';
import { droppedAnswerMembers } from '../../support/messages.ts';
import { singleCallInstruction } from '../../support/fit.ts';
import { jsonHeaders } from '../json-request.ts';
import { geminiContents, isSigned } from './contents.ts';
import { type GeminiModel, geminiModel, takesPenalties, isThird } from './models.ts';
import { geminiSchema } from './schema.ts';
import { thinkingConfigOf, thinks } from './thinking.ts';
import type { GeminiChatRequest, GeminiChatTool } from './types.ts';

/** The members of a chat request that Gemini has an equivalent for. */
const chatToGemini = chatTranslation([
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

/** Google's own members. */
const googleOf = ({ extra_body: extra }: Documented<GeminiChatRequest>) =>
  objectOf(objectOf(extra)?.google) ?? {};

/** The names of the members that this model does not take. */
function droppedOf(
  call: VendorCall<GeminiChatRequest>,
  told: unknown,
  model: GeminiModel,
): readonly string[] | undefined {
  const { body } = call;
  const unread = droppedMembers(body, call.publicModel, chatToGemini);
  const penalties = takesPenalties(model)
    ? []
    : (['presence_penalty', 'frequency_penalty'] as const).filter((name) => Boolean(body[name]));
  const messages = listOf(told);
  const answers = droppedAnswerMembers(
    body.messages,
    (i) => isSigned(objectOf(messages[i]) ?? {}),
    true,
  );
  return withDropped(unread, [...penalties, ...droppedReasoning(call, thinks(model)), ...answers]);
}

/**
 * Writes the vendor's request (ai.google.dev/api/generate-content, 2026-08). The path names the
 * model and whether to stream.
 */
export function geminiRequest(call: VendorCall<GeminiChatRequest>): VendorRequest {
  const { body } = call;
  refuseServiceTier(call);
  const model = geminiModel(call.upstreamModel);
  const messages = withCallSignatures(body.messages, call.signatures);
  const dropped = droppedOf(call, messages, model);
  const told = readConversation(isThird(model) ? messages : mediaAfterResults(messages));
  const system = [
    ...told.system,
    ...geminiFormatInstruction(body, model),
    ...singleCallInstruction(body).map((text) => systemPart(text, 'parallel_tool_calls')),
  ];
  const contents = geminiContents({ ...told, system }, model);
  const config = JSON.stringify(generationConfig(call, model));
  const { tools, toolConfig } = geminiTools(call);
  const safety = listOf(
    body.safety_settings ?? body.safetySettings ?? googleOf(body).safety_settings,
  );
  const cached = textOf(googleOf(body).cached_content);
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
    headers: jsonHeaders,
    body: Buffer.from(`${json}}`),
    dropped,
  };
}

/**
 * The path of a model: `/models/gemini-…`; an id with a slash is the path already (`tunedModels/…`,
 * `endpoints/…`).
 */
export function modelPath(id: string): string {
  const path = id.split('/').map(encodeURIComponent).join('/');
  return path.includes('/') ? `/${path}` : `/models/${path}`;
}

/** The format of the answer that the client requests. */
interface Format {
  readonly json: boolean;
  readonly schema: JsonObject | undefined;
}

function formatOf(body: Documented<GeminiChatRequest>): Format {
  const format = objectOf(body.response_format);
  const described = objectOf(format?.json_schema);
  const schema =
    format?.type === 'json_schema'
      ? (objectOf(described?.schema) ?? objectOf(format.schema))
      : undefined;
  return { json: format?.type === 'json_object' || format?.type === 'json_schema', schema };
}

/**
 * Before the third generation, JSON and functions exclude each other: "Function calling with a
 * response mime type … is unsupported" (ai.google.dev/api/generate-content, 2026-08).
 */
const formatIsRefused = (body: Documented<GeminiChatRequest>, model: GeminiModel): boolean =>
  listOf(body.tools).length > 0 && !isThird(model);

/** The instruction for a model that cannot be held to the client's format. */
function geminiFormatInstruction(
  body: Documented<GeminiChatRequest>,
  model: GeminiModel,
): TextPart[] {
  const { json, schema } = formatOf(body);
  if (!json || !formatIsRefused(body, model)) return [];
  const shape =
    schema === undefined
      ? 'one JSON object'
      : `one JSON value that matches this JSON Schema: ${sortedText(schema)}`;
  const text = `When you answer without calling a function, answer with ${shape}\nWrite the JSON alone, without a code fence.`;
  return [systemPart(text, 'response_format')];
}

/** An instruction that stands for a setting without a parameter. */
const systemPart = (text: string, param: string): TextPart => ({
  kind: 'text',
  text,
  param,
  cache: undefined,
});

/**
 * JSON text with sorted names: the same schema gives the same text whatever order a client's
 * library wrote, so that the vendor can cache the prompt's beginning.
 */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(value[name])}`).join(',')}}`;
}

function responseFormat(body: Documented<GeminiChatRequest>, model: GeminiModel): object {
  const { json, schema } = formatOf(body);
  if (!json || formatIsRefused(body, model)) return {};
  return {
    responseMimeType: 'application/json',
    ...(schema === undefined ? {} : { responseJsonSchema: geminiSchema(schema) }),
  };
}

/** ai.google.dev/api/generate-content#FIELDS.stop_sequences, 2026-08. */
export const geminiStopsMax = 5;

/** The client's seed: the vendor's has 32 bits, and a longer one keeps its lower 31. */
function seedOf(seed: unknown): number | undefined {
  return typeof seed === 'number' ? seed % 2 ** 31 : undefined;
}

function modalities(body: Documented<GeminiChatRequest>): object {
  const requested = listOf(body.modalities).filter((one) => typeof one === 'string');
  if (requested.length === 0 || (requested.length === 1 && requested[0] === 'text')) return {};
  const audio = requested.includes('audio') ? (objectOf(body.audio) ?? {}) : undefined;
  const format = textOf(audio?.format);
  if (format !== undefined && format !== 'pcm16')
    refuse('invalid_value', { param: 'audio.format', why: "this model speaks 'pcm16'." });
  const voiceName = textOf(audio?.voice);
  return {
    // A model that speaks has no other modality (ai.google.dev/gemini-api/docs/speech-generation,
    // 2026-08).
    responseModalities: audio === undefined ? requested.map((one) => one.toUpperCase()) : ['AUDIO'],
    ...(voiceName === undefined
      ? {}
      : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } }),
  };
}

/** The `generationConfig`. JSON leaves out its undefined members. */
function generationConfig(call: VendorCall<GeminiChatRequest>, model: GeminiModel): object {
  const { body } = call;
  const told = (member: keyof GeminiChatRequest): unknown => body[member] ?? undefined;
  const { stop } = body;
  const penalties = takesPenalties(model);
  return {
    temperature: told('temperature'),
    topP: told('top_p'),
    topK: call.messagesOptions?.topK ?? told('top_k'),
    maxOutputTokens: call.outputTokensMax ?? told('max_completion_tokens') ?? told('max_tokens'),
    stopSequences: stop == null ? undefined : stopWords(stop).slice(0, geminiStopsMax),
    candidateCount: body.n === 1 ? undefined : told('n'),
    seed: seedOf(body.seed),
    presencePenalty: penalties ? told('presence_penalty') : undefined,
    frequencyPenalty: penalties ? told('frequency_penalty') : undefined,
    responseLogprobs: body.logprobs === true ? true : undefined,
    logprobs: body.logprobs === true ? told('top_logprobs') : undefined,
    thinkingConfig: objectOf(googleOf(body).thinking_config) ?? thinkingConfigOf(call, model),
    ...responseFormat(body, model),
    ...modalities(body),
  };
}

/**
 * The declaration of a function. Throws the Refusal of other tools: searches and others that the
 * vendor runs itself (`googleSearch`, `codeExecution`, …) have prices of their own, and are not
 * sold.
 */
function declaration(tool: Unchecked<GeminiChatTool>, i: number, model: string): object {
  const type = textOf(objectOf(tool)?.type) ?? 'function';
  const fn = objectOf(objectOf(tool)?.function) ?? objectOf(tool) ?? {};
  if (type !== 'function')
    refuseParam(`tools[${i}].type`, model, `it takes tools of type 'function', not '${type}'.`);
  if (typeof fn.name !== 'string') {
    const kind = isObject(tool) ? Object.keys(tool).find((name) => name !== 'type') : undefined;
    refuseParam(
      kind === undefined ? `tools[${i}]` : `tools[${i}].${kind}`,
      model,
      "it takes tools of type 'function' alone, and each has a name.",
    );
  }
  const parameters = objectOf(fn.parameters);
  return {
    name: fn.name,
    ...(fn.description == null ? {} : { description: fn.description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: geminiSchema(parameters) }),
  };
}

const nameOf = (tool: Documented<Pick<GeminiChatTool, 'name' | 'function'>>): string | undefined =>
  textOf(objectOf(tool.function)?.name) ?? textOf(tool.name);

function mode(wanted: Documented<GeminiChatRequest>['tool_choice']): object | undefined {
  if (wanted === 'none') return { mode: 'NONE' };
  if (wanted === 'auto') return { mode: 'AUTO' };
  if (wanted === 'required' || wanted === 'any') return { mode: 'ANY' };
  const choice = objectOf(wanted);
  if (choice === undefined) return undefined;
  const allowed =
    choice.type === 'allowed_tools' ? (objectOf(choice.allowed_tools) ?? choice) : undefined;
  if (allowed !== undefined) {
    const allowedFunctionNames = objectsOf(allowed.tools)
      .map(nameOf)
      .filter((name) => name !== undefined);
    // Gemini reads names only with ANY and VALIDATED, and VALIDATED leaves the choice to the model
    // (ai.google.dev/gemini-api/docs/function-calling, 2026-08).
    return { mode: allowed.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames };
  }
  const name = nameOf(choice);
  return name === undefined ? undefined : { mode: 'ANY', allowedFunctionNames: [name] };
}

/** `tools` and `toolConfig`; nothing where the client gave no tools. */
function geminiTools({
  body,
  publicModel,
}: Pick<VendorCall<GeminiChatRequest>, 'body' | 'publicModel'>): {
  readonly tools?: unknown;
  readonly toolConfig?: unknown;
} {
  if (listOf(body.functions).length > 0)
    refuseParam('functions', publicModel, "it takes functions as 'tools'.");
  const tools = listOf(body.tools);
  if (tools.length === 0) return {};
  const functionCallingConfig = mode(body.tool_choice);
  return {
    tools: [{ functionDeclarations: tools.map((tool, i) => declaration(tool, i, publicModel)) }],
    ...(functionCallingConfig === undefined ? {} : { toolConfig: { functionCallingConfig } }),
  };
}
