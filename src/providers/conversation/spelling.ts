import { isObject, type JsonObject } from '../../base/json.ts';
import { refuse } from '../../base/refusal.ts';

/** Members whose own members are the client's names and no names of the format. */
const clientNamed: ReadonlySet<string> = new Set([
  'args',
  'response',
  'labels',
  'parametersJsonSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'partMetadata',
]);
/** Members whose names are the client's and whose values are of the format again. */
const clientKeyed: ReadonlySet<string> = new Set(['properties', 'defs']);
/** Lists of which the format takes a single element as well (recorded, 2025-02). */
const listed: ReadonlySet<string> = new Set(['tools', 'functionDeclarations']);

const camel = (name: string): string =>
  name.replace(/(?!^)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * The same request with every name in camelCase: the format takes snake_case as well
 * (protobuf.dev/programming-guides/json, 2026-11). A single tool or declaration becomes a list.
 * Returns the request itself where nothing changes. Throws the Refusal of a member that stands
 * there in both spellings, since only one of them can be meant. A request is read once: it keeps
 * the result in a member that neither JSON nor a copy has.
 */
export function inCamelCase(body: JsonObject): JsonObject {
  const known: unknown = Reflect.get(body, camelForm);
  if (isObject(known)) return known;
  const read = isInCamelCase(body) ? body : objectInCamelCase(body, '');
  Object.defineProperty(body, camelForm, { value: read });
  if (read !== body) Object.defineProperty(read, camelForm, { value: read });
  return read;
}

const camelForm = Symbol('camelForm');

/** Whether nothing changes in a value: most clients write so, and this makes no objects. */
function isInCamelCase(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isInCamelCase);
  if (!isObject(value)) return true;
  for (const name in value) {
    if (name.includes('_', 1)) return false;
    const inner = value[name];
    if (typeof inner !== 'object' || clientNamed.has(name)) continue;
    if (listed.has(name) && isObject(inner)) return false;
    const isKeyed = clientKeyed.has(name) && isObject(inner);
    if (!(isKeyed ? Object.values(inner).every(isInCamelCase) : isInCamelCase(inner))) return false;
  }
  return true;
}

function objectInCamelCase(value: JsonObject, at: string): JsonObject {
  let changed = false;
  const into: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const known = name.includes('_', 1) ? camel(name) : name;
    const param = at === '' ? known : `${at}.${known}`;
    if (Object.hasOwn(into, known) || (known !== name && Object.hasOwn(value, known)))
      refuse('invalid_value', { param, why: `'${known}' and '${name}' are the same member.` });
    const inner = memberInCamelCase(known, value[name], param);
    changed ||= known !== name || inner !== value[name];
    into[known] = inner;
  }
  return changed ? into : value;
}

function memberInCamelCase(name: string, value: unknown, param: string): unknown {
  if (clientNamed.has(name)) return value;
  if (listed.has(name) && isObject(value)) return [objectInCamelCase(value, `${param}[0]`)];
  if (clientKeyed.has(name) && isObject(value)) return valuesInCamelCase(value, param);
  return valueInCamelCase(value, param);
}

function valuesInCamelCase(value: JsonObject, at: string): JsonObject {
  let changed = false;
  const into = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const read = valueInCamelCase(inner, `${at}.${name}`);
      changed ||= read !== inner;
      return [name, read];
    }),
  );
  return changed ? into : value;
}

function valueInCamelCase(value: unknown, param: string): unknown {
  if (isObject(value)) return objectInCamelCase(value, param);
  if (!Array.isArray(value)) return value;
  let changed = false;
  const read = value.map((item: unknown, i) => {
    const inner = valueInCamelCase(item, `${param}[${i}]`);
    changed ||= inner !== item;
    return inner;
  });
  return changed ? read : value;
}

/** `maxOutputTokens` → `max_output_tokens` */
export const inSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The name under which a member stands in a body as it was sent. */
export const sentName = (body: JsonObject | undefined, name: string): string => {
  const snake = inSnakeCase(name);
  return body !== undefined && body[name] === undefined && body[snake] !== undefined ? snake : name;
};
