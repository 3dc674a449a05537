import {
  type Documented,
  type JsonObject,
  listOf,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  textOf,
} from '../../base/json.ts';
import type { Adapter, MessagesOptions, VendorCall } from '../adapter.ts';
import { refuseServiceTier } from '../billable-features.ts';
import type {
  FunctionDeclaration,
  GenerateContentRequest,
  GenerationConfig,
  RequestToolConfig,
} from '../formats/gemini/request-types.ts';
import { inCamelCase } from '../conversation/spelling.ts';
import { chatToolName } from '../conversation/tool-names.ts';
import { refuseParam } from '../support/rules.ts';
import { bridgeOver, given, type PathNames } from './bridge.ts';
import { enumType, generateAnswer, GenerateOverChatStream } from './generate-over-chat-answer.ts';
import { jsonSchemaOf } from './generate-over-chat-schema.ts';
import { turnsAsChat } from './generate-over-chat-turns.ts';

/**
 * `generateContent` for models whose vendor has chat (ai.google.dev/api/generate-content, 2026-11,
 * in the other direction).
 */
export function generateOverChat(chat: Adapter): Adapter {
  return bridgeOver(chat, {
    toChat: (call) => generateAsChat(call, chat.readsMessagesOptions),
    answer: generateAnswer,
    stream: (call, translator) => new GenerateOverChatStream(call, translator),
    names: () => names,
  });
}

const names: PathNames = {
  messages: 'contents',
  max_tokens: 'generationConfig.maxOutputTokens',
  temperature: 'generationConfig.temperature',
  top_p: 'generationConfig.topP',
  top_k: 'generationConfig.topK',
  n: 'generationConfig.candidateCount',
  stop: 'generationConfig.stopSequences',
  seed: 'generationConfig.seed',
  presence_penalty: 'generationConfig.presencePenalty',
  frequency_penalty: 'generationConfig.frequencyPenalty',
  logprobs: 'generationConfig.responseLogprobs',
  top_logprobs: 'generationConfig.logprobs',
  response_format: 'generationConfig.responseMimeType',
  'response_format.json_schema': 'generationConfig.responseSchema',
  reasoning_effort: 'generationConfig.thinkingConfig',
  tool_choice: 'toolConfig.functionCallingConfig',
  'messages[].reasoning_content': 'contents[].parts[].thought',
  'messages[].reasoning_details': 'contents[].parts[].thoughtSignature',
};

/**
 * The same request as a chat completion. Throws the Refusal of a member that chat cannot express.
 */
export function generateAsChat(
  call: VendorCall,
  reads?: Adapter['readsMessagesOptions'],
): VendorCall {
  refuseServiceTier(call);
  const request: Documented<GenerateContentRequest> = inCamelCase(call.body);
  const config = objectOf(request.generationConfig) ?? {};
  const options = optionsOf(config);
  const body = chatBodyFrom(call, request, config);
  return {
    ...call,
    clientHeaders: undefined,
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    skeleton: undefined,
    includeUsage: false,
    messagesOptions: options,
    dropped: droppedFromGenerate(request, config, options, reads),
  };
}

function chatBodyFrom(
  call: VendorCall,
  request: Documented<GenerateContentRequest>,
  config: Documented<GenerationConfig>,
): JsonObject {
  const { publicModel: model, outputTokensMax } = call;
  const tools = chatTools(request.tools, model);
  const limit = outputTokensMax ?? wholeNumber(config.maxOutputTokens);
  const choices = wholeNumber(config.candidateCount);
  const logprobs = config.responseLogprobs === true;
  return {
    model,
    messages: turnsAsChat(request, model),
    ...given('max_tokens', limit),
    ...(call.stream ? { stream: true } : {}),
    ...given('temperature', config.temperature),
    ...given('top_p', config.topP),
    ...(choices === undefined || choices === 1 ? {} : { n: choices }),
    ...(listOf(config.stopSequences).length > 0 ? { stop: config.stopSequences } : {}),
    ...given('seed', wholeNumber(config.seed)),
    ...given('presence_penalty', config.presencePenalty),
    ...given('frequency_penalty', config.frequencyPenalty),
    ...(logprobs ? { logprobs: true, ...given('top_logprobs', config.logprobs) } : {}),
    ...(tools.length > 0 ? { tools, ...toolChoice(objectOf(request.toolConfig)) } : {}),
    ...given('reasoning_effort', effortOf(config)),
    ...given('response_format', formatOf(config, model)),
  };
}

/** Whole numbers may be written as strings (protobuf.dev/programming-guides/json, 2026-11). */
const wholeNumber = (value: unknown): number | undefined =>
  typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : numberOf(value);

/** What chat has no word for, for adapters that read it. */
function optionsOf(config: Documented<GenerationConfig>): MessagesOptions | undefined {
  const topK = wholeNumber(config.topK);
  const budget = wholeNumber(objectOf(config.thinkingConfig)?.thinkingBudget);
  const set = budget !== undefined && budget > 0 ? budget : undefined;
  return topK === undefined && set === undefined ? undefined : { topK, budget: set };
}

/** The members of a configuration that chat can express. */
const carried: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'responseModalities',
  'thinkingConfig',
]);

/** Members of the request that only steer Google's own service: clients send them with each one. */
const idle: ReadonlySet<string> = new Set(['safetySettings', 'labels']);
const read: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'serviceTier',
  ...idle,
]);

function droppedFromGenerate(
  request: JsonObject,
  config: JsonObject,
  options: MessagesOptions | undefined,
  reads: Adapter['readsMessagesOptions'] = [],
): readonly string[] | undefined {
  const dropped = [
    ...Object.keys(request).filter((name) => !read.has(name) && request[name] != null),
    ...Object.keys(config)
      .filter((name) => !carried.has(name) && config[name] != null)
      .map((name) => `generationConfig.${name}`),
    ...(options?.topK === undefined || reads.includes('topK') ? [] : ['generationConfig.topK']),
  ];
  return dropped.length > 0 ? dropped : undefined;
}

function chatTools(
  tools: Documented<GenerateContentRequest>['tools'],
  model: string,
): JsonObject[] {
  return listOf(tools).flatMap((tool, i) => {
    const members = Object.entries(objectOf(tool) ?? {});
    for (const [name, value] of members)
      if (name !== 'functionDeclarations' && value !== null)
        refuseParam(`tools[${i}].${name}`, model, 'it has functions as its only tools.');
    return objectsOf(objectOf(tool)?.functionDeclarations).map((declared, j) => ({
      type: 'function',
      function: functionOf(declared, `tools[${i}].functionDeclarations[${j}]`),
    }));
  });
}

function functionOf(declared: Documented<FunctionDeclaration>, param: string): JsonObject {
  const { description, parameters, parametersJsonSchema } = declared;
  const schema = parametersJsonSchema ?? jsonSchemaOf(parameters, `${param}.parameters`);
  return {
    name: chatToolName(declared.name),
    ...given('description', description),
    parameters: schema ?? { type: 'object', properties: {} },
  };
}

function toolChoice(config: Documented<RequestToolConfig> | undefined): JsonObject {
  const calling = objectOf(config?.functionCallingConfig);
  const mode = textOf(calling?.mode)?.toUpperCase();
  const allowed = listOf(calling?.allowedFunctionNames).map((name) => chatToolName(stringOf(name)));
  const [only, ...others] = allowed;
  if (mode === 'NONE') return { tool_choice: 'none' };
  if (mode !== 'ANY' && mode !== 'VALIDATED') return {};
  if (only === undefined) return mode === 'ANY' ? { tool_choice: 'required' } : {};
  if (mode === 'ANY' && others.length === 0)
    return { tool_choice: { type: 'function', function: { name: only } } };
  return {
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {
        mode: mode === 'ANY' ? 'required' : 'auto',
        tools: allowed.map((name) => ({ type: 'function', function: { name } })),
      },
    },
  };
}

/**
 * The effort that stands for a budget or a level. The vendor's table decides which efforts the
 * model takes.
 */
function effortOf({ thinkingConfig }: Documented<GenerationConfig>): string | undefined {
  const thinking = objectOf(thinkingConfig);
  const level = textOf(thinking?.thinkingLevel)?.toLowerCase();
  if (level !== undefined && level !== 'thinking_level_unspecified') return level;
  const budget = wholeNumber(thinking?.thinkingBudget);
  if (budget === undefined || budget < 0) return undefined;
  if (budget === 0) return 'none';
  return budget <= 1_024 ? 'low' : budget <= 8_192 ? 'medium' : 'high';
}

function formatOf(config: Documented<GenerationConfig>, model: string): JsonObject | undefined {
  const place = 'generationConfig';
  const modalities = listOf(config.responseModalities).map(stringOf);
  if (modalities.some((one) => one.toUpperCase() !== 'TEXT'))
    refuseParam(`${place}.responseModalities`, model, 'it answers with text only.');
  const type = textOf(config.responseMimeType) ?? 'text/plain';
  const own: JsonObject = config;
  const schema =
    config.responseJsonSchema ??
    own['_responseJsonSchema'] ??
    jsonSchemaOf(config.responseSchema, `${place}.responseSchema`);
  if (type === 'text/plain') return undefined;
  if (type !== 'application/json' && type !== enumType)
    refuseParam(
      `${place}.responseMimeType`,
      model,
      `it answers in text/plain, application/json and ${enumType}, not in '${type}'.`,
    );
  if (schema == null) return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'response', schema, strict: false } };
}
