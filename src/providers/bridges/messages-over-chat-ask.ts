import { refuse } from '../../base/refusal.ts';
import type { Call } from '../adapter.ts';
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from '../wire/json.ts';
import { chatMessages, markOf } from './messages-over-chat-turns.ts';

/**
 * A request to `/v1/messages` as a chat completion. What tunes only Claude is left out (`top_k`, `metadata`, `service_tier`, and marks of the cache but where `marks` are read);
 * what would change the answer and cannot be said is refused.
 */
export function chatBodyFrom(call: Call, marks: boolean): JsonObject {
  const { body } = call;
  if (listOf(body['mcp_servers']).length > 0) refuseMember('mcp_servers');
  if (body['container'] != null) refuseMember('container');
  const tools = listOf(body['tools'])
    .filter(isObject)
    .map((tool, i) => ({ ...chatTool(tool, i), ...markOf(tool, marks) }));
  return {
    model: call.publicModel,
    messages: chatMessages(body, call.publicModel, marks),
    // Whoever asks how many tokens a request has says nothing of the answer's.
    ...(body['max_tokens'] === undefined
      ? {}
      : { max_tokens: Math.max(1, countOf(body['max_tokens']) ?? 1) }),
    ...(call.outputTokensMax === undefined ? {} : { max_tokens: call.outputTokensMax }),
    ...(call.stream ? { stream: true } : {}),
    ...given('temperature', body['temperature']),
    ...given('top_p', body['top_p']),
    ...stops(body),
    ...(tools.length ? { tools, ...toolChoice(objectOf(body['tool_choice'])) } : {}),
    ...given('reasoning_effort', effortOf(body)),
    ...given('response_format', formatOf(body)),
  };
}

const given = (member: string, value: unknown): JsonObject =>
  value === undefined || value === null ? {} : { [member]: value };

function refuseMember(param: string): never {
  refuse('invalid_value', { param, why: 'it cannot be carried to this model.' });
}

function stops(body: JsonObject): JsonObject {
  const stop = listOf(body['stop_sequences']);
  return stop.length ? { stop } : {};
}

/** Tools that only Anthropic runs, or whose schema only Claude knows, have no schema of their own. */
function chatTool(tool: JsonObject, i: number): JsonObject {
  const { name, description, input_schema: parameters, strict } = tool;
  if (!isObject(parameters))
    refuse('invalid_value', {
      param: `tools[${i}].type`,
      why: `'${String(tool['type'])}' is no tool that this model knows.`,
    });
  return {
    type: 'function',
    function: {
      name,
      ...given('description', description),
      parameters,
      ...given('strict', strict),
    },
  };
}

function toolChoice(choice: JsonObject | undefined): JsonObject {
  if (choice === undefined) return {};
  const named = { type: 'function', function: { name: choice['name'] } };
  const said: Readonly<Record<string, unknown>> = {
    auto: 'auto',
    any: 'required',
    none: 'none',
    tool: named,
  };
  return {
    ...given('tool_choice', said[textOf(choice['type']) ?? '']),
    ...(choice['disable_parallel_tool_use'] === true ? { parallel_tool_calls: false } : {}),
  };
}

/** Budgets as efforts, and efforts that only some models know as the next that all do. Thinking that is off is the model's own way. */
function effortOf(body: JsonObject): string | undefined {
  const thinking = objectOf(body['thinking']);
  if (thinking?.['type'] === 'disabled') return undefined;
  const effort = textOf(objectOf(body['output_config'])?.['effort']);
  if (effort !== undefined) return effort === 'xhigh' || effort === 'max' ? 'high' : effort;
  if (thinking === undefined) return undefined;
  const budget = countOf(thinking['budget_tokens']);
  if (budget === undefined) return 'medium';
  return budget > 16_000 ? 'high' : budget > 4_000 ? 'medium' : 'low';
}

function formatOf(body: JsonObject): JsonObject | undefined {
  const format =
    objectOf(objectOf(body['output_config'])?.['format']) ?? objectOf(body['output_format']);
  if (format?.['type'] !== 'json_schema') return undefined;
  const { schema } = format;
  return { type: 'json_schema', json_schema: { name: 'output', schema, strict: isStrict(schema) } };
}

/** Whether a schema may be held to strictly in OpenAI's sense: closed objects whose members are all required (platform.openai.com/docs/guides/structured-outputs, 2026-08). */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const properties = objectOf(schema['properties']);
  if (properties !== undefined) {
    const required = new Set(listOf(schema['required']));
    if (
      schema['additionalProperties'] !== false ||
      !Object.keys(properties).every((name) => required.has(name))
    )
      return false;
    if (!Object.values(properties).every(isStrict)) return false;
  }
  return [schema['items'], schema['anyOf'], Object.values(objectOf(schema['$defs']) ?? {})].every(
    isStrict,
  );
}
