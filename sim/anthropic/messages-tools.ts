import { isJson, type Json, list, object, text } from '../json.ts';
import type { Claude } from './claude.ts';
import { at, type Complaints, dictionary, either, members } from './complaints.ts';

const strictToolsMax = 20;
/** Tools that the vendor runs or describes itself: `web_search_20250305`, `bash_20250124`. */
const own =
  /^(?:bash|text_editor|web_search|web_fetch|code_execution|computer|memory|tool_search_tool_(?:regex|bm25)|advisor|mcp_toolset)(?:_\d{8})?$/;
const toolMembers =
  'allowed_callers cache_control defer_loading description eager_input_streaming input_examples strict type';

export function* toolComplaints(raw: Json, { forces }: Claude): Complaints {
  const tools = list(raw['tools']).map(object);
  if (raw['tools'] !== undefined && raw['tools'] !== null && !Array.isArray(raw['tools']))
    yield 'tools: Input should be a valid list';
  for (const [index, tool] of tools.entries()) yield* oneTool(tool, at('tools', index));
  const names = tools.map((tool) => text(tool['name']));
  if (new Set(names).size < names.length) yield 'tools: Tool names must be unique.';
  const strict = tools.filter((tool) => tool['strict'] === true).length;
  if (strict > strictToolsMax)
    yield `Too many strict tools (${strict}). The maximum number of strict tools supported is ${strictToolsMax}. Try reducing the number of tools marked as strict.`;
  yield* choice(raw['tool_choice'], names, forces);
}

function* oneTool(tool: Json, place: string): Complaints {
  const type = tool['type'] ?? 'custom';
  if (typeof type !== 'string' || (type !== 'custom' && !own.test(type)))
    yield `${place}: Input tag '${String(type)}' found using 'type' does not match any of the expected tags: 'bash_20250124', 'custom', 'text_editor_20250124', 'text_editor_20250728', 'web_search_20250305'`;
  if (type !== 'custom') return;
  const here = at(place, 'custom');
  yield* members(tool, here, 'name input_schema', toolMembers);
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(tool['name'])))
    yield `${here}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
  if (tool['description'] !== undefined && typeof tool['description'] !== 'string')
    yield `${here}.description: Input should be a valid string`;
  const schema = tool['input_schema'];
  if (!isJson(schema)) yield `${here}.input_schema: Input does not match the expected shape.`;
  const given = object(schema);
  if (given['type'] === undefined) yield `${here}.input_schema.type: Field required`;
  if (given['type'] !== 'object') yield `${here}.input_schema.type: Input should be 'object'`;
  if (['oneOf', 'anyOf', 'allOf'].some((name) => given[name] !== undefined))
    yield `${here}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  if (tool['strict'] === true) yield* schemaComplaints(given, here);
}

function* choice(
  value: unknown,
  names: readonly (string | undefined)[],
  forces: boolean,
): Complaints {
  if (value === undefined || value === null) return;
  yield* dictionary(value, 'tool_choice');
  const given = object(value);
  const type = String(given['type']);
  const known = ['auto', 'any', 'tool', 'none'];
  if (!known.includes(type))
    yield `tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags: ${either(known)}`;
  yield* members(
    given,
    `tool_choice.${type}`,
    type === 'tool' ? 'type name' : 'type',
    type === 'none' ? '' : 'disable_parallel_tool_use',
  );
  if (names.length === 0 && type !== 'none')
    yield 'tool_choice may only be specified while providing tools.';
  if (type === 'tool' && !names.includes(text(given['name'])))
    yield `Tool '${String(given['name'])}' not found in provided tools`;
  if (!forces && (type === 'any' || type === 'tool'))
    yield 'tool_choice: type "tool" and "any" are not supported for this model.';
}

/**
 * Keywords that the grammars of structured outputs do not support, by the type that they narrow
 * (…/build-with-claude/structured-outputs, 2026-11).
 */
const unsaid: Readonly<Record<string, readonly string[]>> = {
  integer: ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'],
  number: ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'],
  string: ['maxLength', 'minLength'],
  array: ['maxItems', 'uniqueItems'],
  object: ['minProperties', 'maxProperties', 'patternProperties'],
};

/** Keywords that a schema may not contain where it constrains the model's answer. */
export function* schemaComplaints(schema: Json, place: string): Complaints {
  const circle = circleIn(schema);
  if (circle !== undefined)
    yield `${place}: Invalid schema: Circular reference detected in schema definitions: ${circle}. Self-referencing or mutually-referencing definitions are not supported.`;
  yield* bound(schema, place);
}

function* bound(schema: Json, place: string): Complaints {
  const type = String(schema['type']);
  if (type === 'object' && schema['additionalProperties'] !== false)
    yield `${place}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  const refused = (unsaid[type] ?? []).filter((name) => schema[name] !== undefined);
  if (refused.length > 0)
    yield `${place}: For '${type}' type, ${refused.length > 1 ? 'properties' : 'property'} ${refused.map((name) => `'${name}'`).join(', ')} ${refused.length > 1 ? 'are' : 'is'} not supported`;
  if (schema['oneOf'] !== undefined) yield `${place}: Schema type 'oneOf' is not supported`;
  const below = [
    ...Object.values(object(schema['properties'])),
    ...Object.values(object(schema['$defs'])),
    ...list(schema['anyOf']),
    ...list(schema['allOf']),
    schema['items'],
  ];
  for (const part of below) if (isJson(part)) yield* bound(part, place);
}

/** `Node -> Node`, when definitions refer back to themselves. */
function circleIn(schema: Json): string | undefined {
  const definitions = object(schema['$defs'] ?? schema['definitions']);
  const walk = (name: string, path: readonly string[]): string | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name].join(' -> ');
    for (const next of referred(definitions[name])) {
      const found = walk(next, [...path, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const name of Object.keys(definitions)) {
    const found = walk(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

function referred(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referred);
  if (!isJson(value)) return [];
  const own = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(text(value['$ref']) ?? '')?.[1];
  return [...(own === undefined ? [] : [own]), ...Object.values(value).flatMap(referred)];
}
