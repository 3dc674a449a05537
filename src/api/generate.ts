import { editJsonBytes, isObject, jsonText, type JsonObject, objectOf } from '../base/json.ts';
import { refuse } from '../base/refusal.ts';
import type { ApiRequest, ClientFormat } from '../gateway/api-request.ts';
import { generateUsage } from '../providers/conversation/client-usage.ts';
import { inCamelCase } from '../providers/conversation/spelling.ts';
import { generateEnvelope } from './errors.ts';
import {
  addAddress,
  addMedium,
  checkInteger,
  checkText,
  fallbackModels,
  isAddress,
  noMedia,
  type ParsedJson,
  type ParserContext,
  type PromptMedia,
  type RequestBody,
  readersOf,
  refuseType,
  refuseUnlisted,
  withFallbacks,
} from './request-body.ts';
import * as schema from './schema.ts';

const roles = ['user', 'model', 'function', 'system'];

const functionTools = schema.checkedBy(
  checkTools,
  schema.anyOf(
    'The tools that the model may call: `functionDeclarations`, or a tool of the vendor by its name. A single tool needs no list.',
    { type: 'array', items: { type: 'object' } },
    { type: 'object' },
  ),
);

const question = {
  contents: schema.checkedBy(
    checkContents,
    schema.anyOf(
      'The conversation, oldest first. A single turn needs no list.',
      { type: 'array', minItems: 1, items: schema.ref('GenerateTurn') },
      schema.ref('GenerateTurn'),
    ),
  ),
};
const around = {
  systemInstruction: schema.checkedBy(checkInstruction, schema.ref('GenerateTurn')),
  tools: functionTools,
  toolConfig: schema.object('`functionCallingConfig`: `mode` and `allowedFunctionNames`.'),
};
const config = schema.request(
  {},
  {
    temperature: schema.number('Sampling temperature.', 0, 2),
    topP: schema.number('Nucleus sampling.', 0, 1),
    candidateCount: wholeNumber('Number of answers.', 1, 8),
    maxOutputTokens: wholeNumber('Maximum number of output tokens, including reasoning.', 1),
    stopSequences: schema.array('Sequences at which the model stops.', { type: 'string' }),
    responseMimeType: schema.string('`text/plain`, `application/json` or `text/x.enum`.'),
    responseSchema: schema.object('The schema of the answer, in Google’s format.'),
    thinkingConfig: schema.object('`includeThoughts`, `thinkingBudget` or `thinkingLevel`.'),
  },
);

const generateRequest = schema.request(question, {
  ...around,
  generationConfig: config,
  safetySettings: schema.forwarded('Only Google’s own models read them.'),
  models: fallbackModels,
});
export const tokenCountOfSchema = schema.request(question, {
  ...around,
  generateContentRequest: schema.object('A whole request, instead of the members above.'),
});
const read = readersOf(generateRequest);
const readConfig = readersOf(config);

/** The schemas of a request by the names that the document gives them. */
export const generateSchemas = {
  GeneratePart: schema.request(
    {},
    {
      text: schema.string('A text.'),
      inlineData: schema.object('`mimeType`, and `data` in base64.'),
      fileData: schema.object('`mimeType`, and the URL or the name of a file in `fileUri`.'),
      functionCall: schema.object('`name`, `args` and `id`.'),
      functionResponse: schema.object('`name`, `response` and `id`.'),
      thoughtSignature: schema.string('The signature that came with the part.'),
    },
  ),
  GenerateTurn: schema.request(
    {
      parts: schema.anyOf(
        'The parts of the turn. A single part needs no list.',
        { type: 'array', items: schema.ref('GeneratePart') },
        schema.ref('GeneratePart'),
      ),
    },
    { role: schema.choice('Role of the author; default `user`.', roles) },
  ),
  GenerateRequest: generateRequest,
};

/** A whole number, which may be written as a string (protobuf.dev/programming-guides/json). */
function wholeNumber(
  description: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): schema.SchemaOf<number> {
  return schema.checkedBy(
    (value, param) => {
      const number =
        typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
      if (!Number.isInteger(number)) refuseType(param, 'an integer', value);
      return checkInteger(number, param, least, most);
    },
    schema.anyOf(
      description,
      { type: 'integer', minimum: least, maximum: most },
      { type: 'string', pattern: '^\\d+$' },
    ),
  );
}

/**
 * A stream has no end mark, and only its chunks: clients take nothing else for an event. Its last
 * chunk, with the finish reason, is held back until the charge is committed.
 */
export const generateFormat: ClientFormat = {
  done: '',
  keepAlive: '',
  errorEvent: generateEnvelope.event,
  breaksAfterError: true,
  counted: {
    whole: (answer, quantities) =>
      editJsonBytes(answer, [
        { path: ['usageMetadata'], json: jsonText(generateUsage(quantities)) },
      ]),
    event: () => '',
  },
};

/** What a parser reads of a request whose path names the model. */
export type GenerateContext = ParserContext & { readonly model: string };

/** POST /v1beta/models/{model}:generateContent */
export function parseGenerate(
  context: GenerateContext,
  sent: ParsedJson,
  stream: boolean,
): ApiRequest {
  const body = inCamelCase(sent.body);
  const request = requestOf(context, body, sent);
  const settings = read.generationConfig(body) ?? {};
  const limit = readConfig.maxOutputTokens(settings);
  return withFallbacks({
    ...request,
    stream,
    choices: readConfig.candidateCount(settings) ?? 1,
    outputTokensRequested: limit,
    answersIn: modalitiesOf(settings),
  });
}

/** Modalities by their numbers, which may stand for their names. */
const modalities = ['modality_unspecified', 'text', 'image', 'audio'];

/** What `responseModalities` ask for, in whatever spelling. */
function modalitiesOf({ responseModalities: told }: JsonObject): ApiRequest['answersIn'] {
  if (!Array.isArray(told)) return undefined;
  const kinds = told.map((one: unknown) =>
    typeof one === 'number' ? (modalities[one] ?? String(one)) : String(one).toLowerCase(),
  );
  return {
    kinds: kinds.filter((kind) => kind !== 'modality_unspecified'),
    param: 'generationConfig.responseModalities',
  };
}

/**
 * POST …:countTokens: the contents, or a whole request in `generateContentRequest`. `body` is the
 * request, `bytes` are what was sent.
 */
export function parseTokenCountOf(context: GenerateContext, sent: ParsedJson): ApiRequest {
  const outer = inCamelCase(sent.body);
  const { generateContentRequest: inner } = outer;
  if (inner === undefined || inner === null) return requestOf(context, outer, sent);
  if (!isObject(inner)) refuseType('generateContentRequest', 'an object', inner);
  return requestOf(context, inner, { ...sent, body: inner });
}

/** The response body of a token count. */
export const renderTotalTokens = (tokens: number): string =>
  JSON.stringify({ totalTokens: tokens });

function requestOf(
  { id, principal, model }: GenerateContext,
  body: RequestBody,
  sent: ParsedJson,
): ApiRequest {
  const media = read.contents(body);
  read.systemInstruction(body);
  read.tools(body);
  read.toolConfig(body);
  return {
    id,
    principal,
    capability: 'generate_content',
    model,
    body: sent.body,
    bytes: sent.bytes,
    skeleton: sent.skeleton,
    stream: false,
    includeUsage: true,
    choices: 1,
    outputTokensRequested: undefined,
    media: media.kinds,
    mediaCount: media.count,
    textBytes: sent.bytes.length - media.bytes,
    addresses: media.addresses,
    text: () => promptText(body),
    answerId: id.slice(4),
  };
}

function checkContents(contents: unknown): PromptMedia {
  const media = noMedia();
  if (isObject(contents)) checkContent(contents, 'contents', media);
  else if (!Array.isArray(contents)) refuseType('contents', 'an array', contents);
  else if (contents.length === 0)
    refuse('invalid_value', { param: 'contents', why: 'at least one turn is needed.' });
  else contents.forEach((content, i) => checkContent(content, `contents[${i}]`, media));
  return media;
}

/**
 * Instructions that stand before the conversation: a turn of text alone
 * (ai.google.dev/api/generate-content, 2026-11). Media here would be neither counted nor checked.
 */
function checkInstruction(content: unknown, param: string): void {
  const media = noMedia();
  checkContent(content, param, media);
  if (media.count > 0)
    refuse('invalid_value', { param, why: 'instructions are text. Put media into `contents`.' });
}

function checkContent(content: unknown, param: string, media: PromptMedia): void {
  if (!isObject(content)) refuseType(param, 'an object', content);
  const { role, parts } = content;
  if (role !== undefined && role !== null && role !== '') {
    if (typeof role !== 'string') refuseType(`${param}.role`, 'a string', role);
    if (!roles.includes(role)) refuseUnlisted(role, `${param}.role`, roles);
  }
  if (isObject(parts)) checkPart(parts, `${param}.parts`, media);
  else if (!Array.isArray(parts)) refuseType(`${param}.parts`, 'an array', parts);
  else parts.forEach((part, i) => checkPart(part, `${param}.parts[${i}]`, media));
}

/** The members of a part that hold its content, with the strings that each must have. */
const needed: Readonly<Record<string, readonly string[]>> = {
  inlineData: ['mimeType', 'data'],
  fileData: ['fileUri'],
  functionCall: ['name'],
  functionResponse: ['name'],
};

function checkPart(part: unknown, param: string, media: PromptMedia): void {
  if (!isObject(part)) refuseType(param, 'an object', part);
  const { text } = part;
  if (text !== undefined && text !== null && typeof text !== 'string')
    refuseType(`${param}.text`, 'a string', text);
  for (const [name, strings] of Object.entries(needed)) {
    const value = part[name];
    if (value === undefined || value === null) continue;
    if (!isObject(value)) refuseType(`${param}.${name}`, 'an object', value);
    for (const member of strings) checkText(value[member], `${param}.${name}.${member}`);
    if (name === 'functionCall') checkObject(value['args'], `${param}.${name}.args`);
    if (name === 'functionResponse') checkResponse(value, `${param}.${name}`, media);
    if (name === 'inlineData') checkInline(value, `${param}.${name}`, media);
    if (name === 'fileData') checkFile(part, value, param, media);
  }
}

function checkObject(value: unknown, param: string): void {
  if (value !== undefined && value !== null && !isObject(value))
    refuseType(param, 'an object', value);
}

function checkResponse(result: JsonObject, param: string, media: PromptMedia): void {
  checkObject(result['response'], `${param}.response`);
  const { parts } = result;
  if (isObject(parts)) checkPart(parts, `${param}.parts`, media);
  else if (Array.isArray(parts))
    parts.forEach((part, i) => checkPart(part, `${param}.parts[${i}]`, media));
}

/** The modality of a media type. */
function modalityOf(type: unknown): 'image' | 'audio' | 'video' | 'file' {
  const kind = typeof type === 'string' ? type.split('/', 1)[0] : '';
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}

const isTextType = (type: unknown): boolean => typeof type === 'string' && type.startsWith('text/');

function checkInline({ mimeType, data }: JsonObject, param: string, media: PromptMedia): void {
  const text = checkText(data, `${param}.data`);
  if (text.startsWith('data:'))
    refuse('invalid_value', {
      param: `${param}.data`,
      why: "expected base64 alone, without 'data:…;base64,' before it.",
    });
  // Every model reads text, and it is counted as such.
  if (isTextType(mimeType)) return;
  media.bytes += text.length;
  addMedium(media, modalityOf(mimeType), param);
}

/** Vendors that do not fetch addresses get the bytes in their place. */
function checkFile(part: JsonObject, file: JsonObject, param: string, media: PromptMedia): void {
  const { fileUri, mimeType } = file;
  const url = checkText(fileUri, `${param}.fileData.fileUri`);
  const kind = modalityOf(mimeType);
  addMedium(media, kind, `${param}.fileData`);
  if (!isAddress(url) || kind === 'audio') return;
  const { fileData: _, ...beside } = part;
  addAddress(media, {
    url,
    kind,
    name: undefined,
    param: `${param}.fileData.fileUri`,
    place: param,
    written: (type, data) => ({ ...beside, inlineData: { mimeType: type, data } }),
  });
}

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) refuseType('tools', 'an array', tools);
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
    const { functionDeclarations: functions } = tool;
    if (functions === undefined || functions === null) continue;
    const param = `tools[${i}].functionDeclarations`;
    if (!Array.isArray(functions)) refuseType(param, 'an array', functions);
    functions.forEach((declared, j) => {
      if (!isObject(declared)) refuseType(`${param}[${j}]`, 'an object', declared);
      checkText(declared['name'], `${param}[${j}].name`);
    });
  }
}

/** Members whose strings no model reads as text. */
const unread: ReadonlySet<string> = new Set([
  'data',
  'fileUri',
  'thoughtSignature',
  'mimeType',
  'role',
]);

/** Members whose value a model reads as JSON, its names too: they are the client's own. */
const readAsJson: ReadonlySet<string> = new Set(['args', 'response']);
/** The members of `generationConfig` that hold a schema, which counts as input. */
const schemaMembers = ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'];

/** Everything that a model reads as text, for counting. */
function promptText(body: RequestBody): string {
  const pieces: string[] = [];
  collect(body['systemInstruction'], pieces);
  collect(body['contents'], pieces);
  if (body['tools'] !== undefined) pieces.push(JSON.stringify(body['tools']));
  const config = objectOf(body['generationConfig']) ?? {};
  for (const member of schemaMembers)
    if (config[member] !== undefined) pieces.push(JSON.stringify(config[member]));
  return pieces.join('\n');
}

function collect(value: unknown, pieces: string[]): void {
  if (typeof value === 'string') pieces.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, pieces);
  else if (isObject(value))
    for (const [member, inner] of Object.entries(value))
      if (readAsJson.has(member)) pieces.push(JSON.stringify(inner) ?? '');
      else if (member === 'inlineData') collectFile(objectOf(inner), pieces);
      else if (!unread.has(member)) collect(inner, pieces);
}

/** The text of a file of text, which stands in base64. */
function collectFile(file: JsonObject | undefined, pieces: string[]): void {
  const { mimeType, data } = file ?? {};
  if (isTextType(mimeType) && typeof data === 'string')
    pieces.push(Buffer.from(data, 'base64').toString('utf8'));
}
