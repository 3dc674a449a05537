import { editJsonBytes, jsonText, isObject, type JsonObject, stringOf } from '../base/json.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat, ApiRequest } from '../gateway/api-request.ts';
import { responsesUsage } from '../providers/conversation/client-usage.ts';
import { responsesErrorEvent } from './errors.ts';
import * as schema from './schema.ts';
import {
  addMediaText,
  addMedium,
  collectText,
  fallbackModels,
  noMedia,
  type ParsedJson,
  type ParserContext,
  type PromptMedia,
  readersOf,
  refuseType,
  refuseUnlisted,
  type RequestBody,
  withFallbacks,
} from './request-body.ts';

/** The least that the convention allows. */
const responsesOutputTokensMin = 16;
const responsesTopLogprobsMax = 20;

const responsesRoles = ['user', 'assistant', 'system', 'developer'];

const isMessage: schema.Schema = {
  anyOf: [
    { required: ['role'], properties: { type: { type: 'null' } } },
    { required: ['type'], properties: { type: { const: 'message' } } },
  ],
};

/** An item with a role is a message, and has content. */
const item: schema.Schema = {
  type: 'object',
  description:
    'A message, a tool call, the result of a call, reasoning, … Unknown types are forwarded.',
  properties: { type: { type: ['string', 'null'] }, role: { type: 'string' } },
  anyOf: [
    { not: isMessage },
    {
      required: ['role', 'content'],
      properties: { role: { enum: responsesRoles }, content: { type: ['string', 'array'] } },
    },
  ],
};

/** A request needs one of these members. */
const something: schema.Schema = {
  anyOf: [
    {
      required: ['input'],
      properties: { input: { anyOf: [{ type: 'string' }, { type: 'array', minItems: 1 }] } },
    },
    ...['previous_response_id', 'prompt'].map(schema.present),
  ],
};

const model = schema.string('Any chat model.', { minLength: 1 });

const conversation = {
  input: schema.checkedBy(
    checkInput,
    schema.anyOf(
      'A text, or a list of items: messages, tool calls and their results. Required without `previous_response_id` and `prompt`.',
      { type: 'string' },
      { type: 'array', items: schema.ref('ResponseItem') },
    ),
  ),
  instructions: schema.string('Instructions before the conversation.'),
  previous_response_id: schema.string('A stored response that this one continues.'),
  prompt: schema.forwarded('A prompt stored at the vendor.'),
  conversation: {
    type: 'null',
    description: 'The gateway does not store conversations. Use `previous_response_id`.',
    check: refuseConversation,
  },
  tools: schema.checkedBy(
    checkTools,
    schema.array(
      'The tools that the model may call.',
      schema.request(
        { type: schema.string('`function`, or a tool that the vendor runs.') },
        { name: schema.forwarded('Name of the function.') },
      ),
    ),
  ),
};

const responseRequest = schema.request(
  { model },
  {
    ...conversation,
    stream: schema.boolean('Whether to stream events.'),
    store: schema.boolean('Whether to store the response for 30 days; default `true`.'),
    background: schema.boolean(
      'Whether to answer immediately and run in the background. With `store: false` the response can be read until ten minutes after its end. With `stream`, the answer is the stream; the response runs on when you leave, and `GET /v1/responses/{id}?stream=true` reads on.',
    ),
    max_output_tokens: schema.integer('Maximum number of output tokens.', responsesOutputTokensMin),
    max_tool_calls: schema.integer('Maximum number of calls of tools that the vendor runs.', 1),
    temperature: schema.number('Sampling temperature.', 0, 2),
    top_p: schema.number('Nucleus sampling.', 0, 1),
    top_logprobs: schema.integer(
      'Number of most likely tokens to return for each position.',
      0,
      responsesTopLogprobsMax,
    ),
    parallel_tool_calls: schema.boolean(
      'Whether the model may make several calls at the same time.',
    ),
    tool_choice: schema.checkedBy(
      checkToolChoice,
      schema.forwarded('`auto`, `none`, `required`, or the tool that must be called.'),
    ),
    include: schema.array('Additional output.', {
      description: 'Such as `reasoning.encrypted_content`.',
    }),
    reasoning: schema.object('`effort` and `summary`.'),
    text: schema.object('`format`: text, or a schema of the answer.'),
    metadata: schema.object('Your own data, stored with the response.'),
    models: fallbackModels,
  },
  something,
);

const read = readersOf(responseRequest);

/** The schemas of requests by the names that the document gives them. */
export const responsesSchemas = {
  ResponseItem: item,
  ResponseRequest: responseRequest,
};
export const inputCountRequestSchema = schema.request({ model }, conversation, something);

/**
 * How a response ends: its last event is the end mark, which is held back until the charge is
 * committed.
 */
export const responsesFormat: ClientFormat = {
  done: '',
  keepAlive: ': keep-alive\n\n',
  errorEvent: responsesErrorEvent,
  counted: {
    whole: (answer, quantities) =>
      editJsonBytes(answer, [{ path: ['usage'], json: jsonText(responsesUsage(quantities)) }]),
    // A stream's last event has been numbered by then; its usage stays null.
    event: () => '',
  },
};

/** The id of the response that a request makes. */
export const responseId = (requestId: string): string => `resp_${requestId.slice(4)}`;

/** The request that a response was made by, and charged under. */
export const requestIdOf = (response: string): string => `req_${response.slice(5)}`;

/** POST /v1/responses */
export function parseResponse(context: ParserContext, sent: ParsedJson): ApiRequest {
  const input = parseInput(context, sent);
  const { body } = sent;
  checkSampling(body);
  return withFallbacks({
    ...input,
    stream: read.stream(body) ?? false,
    outputTokensRequested: read.max_output_tokens(body),
  });
}

/** As `parseResponse`, without the parameters of the response: for counting tokens. */
export function parseInput(
  { id, principal }: ParserContext,
  { body, bytes, skeleton }: ParsedJson,
): ApiRequest {
  const model = read.model(body);
  checkPrompt(body);
  const media = read.input(body) ?? noMedia();
  read.tools(body);
  return {
    id,
    principal,
    capability: 'responses',
    model,
    body,
    bytes,
    skeleton,
    stream: false,
    includeUsage: true,
    choices: 1,
    outputTokensRequested: undefined,
    media: media.kinds,
    mediaCount: media.count,
    textBytes: bytes.length - media.bytes,
    addresses: media.addresses,
    text: () => responsesText(body),
    answerId: responseId(id),
  };
}

function refuseConversation(_: unknown, param: string): void {
  refuse('invalid_value', {
    param,
    why: 'conversations are not kept here; use previous_response_id.',
  });
}

/** A request needs an input, or continues a response or a prompt. */
function checkPrompt(body: RequestBody): void {
  read.conversation(body);
  const previous = read.previous_response_id(body);
  const { input, prompt } = body;
  if (input == null && previous == null && prompt == null)
    refuse('missing_parameter', { param: 'input' });
  if (Array.isArray(input) && input.length === 0 && previous == null && prompt == null)
    refuse('invalid_value', { param: 'input', why: 'at least one item is needed.' });
  read.instructions(body);
}

function checkSampling(body: RequestBody): void {
  read.temperature(body);
  read.top_p(body);
  read.top_logprobs(body);
  read.max_tool_calls(body);
  read.store(body);
  read.background(body);
  read.parallel_tool_calls(body);
  read.tool_choice(body);
  read.include(body);
  read.reasoning(body);
  read.metadata(body);
  const format = read.text(body)?.['format'];
  if (
    format !== undefined &&
    format !== null &&
    (!isObject(format) || typeof format['type'] !== 'string')
  )
    refuse('invalid_value', { param: 'text.format', why: 'it needs a type.' });
}

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) refuseType('tools', 'an array', tools);
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
    if (typeof tool['type'] !== 'string')
      refuse('missing_parameter', { param: `tools[${i}].type` });
    checkForm(tool, `tools[${i}]`);
  }
}

function checkToolChoice(choice: unknown, param: string): void {
  if (!isObject(choice)) return;
  checkForm(choice, param);
  const { type, tools } = choice;
  if (type !== 'allowed_tools' || !Array.isArray(tools)) return;
  for (const [i, tool] of tools.entries())
    if (isObject(tool)) checkForm(tool, `${param}.tools[${i}]`);
}

/** By the type of a tool or a choice, the member that it has beside its type. */
const besideType: ReadonlyMap<string, string> = new Map([
  ['function', 'name'],
  ['custom', 'name'],
  ['allowed_tools', 'tools'],
]);

/**
 * Refuses the form of chat, where a member named by the type holds the others. OpenAI refuses it,
 * too (diegosouzapw/OmniRoute#1914, 2026-05). The recorded requests with both forms in one are
 * taken.
 */
function checkForm(value: JsonObject, param: string): void {
  const type = stringOf(value['type']);
  const needed = besideType.get(type);
  if (needed === undefined) return;
  const member = value[needed];
  if (needed === 'name' ? typeof member === 'string' : member != null) return;
  if (!isObject(value[type])) refuse('missing_parameter', { param: `${param}.${needed}` });
  refuse('invalid_value', {
    param,
    why: `its form is {"type": "${type}", "${needed}": …}. {"type": "${type}", "${type}": {"${needed}": …}} is that of /v1/chat/completions.`,
  });
}

/** Part type → modality, for parts that are not text. */
const modalities: Readonly<Record<string, string>> = {
  input_image: 'image',
  input_audio: 'audio',
  input_file: 'file',
};

/** Checks `input` as far as every model agrees on it; where models differ, the vendor decides. */
function checkInput(input: unknown): PromptMedia {
  const media = noMedia();
  if (typeof input === 'string') return media;
  if (!Array.isArray(input)) refuseType('input', 'a string or an array of items', input);
  input.forEach((item, i) => checkItem(item, `input[${i}]`, media));
  return media;
}

function checkItem(item: unknown, param: string, media: PromptMedia): void {
  if (!isObject(item)) refuseType(param, 'an object', item);
  const { type, role, content, output } = item;
  if (type !== undefined && type !== null && typeof type !== 'string')
    refuseType(`${param}.type`, 'a string', type);
  if (type === 'message' || (type == null && role !== undefined)) {
    if (typeof role !== 'string') refuseType(`${param}.role`, 'a string', role);
    if (!responsesRoles.includes(role)) refuseUnlisted(role, `${param}.role`, responsesRoles);
    if (content === undefined || content === null)
      refuse('missing_parameter', { param: `${param}.content` });
    if (typeof content !== 'string' && !Array.isArray(content))
      refuseType(`${param}.content`, 'a string or an array of parts', content);
  }
  if (
    (type === 'function_call_output' || type === 'function_call') &&
    typeof item['call_id'] !== 'string'
  )
    refuse('missing_parameter', { param: `${param}.call_id` });
  checkParts(content, `${param}.content`, media);
  checkParts(output, `${param}.output`, media);
}

function checkParts(parts: unknown, param: string, media: PromptMedia): void {
  if (!Array.isArray(parts)) return;
  parts.forEach((part: unknown, i) => {
    if (!isObject(part)) refuseType(`${param}[${i}]`, 'an object', part);
    const modality = modalities[String(part['type'])];
    if (modality === undefined) return;
    addMedium(media, modality, `${param}[${i}]`);
    if (part['file_id'] != null) refuse('kept_at_the_vendor', { param: `${param}[${i}].file_id` });
    for (const name of ['image_url', 'file_url'] as const)
      addMediaText(
        media,
        part[name],
        name === 'image_url' ? 'image' : 'file',
        part['filename'],
        `${param}[${i}].${name}`,
      );
    for (const name of ['file_data', 'data', 'encrypted_content']) {
      const value = part[name];
      if (typeof value === 'string') media.bytes += value.length;
    }
  });
}

const mediaMembers = new Set(['image_url', 'file_data', 'file_url', 'data', 'encrypted_content']);

/** Everything in instructions, input and tools that a model reads as text, for counting. */
function responsesText(body: RequestBody): string {
  const pieces: string[] = [];
  collectText(body['instructions'], mediaMembers, pieces);
  collectText(body['input'], mediaMembers, pieces);
  if (body['tools'] !== undefined) pieces.push(JSON.stringify(body['tools']));
  if (body['text'] !== undefined) pieces.push(JSON.stringify(body['text']));
  return pieces.join('\n');
}
