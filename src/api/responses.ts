import type { Principal } from '../accounts/principal.ts';
import { editJsonBytes, jsonText, isObject } from '../base/json.ts';
import type { Skeleton } from '../base/long-strings.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat, ApiRequest } from '../gateway/accept.ts';
import { responsesUsage } from '../providers/conversation/client-usage.ts';
import { responsesErrorEvent } from './errors.ts';
import {
  addMediaText,
  type PromptMedia,
  noMedia,
  type RequestBody,
  optionalArray,
  optionalBoolean,
  optionalInteger,
  optionalNumber,
  optionalObject,
  refuseType,
  requiredString,
} from './request-body.ts';

/** The least that the convention allows. */
export const responsesOutputTokensMin = 16;
export const responsesTopLogprobsMax = 20;

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

/**
 * POST /v1/responses: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseResponse(
  id: string,
  principal: Principal,
  body: RequestBody,
  bytes: Buffer,
  skeleton?: Skeleton,
): ApiRequest {
  const input = parseInput(id, principal, body, bytes, skeleton);
  checkSampling(body);
  return {
    ...input,
    stream: optionalBoolean(body, 'stream') ?? false,
    outputTokensRequested: optionalInteger(
      body,
      'max_output_tokens',
      responsesOutputTokensMin,
      Number.MAX_SAFE_INTEGER,
    ),
  };
}

/** As `parseResponse`, without the parameters of the response: for counting tokens. */
export function parseInput(
  id: string,
  principal: Principal,
  body: RequestBody,
  bytes: Buffer,
  skeleton?: Skeleton,
): ApiRequest {
  const model = requiredString(body, 'model');
  refuseUnknown(body);
  const media = checkInput(body['input']);
  checkTools(body);
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
    mediaBytes: media.bytes,
    addresses: media.addresses,
    text: () => responsesText(body),
    answerId: responseId(id),
  };
}

function refuseUnknown(body: RequestBody): void {
  const { input, previous_response_id: previous, conversation, prompt, instructions } = body;
  if (conversation != null)
    refuse('invalid_value', {
      param: 'conversation',
      why: 'conversations are not kept here; use previous_response_id.',
    });
  if (previous != null && typeof previous !== 'string')
    refuseType('previous_response_id', 'a string', previous);
  if (input == null && previous == null && prompt == null)
    refuse('missing_parameter', { param: 'input' });
  if (Array.isArray(input) && input.length === 0 && previous == null && prompt == null)
    refuse('invalid_value', { param: 'input', why: 'at least one item is needed.' });
  if (instructions != null && typeof instructions !== 'string')
    refuseType('instructions', 'a string', instructions);
}

function checkSampling(body: RequestBody): void {
  optionalNumber(body, 'temperature', 0, 2);
  optionalNumber(body, 'top_p', 0, 1);
  optionalInteger(body, 'top_logprobs', 0, responsesTopLogprobsMax);
  optionalInteger(body, 'max_tool_calls', 1, Number.MAX_SAFE_INTEGER);
  optionalBoolean(body, 'store');
  optionalBoolean(body, 'background');
  optionalBoolean(body, 'parallel_tool_calls');
  optionalArray(body, 'include');
  optionalObject(body, 'reasoning');
  optionalObject(body, 'metadata');
  const format = optionalObject(body, 'text')?.['format'];
  if (
    format !== undefined &&
    format !== null &&
    (!isObject(format) || typeof format['type'] !== 'string')
  )
    refuse('invalid_value', { param: 'text.format', why: 'it needs a type.' });
  if (body['background'] === true && body['store'] === false)
    refuse('invalid_value', {
      param: 'store',
      why: 'a response in the background has to be stored.',
    });
}

function checkTools(body: RequestBody): void {
  for (const [i, tool] of (optionalArray(body, 'tools') ?? []).entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
    if (typeof tool['type'] !== 'string')
      refuse('missing_parameter', { param: `tools[${i}].type` });
    if (tool['type'] === 'function' && typeof tool['name'] !== 'string')
      refuse('missing_parameter', { param: `tools[${i}].name` });
  }
}

export const responsesRoles = ['user', 'assistant', 'system', 'developer'];

/** Part type → modality, for parts that are not text. */
const modalities: Readonly<Record<string, string>> = {
  input_image: 'image',
  input_audio: 'audio',
  input_file: 'file',
};

/** Checks `input` as far as every model agrees on it; where models differ, the vendor decides. */
function checkInput(input: unknown): PromptMedia {
  const media = noMedia();
  if (typeof input === 'string' || input === undefined || input === null) return media;
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
    if (!responsesRoles.includes(role))
      refuse('invalid_value', {
        param: `${param}.role`,
        why: `'${role}' is not one of ${responsesRoles.join(', ')}.`,
      });
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
    media.count += 1;
    if (!media.kinds.has(modality)) media.kinds.set(modality, `${param}[${i}]`);
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
  collect(body['instructions'], pieces);
  collect(body['input'], pieces);
  if (body['tools'] !== undefined) pieces.push(JSON.stringify(body['tools']));
  if (body['text'] !== undefined) pieces.push(JSON.stringify(body['text']));
  return pieces.join('\n');
}

function collect(value: unknown, pieces: string[]): void {
  if (typeof value === 'string') pieces.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, pieces);
  else if (isObject(value))
    for (const [member, inner] of Object.entries(value))
      if (!mediaMembers.has(member)) collect(inner, pieces);
}
