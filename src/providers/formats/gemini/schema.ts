import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  textOf,
} from '../../../base/json.ts';

/**
 * JSON Schema in the form that Gemini reads in `parametersJsonSchema` and `responseJsonSchema`. Its
 * page lists the supported members (ai.google.dev/api/generate-content#FIELDS.response_json_schema,
 * 2026-08) and says that the rest is ignored. Members that Gemini refuses or misreads instead are
 * rewritten or removed here: `const`, `allOf`, `nullable`, siblings of `$ref`, references that do
 * not point into `$defs`, titles, exclusive bounds.
 */
export function geminiSchema(schema: unknown): unknown {
  const root = objectOf(schema);
  return root === undefined
    ? schema
    : clean(root, { root, open: [], room: { left: writtenOutMax } });
}

interface Place {
  readonly root: JsonObject;
  /** The references being followed: a schema inside itself is not followed again. */
  readonly open: readonly string[];
  /** How many more characters may be written in the place of references. */
  readonly room: { left: number };
}

/**
 * What is written in the place of references grows with the number of ways through them, which
 * doubles with each level of a schema that names the next one twice.
 */
const writtenOutMax = 128 * 1024;
/** References inside of what they point to are followed this deep. */
const openMax = 100;

/**
 * github.com/googleapis/python-genai/issues/1732 for `title`; the other members were tried there,
 * too (2025-11).
 */
const dropped = new Set([
  '$schema',
  '$comment',
  'title',
  'examples',
  'discriminator',
  'exclusiveMinimum',
  'exclusiveMaximum',
]);
const maps = new Set(['properties', '$defs']);
const lists = new Set(['anyOf', 'oneOf', 'prefixItems']);
const schemas = new Set(['items', 'additionalProperties']);

function clean(schema: JsonObject, place: Place): JsonObject {
  if (typeof schema['$ref'] === 'string') return follow(schema['$ref'], schema, place);
  const all = objectsOf(schema['allOf']);
  if (all.length > 0) {
    const refs = all.map((part) => textOf(part['$ref'])).filter((ref) => ref !== undefined);
    const [ref] = refs;
    if (ref !== undefined && !mayFollow(place)) return definition(ref);
    return clean(merged(schema, all, place), { ...place, open: [...place.open, ...refs] });
  }
  const into: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (dropped.has(keyword)) continue;
    if (keyword === 'definitions') into['$defs'] = cleanMap(value, place);
    else if (maps.has(keyword)) into[keyword] = cleanMap(value, place);
    else if (lists.has(keyword)) into[keyword] = listOf(value).map((one) => cleanAny(one, place));
    else if (schemas.has(keyword)) into[keyword] = cleanAny(value, place);
    else if (keyword === 'const') Object.assign(into, constant(value, schema));
    else if (keyword !== 'nullable') into[keyword] = value;
  }
  if (schema['nullable'] === true && typeof into['type'] === 'string')
    into['type'] = [into['type'], 'null'];
  return into;
}

const cleanAny = (value: unknown, place: Place): unknown =>
  isObject(value) ? clean(value, place) : value;

function cleanMap(value: unknown, place: Place): unknown {
  return Object.fromEntries(
    Object.entries(objectOf(value) ?? {}).map(([name, one]) => [name, cleanAny(one, place)]),
  );
}

/** `const` as an `enum` of one value. */
function constant(value: unknown, { type }: JsonObject): JsonObject {
  const kind =
    typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
  return {
    enum: [value],
    ...(type === undefined && value !== null && kind !== 'object' ? { type: kind } : {}),
  };
}

/**
 * Keeps a reference that stands alone and points to a definition; replaces any other by its target.
 */
function follow(ref: string, { $ref: _, ...siblings }: JsonObject, place: Place): JsonObject {
  const kept = definition(ref);
  const told = Object.keys(siblings).some(
    (keyword) => !keyword.startsWith('$') && !dropped.has(keyword),
  );
  // The definitions may lie beside the reference.
  const defs = siblings['$defs'] ?? siblings['definitions'];
  if (!told && kept.$ref !== undefined)
    return { ...kept, ...(defs === undefined ? {} : { $defs: cleanMap(defs, place) }) };
  const target = pointed(ref, place);
  return target === undefined
    ? kept
    : clean({ ...target, ...siblings }, { ...place, open: [...place.open, ref] });
}

/** The reference alone, if it points to a definition; any other means anything. */
function definition(ref: string): { readonly $ref?: string } {
  const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(ref)?.[1];
  return name === undefined ? {} : { $ref: `#/$defs/${name}` };
}

const mayFollow = ({ room, open }: Place): boolean => room.left > 0 && open.length < openMax;

/** What a reference points to. Undefined: nothing, itself, or more than there is room for. */
function pointed(ref: string, place: Place): JsonObject | undefined {
  if (!mayFollow(place) || place.open.includes(ref)) return undefined;
  const target = targetOf(ref, place.root);
  if (target === undefined) return undefined;
  // The first target without room ends it, so that a large one is not measured again and again.
  place.room.left -= JSON.stringify(target).length;
  return place.room.left > 0 ? target : undefined;
}

function targetOf(ref: string, root: JsonObject): JsonObject | undefined {
  if (!ref.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const step of ref.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = Array.isArray(found) ? found[Number(name)] : objectOf(found)?.[name];
  }
  return objectOf(found);
}

/**
 * Merges the schemas of `allOf` into one: properties and requirements add up; of other members the
 * outer one counts.
 */
function merged(
  { allOf: _, ...schema }: JsonObject,
  all: readonly JsonObject[],
  place: Place,
): JsonObject {
  const meant = (part: JsonObject): JsonObject => {
    const ref = textOf(part['$ref']);
    return ref === undefined ? part : (pointed(ref, place) ?? {});
  };
  const parts = [...all.map(meant), schema];
  const properties = Object.assign({}, ...parts.map((part) => objectOf(part['properties']) ?? {}));
  const required = new Set(
    parts.flatMap((part) => listOf(part['required'])).filter((name) => textOf(name) !== undefined),
  );
  const deeper = parts.slice(0, -1).flatMap((part) => listOf(part['allOf']));
  const { allOf: __, ...flat } = Object.assign({}, ...parts);
  return {
    ...flat,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.size > 0 ? { required: [...required] } : {}),
    ...(deeper.length > 0 ? { allOf: deeper } : {}),
  };
}
