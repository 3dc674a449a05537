import type { Principal } from '../accounts/principal.ts';
import { editBytes, jsonText } from '../base/json-edit.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import type { ClientRequest } from '../gateway/request.ts';
import { responsesUsage } from '../providers/wire/responses-usage.ts';
import {
  type Body,
  isObject,
  optionalArray,
  optionalBoolean,
  optionalInteger,
  optionalNumber,
  optionalObject,
  refuseType,
  requiredString,
} from './check.ts';
import { responsesErrorEvent } from './errors.ts';
import { limitHeaders } from './limit-headers.ts';
import { checkInput, textOf } from './responses-content.ts';

/** The least that the convention allows. */
export const outputTokensLeast = 16;
export const topLogprobsMax = 20;

/**
 * How a response ends: its last event is the end mark, and is held back until the charge is
 * committed.
 */
export const responsesFormat: ClientFormat = {
  done: '',
  keepAlive: ': keep-alive\n\n',
  errorEvent: responsesErrorEvent,
  limitHeaders,
  counted: {
    whole: (answer, quantities) =>
      editBytes(answer, [{ path: ['usage'], json: jsonText(responsesUsage(quantities)) }]),
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
  body: Body,
  bytes: Buffer,
): ClientRequest {
  const asked = parseInput(id, principal, body, bytes);
  checkSampling(body);
  return {
    ...asked,
    stream: optionalBoolean(body, 'stream') ?? false,
    outputTokensAsked: optionalInteger(
      body,
      'max_output_tokens',
      outputTokensLeast,
      Number.MAX_SAFE_INTEGER,
    ),
  };
}

/** The same without what concerns the answer: for counting it. */
export function parseInput(
  id: string,
  principal: Principal,
  body: Body,
  bytes: Buffer,
): ClientRequest {
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
    stream: false,
    includeUsage: true,
    choices: 1,
    outputTokensAsked: undefined,
    media: media.kinds,
    mediaCount: media.count,
    mediaBytes: media.bytes,
    addresses: media.addresses,
    text: () => textOf(body),
    answerId: responseId(id),
  };
}

function refuseUnknown(body: Body): void {
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

function checkSampling(body: Body): void {
  optionalNumber(body, 'temperature', 0, 2);
  optionalNumber(body, 'top_p', 0, 1);
  optionalInteger(body, 'top_logprobs', 0, topLogprobsMax);
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

function checkTools(body: Body): void {
  for (const [i, tool] of (optionalArray(body, 'tools') ?? []).entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
    if (typeof tool['type'] !== 'string')
      refuse('missing_parameter', { param: `tools[${i}].type` });
    if (tool['type'] === 'function' && typeof tool['name'] !== 'string')
      refuse('missing_parameter', { param: `tools[${i}].name` });
  }
}
