import { isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';

/**
 * What the compiler of structured outputs takes of JSON Schema, as of 2026-11
 * (platform.claude.com/docs/en/build-with-claude/structured-outputs). Everything else becomes words
 * in the description: the model still reads it.
 */
const kept = new Set([
  '$id',
  '$schema',
  '$ref',
  'title',
  'description',
  'default',
  'const',
  'enum',
  'type',
  'required',
]);
const formats = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
const variants: Readonly<Record<string, string>> = {
  anyOf: 'anyOf',
  oneOf: 'anyOf',
  allOf: 'allOf',
};
const maps: Readonly<Record<string, string>> = {
  properties: 'properties',
  $defs: '$defs',
  definitions: '$defs',
};
/** Said otherwise, or nothing to a model. */
const dropped = new Set(['additionalProperties', 'nullable', '$comment', 'examples', 'strict']);

/**
 * The schema as the compiler takes it: every object closed, constraints that it does not know told
 * in words.
 */
export function compiledSchema(schema: JsonObject): JsonObject {
  const out: Record<string, unknown> = {};
  const told: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    const list = variants[name];
    const map = maps[name];
    if (name === '$ref') out['$ref'] = String(value).replace('#/definitions/', '#/$defs/');
    else if (kept.has(name)) out[name] = value;
    else if (list !== undefined) out[list] = listOf(value).map(compiled);
    else if (map !== undefined)
      out[map] = Object.fromEntries(
        Object.entries(objectOf(value) ?? {}).map(([key, inner]) => [key, compiled(inner)]),
      );
    else if (name === 'items') out['items'] = compiled(value);
    else if (name === 'format' && formats.has(String(value))) out['format'] = value;
    else if (!dropped.has(name))
      told.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  if (isObjectType(out)) out['additionalProperties'] = false;
  if (told.length)
    out['description'] = [textOf(out['description']), `(${told.join(', ')})`]
      .filter(Boolean)
      .join(' ');
  return out;
}

const compiled = (value: unknown): unknown => (isObject(value) ? compiledSchema(value) : value);
const typesOf = (schema: JsonObject): readonly unknown[] =>
  Array.isArray(schema['type']) ? schema['type'] : [schema['type']];
const isObjectType = (schema: JsonObject): boolean =>
  typesOf(schema).includes('object') || schema['properties'] !== undefined;

/** What the compiler counts over all schemas of a request. */
export interface Weight {
  optional: number;
  unions: number;
}
const optionalMax = 24;
const unionsMax = 16;

/**
 * Whether the compiler takes what these schemas mean: no recursion, no objects with free names, not
 * too many choices.
 */
export function compiles(schemas: readonly JsonObject[]): boolean {
  const weight: Weight = { optional: 0, unions: 0 };
  return (
    schemas.every((schema) => weigh(schema, schema, weight, [])) &&
    weight.optional <= optionalMax &&
    weight.unions <= unionsMax
  );
}

function weigh(
  schema: unknown,
  root: JsonObject,
  weight: Weight,
  open: readonly string[],
): boolean {
  if (!isObject(schema)) return typeof schema !== 'boolean';
  const ref = textOf(schema['$ref']);
  if (ref !== undefined) {
    const target = targetOf(ref, root);
    return (
      target !== undefined && !open.includes(ref) && weigh(target, root, weight, [...open, ref])
    );
  }
  if (isObjectType(schema) && !closable(schema)) return false;
  const properties = Object.keys(objectOf(schema['properties']) ?? {}).length;
  weight.optional += Math.max(0, properties - listOf(schema['required']).length);
  if (typesOf(schema).length > 1 || schema['anyOf'] !== undefined || schema['oneOf'] !== undefined)
    weight.unions += 1;
  return innerSchemas(schema).every((inner) => weigh(inner, root, weight, open));
}

/** An object whose names are all known may be closed; one that is a map would lose its meaning. */
function closable(schema: JsonObject): boolean {
  const more = schema['additionalProperties'];
  if (isObject(more) || schema['patternProperties'] !== undefined) return false;
  return schema['properties'] !== undefined || more === false;
}

function innerSchemas(schema: JsonObject): readonly unknown[] {
  const lists = Object.keys(variants).flatMap((name) => listOf(schema[name]));
  const items = schema['items'] === undefined ? [] : [schema['items']];
  return [...Object.values(objectOf(schema['properties']) ?? {}), ...lists, ...items];
}

function targetOf(ref: string, root: JsonObject): unknown {
  if (!ref.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(1).split('/').filter(Boolean))
    at = objectOf(at)?.[step.replace(/~1/g, '/').replace(/~0/g, '~')];
  return at;
}
