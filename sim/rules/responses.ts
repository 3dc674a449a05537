import type { Complaint, Dialect } from '../dialect.ts';
import { sealHeadOf } from '../responses-write.ts';
import { type Json, list, object, text } from '../json.ts';
import { documentComplaint } from './messages.ts';
import { responsesParameters } from '../responses-request.ts';

/**
 * The endpoint's own errors, in the order of its checks
 * (developers.openai.com/api/docs/api-reference/responses/create, 2026-08). OpenAI's own models that
 * reason have fixed sampling.
 */
export function responsesComplaint(
  raw: Json,
  reasons: boolean,
  dialect: Dialect,
): Complaint | undefined {
  const unknown = Object.keys(raw).find((name) => !responsesParameters.includes(name));
  if (unknown !== undefined)
    return {
      param: unknown,
      code: 'unknown_parameter',
      message: `Unknown parameter: '${unknown}'.`,
    };
  if (raw['input'] === undefined)
    return {
      param: 'input',
      code: 'missing_required_parameter',
      message: "Missing required parameter: 'input'.",
    };
  return (
    limit(raw) ??
    previous(raw) ??
    sampling(raw, reasons && dialect.responses === 'all') ??
    tools(raw) ??
    items(raw, reasons, sealHeadOf(dialect)) ??
    sealing(raw, reasons)
  );
}

const leastTokens = 16;

function limit({ max_output_tokens: value }: Json): Complaint | undefined {
  if (value === undefined || value === null || (typeof value === 'number' && value >= leastTokens))
    return undefined;
  return {
    param: 'max_output_tokens',
    code: 'integer_below_min_value',
    message: `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${String(value)} instead.`,
  };
}

/** The simulator stores no responses. */
function previous({ previous_response_id: id }: Json): Complaint | undefined {
  if (id === undefined || id === null) return undefined;
  return {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
    message: `Previous response with id '${String(id)}' not found.`,
  };
}

function sampling(raw: Json, reasons: boolean): Complaint | undefined {
  const param = reasons
    ? ['temperature', 'top_p', 'top_logprobs'].find(
        (name) => raw[name] !== undefined && raw[name] !== null,
      )
    : undefined;
  if (param === undefined) return undefined;
  return { param, message: `Unsupported parameter: '${param}' is not supported with this model.` };
}

function tools(raw: Json): Complaint | undefined {
  for (const [i, value] of list(raw['tools']).entries()) {
    const tool = object(value);
    if (tool['type'] !== 'function') continue;
    if (text(tool['name']) === undefined)
      return {
        param: `tools[${i}].name`,
        code: 'missing_required_parameter',
        message: `Missing required parameter: 'tools[${i}].name'.`,
      };
    if ('function' in tool)
      return {
        param: `tools[${i}].function`,
        code: 'unknown_parameter',
        message: `Unknown parameter: 'tools[${i}].function'.`,
      };
  }
  return undefined;
}

const known = new Set([
  'message',
  'function_call',
  'function_call_output',
  'reasoning',
  'custom_tool_call',
  'custom_tool_call_output',
  'compaction',
]);
const inputParts = new Set(['input_text', 'input_image', 'input_file']);
const outputParts = new Set(['output_text', 'refusal']);

function items(raw: Json, reasons: boolean, sealHead: string): Complaint | undefined {
  const calls = new Set<unknown>();
  for (const [i, value] of list(raw['input']).entries()) {
    const item = object(value);
    const type = item['type'] ?? 'message';
    if (!known.has(String(type)))
      return {
        param: `input[${i}]`,
        code: 'invalid_value',
        message: `Invalid value: '${String(type)}'.`,
      };
    if (type === 'message') {
      const wrong = message(item, `input[${i}]`);
      if (wrong !== undefined) return wrong;
    }
    if (type === 'function_call') calls.add(item['call_id']);
    if (type === 'function_call_output' && !calls.has(item['call_id']))
      return {
        param: 'input',
        message: `No tool call found for function call output with call_id ${String(item['call_id'])}.`,
      };
    if (type === 'reasoning' && text(item['encrypted_content']) === undefined)
      return {
        status: 404,
        param: 'input',
        message: `Item with id '${String(item['id'])}' not found. Items are not persisted when \`store\` is set to false.`,
      };
    if (
      type === 'reasoning' &&
      (!reasons || !String(item['encrypted_content']).startsWith(sealHead))
    )
      return {
        code: 'invalid_encrypted_content',
        message: `The encrypted content for item ${String(item['id'])} could not be verified.`,
      };
  }
  return undefined;
}

function message(item: Json, param: string): Complaint | undefined {
  const role = item['role'];
  if (!['user', 'system', 'developer', 'assistant'].includes(String(role)))
    return {
      param,
      code: 'invalid_value',
      message: `Invalid value: '${String(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
    };
  for (const [at, value] of list(item['content']).entries()) {
    const part = object(value);
    const complaint =
      part['type'] === 'input_file'
        ? documentComplaint(part, `${param}.content[${at}]`)
        : undefined;
    if (complaint !== undefined) return complaint;
  }
  const parts = role === 'assistant' ? outputParts : inputParts;
  const wrong = list(item['content']).findIndex((part) => !parts.has(String(object(part)['type'])));
  if (wrong < 0) return undefined;
  const type = String(object(list(item['content'])[wrong])['type']);
  return {
    param: `${param}.content[${wrong}]`,
    code: 'invalid_value',
    message: `Invalid value: '${type}'. Supported values are: ${[...parts].map((name) => `'${name}'`).join(', ')}.`,
  };
}

function sealing(raw: Json, reasons: boolean): Complaint | undefined {
  if (reasons || !list(raw['include']).includes('reasoning.encrypted_content')) return undefined;
  return { param: 'include', message: 'Encrypted content is not supported with this model.' };
}
