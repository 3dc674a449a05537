import { decodeImage } from '../image.ts';
import { isJson, type Json, list, number, object, text } from '../json.ts';
import { thinksByItself } from './model.ts';

/**
 * A refusal: the vendor's text, and 422 for an unknown field
 * (github.com/OpenRouterTeam/openrouter-examples/issues/71, 2026-03).
 */
export interface No {
  readonly status: 400 | 422;
  readonly message: string;
}

export type Complaints = Generator<No, void, undefined>;

const parameters =
  'stream model messages tools strict_tools documents citation_options response_format safety_mode max_tokens stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs tool_choice thinking priority raw_prompting';

/**
 * The first thing that `/v2/chat` refuses (docs.cohere.com/reference/chat and /reference/errors,
 * 2026-08).
 */
export function complaintOf(raw: Json, model: string): No | undefined {
  const { value } = complaints(raw, model).next();
  return value ?? undefined;
}

const invalid = (why: string): No => ({ status: 400, message: `invalid request: ${why}` });

function* complaints(raw: Json, model: string): Complaints {
  yield* known(raw, parameters);
  if (text(raw['model']) === undefined) yield invalid('model is required.');
  if (raw['stream'] !== undefined && typeof raw['stream'] !== 'boolean')
    yield wrongType('stream', 'a boolean');
  yield* toolComplaints(raw);
  yield* messageComplaints(raw, model);
  yield* tuningComplaints(raw);
  yield* formatComplaints(raw);
  yield* thinkingComplaints(raw, model);
}

const wrongType = (name: string, type: string): No => invalid(`${name} must be ${type}.`);

/** Refuses unknown members, at every level. */
function* known(raw: Json, names: string): Complaints {
  const all = names.split(' ');
  const stranger = Object.keys(raw).find((name) => !all.includes(name));
  if (stranger !== undefined)
    yield {
      status: 422,
      message: `unknown field: parameter '${stranger}' is not a valid field. For proper usage, please refer to https://docs.cohere.com/reference/chat`,
    };
}

const functionName = /^[a-zA-Z_][\w-]*$/;

function* toolComplaints(raw: Json): Complaints {
  const tools = list(raw['tools']).map(object);
  for (const tool of tools) {
    yield* known(tool, 'type function');
    if (tool['type'] !== 'function') yield invalid("tool type must be 'function'.");
    const fn = object(tool['function']);
    yield* known(fn, 'name description parameters');
    if (!functionName.test(text(fn['name']) ?? ''))
      yield invalid(
        `tool name '${String(fn['name'])}' must contain only letters, digits and underscores, and must not begin with a digit.`,
      );
    if (!isJson(fn['parameters']))
      yield invalid('tool function parameters must be a JSON schema object.');
    else if (fn['parameters']['type'] !== 'object')
      yield invalid("tool function parameters must be a JSON schema of type 'object'.");
  }
  const names = tools.map((tool) => object(tool['function'])['name']);
  if (new Set(names).size < names.length) yield invalid('tool names must be unique.');
  const choice = raw['tool_choice'];
  if (choice !== undefined && choice !== 'REQUIRED' && choice !== 'NONE')
    yield invalid("tool_choice must be one of 'REQUIRED', 'NONE'.");
  if (choice === 'REQUIRED' && tools.length === 0)
    yield invalid('tool_choice REQUIRED requires tools to be specified.');
  if (raw['strict_tools'] === true && tools.length === 0)
    yield invalid('strict_tools requires tools to be specified.');
}

const members: Readonly<Record<string, string>> = {
  system: 'role content',
  developer: 'role content',
  user: 'role content',
  assistant: 'role content tool_calls tool_plan citations',
  tool: 'role content tool_call_id',
};
const contents: Readonly<Record<string, string>> = {
  system: 'text',
  developer: 'text',
  user: 'text image_url',
  assistant: 'text thinking',
  tool: 'text document',
};

function* messageComplaints(raw: Json, model: string): Complaints {
  if (!Array.isArray(raw['messages'])) yield invalid('messages is required.');
  const messages = list(raw['messages']).map(object);
  if (messages.length === 0) yield invalid('messages must not be empty.');
  for (const message of messages) {
    const role = text(message['role']) ?? '';
    if (members[role] === undefined)
      yield invalid(
        `role '${role}' is not valid; must be one of 'system', 'user', 'assistant', 'tool'.`,
      );
    yield* known(message, members[role] ?? '');
    yield* contentComplaints(message, role, model);
  }
  yield* callComplaints(messages);
  const last = text(messages.at(-1)?.['role']);
  if (
    last === 'assistant' ||
    (messages.every(({ role }) => role === 'system') && last === 'system')
  )
    yield invalid('message must be at least 1 token long or tool results must be specified.');
}

function* contentComplaints(
  { role: _, content, tool_calls: calls }: Json,
  role: string,
  model: string,
): Complaints {
  const called = role === 'assistant' && list(calls).length > 0;
  if (
    content === undefined ||
    content === null ||
    content === '' ||
    (Array.isArray(content) && content.length === 0)
  ) {
    if (!called)
      yield invalid(
        role === 'user'
          ? 'message must be at least 1 token long or tool results must be specified.'
          : 'all elements in history must have a message.',
      );
    return;
  }
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) yield wrongType('content', 'a string or a list of content blocks');
  const parts = list(content).map(object);
  for (const part of parts) {
    const type = text(part['type']) ?? '';
    if (!contents[role]?.split(' ').includes(type))
      yield invalid(`content type '${type}' is not supported in a message of role '${role}'.`);
    yield* known(part, `type ${type}`);
    if (type !== 'document' && type !== 'image_url' && typeof part[type] !== 'string')
      yield wrongType(type, 'a string');
    if (type === 'image_url') yield* imageComplaints(object(part['image_url']), model);
    if (type === 'document') yield* known(object(part['document']), 'id data');
  }
  if (role === 'user' && parts.every((part) => part['text'] === ''))
    yield invalid('message must be at least 1 token long or tool results must be specified.');
}

/** docs.cohere.com/docs/image-inputs, 2026-08. */
const sees = /vision|command-a-plus|^sim-|north/;

function* imageComplaints(image: Json, model: string): Complaints {
  yield* known(image, 'url detail');
  if (!sees.test(model)) yield invalid(`image content is not supported for model '${model}'.`);
  const url = text(image['url']) ?? '';
  if (/^https?:\/\//.test(url)) return;
  if (decodeImage(url) === undefined)
    yield invalid(
      'image could not be decoded: must be a valid URL or base64 encoded data URI of a png, jpeg, webp or gif image.',
    );
}

/** Each call has a result, and each result a call. */
function* callComplaints(messages: readonly Json[]): Complaints {
  let open: string[] = [];
  for (const message of messages) {
    if (message['role'] === 'tool') {
      const id = text(message['tool_call_id']) ?? '';
      if (!open.includes(id))
        yield invalid(
          `tool_call_id '${id}' does not match any tool call of the previous assistant message.`,
        );
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) break;
    const calls = list(message['tool_calls']).map(object);
    for (const call of calls) yield* oneCall(call);
    open = calls.map((call) => String(call['id']));
  }
  if (open.length > 0)
    yield invalid(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
    );
}

function* oneCall(call: Json): Complaints {
  yield* known(call, 'id type function');
  if ((text(call['id']) ?? '') === '') yield invalid('tool call id must not be empty.');
  const fn = object(call['function']);
  yield* known(fn, 'name arguments');
  try {
    if (isJson(JSON.parse(text(fn['arguments']) ?? ''))) return;
  } catch {
    // Refused below.
  }
  yield invalid('tool call arguments must be a valid JSON object string.');
}

/** Inclusive; docs.cohere.com/reference/chat, 2026-08. */
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  temperature: [0, 1],
  frequency_penalty: [0, 1],
  presence_penalty: [0, 1],
  p: [0.01, 0.99],
  k: [0, 500],
  max_tokens: [0, Infinity],
  seed: [0, Number.MAX_SAFE_INTEGER],
  priority: [0, 999],
};
const whole = ['k', 'max_tokens', 'seed', 'priority'];
const stopsMax = 5;

function* tuningComplaints(raw: Json): Complaints {
  for (const [name, [min, max]] of Object.entries(ranges)) {
    const value = raw[name];
    if (value === undefined || value === null) continue;
    const right = typeof value === 'number' && (!whole.includes(name) || Number.isInteger(value));
    if (!right) yield wrongType(name, whole.includes(name) ? 'an integer' : 'a number');
    if (Number(value) < min || Number(value) > max)
      yield invalid(
        max === Infinity
          ? `${name} must be at least ${min}.`
          : `${name} must be between ${min} and ${max} inclusive.`,
      );
  }
  if ((number(raw['frequency_penalty']) ?? 0) > 0 && (number(raw['presence_penalty']) ?? 0) > 0)
    yield invalid('cannot specify both frequency_penalty and presence_penalty.');
  if (list(raw['stop_sequences']).length > stopsMax)
    yield invalid(`stop_sequences must have at most ${stopsMax} items.`);
  const mode = raw['safety_mode'];
  if (mode !== undefined && !['CONTEXTUAL', 'STRICT', 'OFF'].includes(String(mode)))
    yield invalid("safety_mode must be one of 'CONTEXTUAL', 'STRICT', 'OFF'.");
  if (mode !== undefined && list(raw['tools']).length + list(raw['documents']).length > 0)
    yield invalid('safety_mode is not supported in combination with tools or documents.');
}

function* formatComplaints(raw: Json): Complaints {
  const format = raw['response_format'];
  if (format === undefined || format === null) return;
  yield* known(object(format), 'type json_schema schema');
  const { type, json_schema: schema, schema: older } = object(format);
  if (type !== 'text' && type !== 'json_object')
    yield invalid("response_format type must be one of 'text', 'json_object'.");
  if (type === 'text' && schema !== undefined)
    yield invalid("response_format json_schema must not be specified when type is 'text'.");
  if (list(raw['documents']).length > 0)
    yield invalid('response_format is not supported with RAG.');
  if (list(raw['tools']).length > 0) yield invalid('response_format is not supported with tools.');
  const given = schema ?? older;
  if (given === undefined) return;
  if (!isJson(given) || given['type'] !== 'object')
    yield invalid("response_format schema: top level type must be 'object'.");
  yield* schemaComplaints(object(given));
}

/** docs.cohere.com/docs/structured-outputs#schema-constraints, 2026-08. */
const composition = ['allOf', 'oneOf', 'not'];

function* schemaComplaints(schema: Json): Complaints {
  const composed = composition.find((keyword) => schema[keyword] !== undefined);
  if (composed !== undefined)
    yield invalid(`response_format schema: '${composed}' is not supported.`);
  if (schema['type'] === 'object' && list(schema['required']).length === 0)
    yield invalid('response_format schema: every object must have at least one required field.');
  for (const one of Object.values(object(schema['properties'])))
    yield* schemaComplaints(object(one));
  for (const one of Object.values(object(schema['$defs']))) yield* schemaComplaints(object(one));
  for (const one of list(schema['anyOf'])) yield* schemaComplaints(object(one));
  if (isJson(schema['items'])) yield* schemaComplaints(schema['items']);
}

function* thinkingComplaints(raw: Json, model: string): Complaints {
  const { thinking } = raw;
  if (thinking === undefined || thinking === null) return;
  yield* known(object(thinking), 'type token_budget');
  const { type, token_budget: budget } = object(thinking);
  if (type !== 'enabled' && type !== 'disabled')
    yield invalid("thinking type must be one of 'enabled', 'disabled'.");
  if (!thinksByItself(model)) yield invalid(`thinking is not supported for model '${model}'.`);
  if (budget !== undefined && !(Number.isInteger(budget) && Number(budget) > 0))
    yield invalid('thinking token_budget must be a positive integer.');
}
