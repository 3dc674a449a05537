import {
  anything,
  either,
  type Endpoint,
  flag,
  isObject,
  type Json,
  list,
  listOf,
  map,
  type Members,
  number,
  object,
  objectsOf,
} from './shape.ts';
import { one, rule, type Rule, type Shape, strings, text, whole } from './shape.ts';

// Gemini's generateContent. Its members are googleapis/js-genai's, src/types.ts and
// src/converters/_models_converters.ts, 2026-08; Google takes them in camelCase and in snake_case
// (recorded), and so does this table.

const definition = 'googleapis/js-genai types.ts, 2026-08; ai.google.dev/api/generate-content';

/** A message of protobuf in JSON: names in either spelling, no others. */
export const proto =
  (members: Members, ...needs: readonly string[]): Shape =>
  (value, at, tell) => {
    if (!isObject(value)) return object(members)(value, at, tell);
    object(members, ...needs)(
      Object.fromEntries(Object.entries(value).map(([name, one]) => [camel(name), one])),
      at,
      tell,
    );
  };
const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** By the names of enumerations, or by their numbers. */
const word = (...names: readonly string[]): Shape =>
  either(whole(0), one(...names, ...names.map((name) => name.toLowerCase())));

const name = text({ pattern: /^[a-zA-Z_][\w.:-]{0,127}$/ });
const blob = proto(
  { mimeType: text({ min: 1 }), data: text({ min: 1 }), displayName: text() },
  'mimeType',
  'data',
);
const file = proto({ mimeType: text(), fileUri: text({ min: 1 }), displayName: text() }, 'fileUri');

const part: Shape = (value, at, tell) => {
  proto({
    text: text(),
    thought: flag,
    thoughtSignature: text(),
    inlineData: blob,
    fileData: file,
    functionCall: proto(
      { id: text(), name, args: map(), partialArgs: list(map()), willContinue: flag },
      'name',
    ),
    functionResponse: proto(
      {
        id: text(),
        name,
        response: map(),
        parts: list(proto({ inlineData: blob, fileData: file })),
        willContinue: flag,
        scheduling: text(),
      },
      'name',
      'response',
    ),
    executableCode: map(),
    codeExecutionResult: map(),
    toolCall: map(),
    toolResponse: map(),
    videoMetadata: map(),
    mediaResolution: anything,
  })(value, at, tell);
  const datum = isObject(value)
    ? Object.keys(value)
        .map(camel)
        .filter((key) => data.has(key) && value[key] !== null)
    : [];
  if (datum.length > 1) tell(`${at}: holds ${datum.join(' and ')}, of which a part has one`);
  // A signature may come alone: recorded vertex-0075, accepted.
  const signed =
    isObject(value) && Object.keys(value).some((key) => camel(key) === 'thoughtSignature');
  if (datum.length === 0 && !signed) tell(`${at}: holds nothing`);
};
const data = new Set([
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]);

const content = proto(
  { role: one('user', 'model', 'function'), parts: list(part, { min: 1 }) },
  'parts',
);

/** The subset of OpenAPI that `parameters` and `responseSchema` are. */
const words = new Set(
  (
    'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf ' +
    'propertyOrdering default items minimum maximum'
  ).split(' '),
);
const openapi: Shape = (value, at, tell) => {
  if (!isObject(value)) return tell(`${at}: is no schema`);
  for (const [key, below] of Object.entries(value)) {
    if (!words.has(camel(key))) tell(`${at}.${key}: no word of its schemas`);
    if (key === 'properties' && isObject(below))
      for (const [called, one] of Object.entries(below))
        openapi(one, `${at}.properties.${called}`, tell);
    if (key === 'items' && isObject(below)) openapi(below, `${at}.items`, tell);
    if (key === 'anyOf') for (const one of listOf(below)) openapi(one, `${at}.anyOf`, tell);
  }
};

const declaration = proto(
  {
    name,
    description: text(),
    parameters: openapi,
    parametersJsonSchema: map(),
    response: openapi,
    responseJsonSchema: map(),
    behavior: text(),
  },
  'name',
);
const tool: Shape = (value, at, tell) => {
  if (isObject(value) && Object.values(value).every((one) => one === null))
    tell(`${at}: is no tool`);
  proto({
    functionDeclarations: list(declaration),
    googleSearch: map(),
    googleSearchRetrieval: map(),
    googleMaps: map(),
    enterpriseWebSearch: map(),
    codeExecution: map(),
    urlContext: map(),
    fileSearch: map(),
    computerUse: map(),
    retrieval: map(),
    mcpServers: list(map()),
  })(value, at, tell);
};

const generation: Members = {
  candidateCount: whole(1, 8),
  stopSequences: strings(5),
  maxOutputTokens: whole(1),
  temperature: number(0, 2),
  topP: number(0, 1),
  topK: number(1),
  seed: whole(-(2 ** 31), 2 ** 31 - 1),
  presencePenalty: number(-2, 2),
  frequencyPenalty: number(-2, 2),
  responseLogprobs: flag,
  logprobs: whole(0, 20),
  responseMimeType: one('text/plain', 'application/json', 'text/x.enum'),
  responseSchema: openapi,
  responseJsonSchema: map(),
  responseModalities: list(word('TEXT', 'IMAGE', 'AUDIO', 'VIDEO')),
  thinkingConfig: proto({
    includeThoughts: flag,
    thinkingBudget: whole(-1),
    thinkingLevel: word('THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
  }),
  speechConfig: map(),
  imageConfig: map(),
  mediaResolution: anything,
  audioTimestamp: flag,
  enableAffectiveDialog: flag,
  routingConfig: map(),
  modelSelectionConfig: map(),
};

const members: Members = {
  contents: list(content, { min: 1 }),
  systemInstruction: proto({ role: text(), parts: list(part, { min: 1 }) }, 'parts'),
  generationConfig: proto(generation),
  tools: either(list(tool), tool),
  toolConfig: proto({
    functionCallingConfig: proto({
      mode: word('AUTO', 'ANY', 'NONE', 'VALIDATED'),
      allowedFunctionNames: strings(),
      streamFunctionCallArguments: flag,
    }),
    retrievalConfig: map(),
    includeServerSideToolInvocations: flag,
  }),
  safetySettings: list(
    proto({
      category: either(whole(0), text({ pattern: /^HARM_CATEGORY_/ })),
      threshold: word(
        'BLOCK_LOW_AND_ABOVE',
        'BLOCK_MEDIUM_AND_ABOVE',
        'BLOCK_ONLY_HIGH',
        'BLOCK_NONE',
        'OFF',
        'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
      ),
      method: text(),
    }),
  ),
  cachedContent: text(),
  model: text(),
  serviceTier: text(),
  store: flag,
};

/** The body with all names in camelCase, but for what users name. */
const at = (body: Json, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        isObject(value)
          ? (value[key] ?? value[key.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)])
          : undefined,
      body,
    );

const partsOf = (content: Json | undefined): readonly Json[] => objectsOf(content?.['parts']);
const has = (one: Json, key: string): boolean => isObject(at(one, key));

const thinking = 'ai.google.dev/gemini-api/docs/thinking; wire-formats §0.11 and §4.5, 2026-11-21';

const levels = (models: RegExp, ...taken: readonly string[]): Rule =>
  rule(thinking, models, ({ body }) => {
    const level = at(body, 'generationConfig.thinkingConfig.thinkingLevel');
    return typeof level !== 'string' || taken.includes(level.toUpperCase())
      ? []
      : [`thinkingLevel: ${level} is none of ${taken.join(', ')} for this model`];
  });

const budgets = (models: RegExp, min: number, max: number, off: boolean): Rule =>
  rule(thinking, models, ({ body }) => {
    const budget = at(body, 'generationConfig.thinkingConfig.thinkingBudget');
    if (
      typeof budget !== 'number' ||
      budget === -1 ||
      (off && budget === 0) ||
      (budget >= min && budget <= max)
    )
      return [];
    return [`thinkingBudget: ${budget} is not between ${min} and ${max}`];
  });

const rules: readonly Rule[] = [
  rule(
    'ai.google.dev/gemini-api/docs/function-calling: all answers of a step in one content',
    undefined,
    ({ body }) => {
      const turns = objectsOf(at(body, 'contents'));
      return turns.flatMap((turn, index) => {
        // No answer at all is taken: recorded gemini-0617, vertex-0147.
        const called =
          turn['role'] === 'model'
            ? partsOf(turn).filter((one) => has(one, 'functionCall')).length
            : 0;
        const next = turns[index + 1];
        const told = partsOf(next).filter((one) => has(one, 'functionResponse')).length;
        return called > 0 && next !== undefined && told > 0 && told !== called
          ? [`contents[${index}]: ${called} calls and ${told} responses`]
          : [];
      });
    },
  ),
  rule(
    'ai.google.dev/gemini-api/docs/thought-signatures: the first call of each step of the current turn',
    /gemini-3/,
    ({ body }) => {
      const turns = objectsOf(at(body, 'contents'));
      const begin = turns.findLastIndex(
        (turn) =>
          turn['role'] !== 'model' && partsOf(turn).some((one) => !has(one, 'functionResponse')),
      );
      return turns.slice(begin + 1).flatMap((turn) => {
        const first =
          turn['role'] === 'model'
            ? partsOf(turn).find((one) => has(one, 'functionCall'))
            : undefined;
        return first !== undefined && at(first, 'thoughtSignature') === undefined
          ? ['contents: a call of the current turn without its thoughtSignature']
          : [];
      });
    },
  ),
  rule(thinking, undefined, ({ body }) =>
    at(body, 'generationConfig.thinkingConfig.thinkingBudget') !== undefined &&
    at(body, 'generationConfig.thinkingConfig.thinkingLevel') !== undefined
      ? ['thinkingLevel: not beside thinkingBudget']
      : [],
  ),
  rule(thinking, /gemini-(?:1|2)/, ({ body }) =>
    at(body, 'generationConfig.thinkingConfig.thinkingLevel') === undefined
      ? []
      : ['thinkingLevel: from Gemini 3 on'],
  ),
  rule(
    'ai.google.dev/gemini-api/docs/speech-generation; recorded gemini-0555',
    /-tts/,
    ({ body }) =>
      listOf(at(body, 'generationConfig.responseModalities')).includes('AUDIO')
        ? []
        : ['responseModalities: this model speaks, and does nothing else'],
  ),
  budgets(/gemini-2\.5-pro/, 128, 32_768, false),
  budgets(/gemini-2\.5-flash-lite/, 512, 24_576, true),
  budgets(/gemini-2\.5-flash(?!-lite)/, 1, 24_576, true),
  levels(/gemini-3-pro/, 'LOW', 'HIGH'),
  levels(/gemini-3\.(?:1|5)-pro|gemini-3\.[78]/, 'LOW', 'MEDIUM', 'HIGH'),
  rule(
    'ai.google.dev/gemini-api/docs/structured-output: with tools from Gemini 3 on; BerriAI/litellm#8381',
    /gemini-(?:1|2)/,
    ({ body }) =>
      at(body, 'generationConfig.responseMimeType') === 'application/json' &&
      objectsOf(at(body, 'tools')).some((one) => listOf(at(one, 'functionDeclarations')).length > 0)
        ? ['responseMimeType: no JSON beside functions']
        : [],
  ),
  rule(definition, undefined, ({ body }) => {
    const schema =
      at(body, 'generationConfig.responseSchema') ??
      at(body, 'generationConfig.responseJsonSchema');
    const type = at(body, 'generationConfig.responseMimeType');
    return schema !== undefined && schema !== null && (type === undefined || type === 'text/plain')
      ? ['responseSchema: without the MIME type of JSON']
      : [];
  }),
  rule(definition, undefined, ({ body }) =>
    at(body, 'generationConfig.logprobs') !== undefined &&
    at(body, 'generationConfig.responseLogprobs') !== true
      ? ['logprobs: without responseLogprobs']
      : [],
  ),
];

export const gemini: Endpoint = {
  path: /\/models\/[^/:]+:(?:streamGenerateContent|generateContent)$/,
  source: definition,
  body: proto(members, 'contents'),
  rules,
};

export const geminiOnVertex: Endpoint = {
  path: /\/models\/[^/:]+:(?:streamGenerateContent|generateContent)$/,
  source: `${definition}; docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference`,
  body: proto({ ...members, labels: map(text()), modelArmorConfig: map() }, 'contents'),
  rules,
};

export const geminiVectors: Endpoint = {
  path: /:batchEmbedContents$/,
  source: 'googleapis/js-genai types.ts, 2026-08; ai.google.dev/api/embeddings',
  body: proto(
    {
      requests: list(
        proto(
          {
            model: text({ pattern: /^models\// }),
            content,
            taskType: text(),
            title: text(),
            outputDimensionality: whole(1),
            embedContentConfig: map(),
          },
          'model',
          'content',
        ),
        { min: 1, max: 100 },
      ),
    },
    'requests',
  ),
};
