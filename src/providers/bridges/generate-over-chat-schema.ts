import { isObject, type JsonObject, listOf, textOf } from '../../base/json.ts';
import { refuse } from '../../base/refusal.ts';

/** Limits that are int64 in the format, and may be written as strings. */
const wholeLimits: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);
/** Members that JSON Schema does not have, or that only order the members of an answer. */
const leftOut: ReadonlySet<string> = new Set(['propertyOrdering', 'nullable', 'example']);
const maps: ReadonlySet<string> = new Set(['properties', 'defs', '$defs']);
/** In the order of Google's numbers, of which 0 is unspecified. */
const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/**
 * Google's `Schema`, which is a subset of OpenAPI's, as JSON Schema (ai.google.dev/api/caching#Schema,
 * 2026-11). Undefined where there is none. Throws the Refusal of a schema that is none.
 */
export function jsonSchemaOf(schema: unknown, param: string): JsonObject | undefined {
  if (schema === undefined || schema === null) return undefined;
  if (!isObject(schema)) refuse('invalid_value', { param, why: 'expected a schema: an object.' });
  const into: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (value === null || leftOut.has(name)) continue;
    const at = `${param}.${name}`;
    if (name === 'type') into['type'] = typeOf(value, at);
    else if (wholeLimits.has(name)) into[name] = typeof value === 'string' ? Number(value) : value;
    else if (name === 'defs') into['$defs'] = schemasIn(value, at);
    else if (maps.has(name)) into[name] = schemasIn(value, at);
    else if (name === 'items') into['items'] = jsonSchemaOf(value, at);
    else if (name === 'anyOf')
      into['anyOf'] = listOf(value).map((one, i) => jsonSchemaOf(one, `${at}[${i}]`));
    else if (name === 'ref') into['$ref'] = value;
    else into[name] = value;
  }
  if (into['type'] === undefined) delete into['type'];
  return schema['nullable'] === true ? orNull(into) : into;
}

function schemasIn(value: unknown, param: string): JsonObject {
  if (!isObject(value)) refuse('invalid_value', { param, why: 'expected an object of schemas.' });
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, jsonSchemaOf(one, `${param}.${name}`)]),
  );
}

/**
 * Types may be in upper or lower case, or numbers (ai.google.dev/api/caching#Type, 2026-11); an
 * unspecified one is any.
 */
function typeOf(value: unknown, param: string): unknown {
  if (Array.isArray(value)) return value.map((one, i) => typeOf(one, `${param}[${i}]`));
  const type = typeof value === 'number' ? types[value - 1] : textOf(value)?.toLowerCase();
  if (value === 0 || type === 'type_unspecified') return undefined;
  if (type === undefined || !types.includes(type))
    refuse('invalid_value', {
      param,
      why: `expected one of ${types.join(', ')}, in upper or lower case.`,
    });
  return type;
}

function orNull(schema: Record<string, unknown>): JsonObject {
  const { type, enum: values } = schema;
  if (type === undefined) return schema;
  return {
    ...schema,
    type: [...new Set([type, 'null'].flat())],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
