import { isJson, type Json, list, object, text } from '../json.ts';
import type { Surface } from './refusal.ts';
import type { Checked, Complaints } from './checked.ts';

const functionName = /^[A-Za-z_][\w.:-]{0,127}$/;

/** `functionDeclarations`: ai.google.dev/api/caching#FunctionDeclaration, 2026-08. */
export function* declarationComplaints({ raw, surface }: Checked): Complaints {
  const seen = new Set<unknown>();
  for (const [t, tool] of list(raw['tools']).map(object).entries()) {
    for (const [i, one] of list(tool['functionDeclarations']).map(object).entries()) {
      const at = `GenerateContentRequest.tools[${t}].function_declarations[${i}]`;
      const name = text(one['name']) ?? '';
      if (!functionName.test(name))
        yield `* ${at}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n`;
      if (seen.has(name)) yield `Duplicate function declaration found: ${name}`;
      seen.add(name);
      if (one['parameters'] !== undefined && one['parametersJsonSchema'] !== undefined)
        yield `* ${at}: parameters and parameters_json_schema are mutually exclusive.\n`;
      if (isJson(one['parameters']))
        yield* schemaComplaints(one['parameters'], `${at}.parameters`, surface);
      if (one['parametersJsonSchema'] !== undefined && !isJson(one['parametersJsonSchema']))
        yield `* ${at}.parameters_json_schema: must be a JSON schema object.\n`;
    }
  }
}

/**
 * A `Schema` message: the subset of OpenAPI 3.0 that Google's models read
 * (ai.google.dev/api/caching#Schema, 2026-08).
 */
export function* schemaComplaints(schema: Json, at: string, surface: Surface): Complaints {
  const type = text(schema['type']) ?? 'TYPE_UNSPECIFIED';
  if (
    type === 'TYPE_UNSPECIFIED' &&
    schema['anyOf'] === undefined &&
    schema['ref'] === undefined &&
    surface.api === 'vertex'
  )
    yield `${at} schema didn't specify the schema type field.`;
  if (type === 'ARRAY' && schema['items'] === undefined) yield `* ${at}.items: missing field.\n`;
  const properties = object(schema['properties']);
  if (
    type === 'OBJECT' &&
    'properties' in schema &&
    Object.keys(properties).length === 0 &&
    !at.endsWith('.parameters') &&
    surface.api === 'gemini'
  )
    yield `* ${at}.properties: should be non-empty for OBJECT type\n`;
  for (const [i, name] of list(schema['required']).entries())
    if (!(String(name) in properties)) yield `* ${at}.required[${i}]: property is not defined\n`;
  yield* enumComplaints(schema, type, at);
  if (isJson(schema['items'])) yield* schemaComplaints(schema['items'], `${at}.items`, surface);
  for (const [name, one] of Object.entries(properties))
    yield* schemaComplaints(object(one), `${at}.properties[${name}]`, surface);
  for (const [i, one] of list(schema['anyOf']).entries())
    yield* schemaComplaints(object(one), `${at}.any_of[${i}]`, surface);
}

function* enumComplaints(schema: Json, type: string, at: string): Complaints {
  const values = list(schema['enum']);
  if (values.length > 0 && type !== 'STRING' && type !== 'INTEGER' && type !== 'NUMBER')
    yield `* ${at}.enum: only allowed for STRING type\n`;
  const blank = values.indexOf('');
  if (blank >= 0) yield `* ${at}.enum[${blank}]: cannot be empty\n`;
  const format = text(schema['format']) ?? '';
  if (type === 'STRING' && format !== '' && format !== 'enum' && format !== 'date-time')
    yield `* ${at}.format: only 'enum' and 'date-time' are supported for STRING type\n`;
}
