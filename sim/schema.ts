import { isJson, type Json, list, number, object, text } from './json.ts';
import { textFor } from './pattern.ts';

/** Values of the prompt for an instance; each is used once, in order. */
interface Hints {
  readonly prompt: string;
  readonly numbers: number[];
  readonly names: string[];
}

interface Place {
  readonly root: Json;
  readonly hints: Hints;
  readonly depth: number;
}

/**
 * Below this depth an instance has no optional members and no items, so that recursive schemas end.
 */
const depthMax = 8;

/**
 * An instance that satisfies the schema, filled with the numbers, quotations and names of the
 * prompt.
 */
export function instanceOf(schema: Json, prompt: string): unknown {
  const names = [
    ...prompt.matchAll(
      /["“'`]([^"”'`]{1,60})["”'`]|(?<![.?!]\s|^)\b(\p{Lu}[\p{L}-]+(?: \p{Lu}[\p{L}-]+)*)/gu,
    ),
  ].map((match) => match[1] ?? match[2] ?? '');
  const numbers = [...prompt.matchAll(/(?<![\w.])-?\d+(?:\.\d+)?/g)].map((match) =>
    Number(match[0]),
  );
  return fill(schema, 'value', { root: schema, hints: { prompt, numbers, names }, depth: 0 });
}

function fill(schema: unknown, name: string, place: Place): unknown {
  if (!isJson(schema)) return name;
  const here = { ...place, depth: place.depth + 1 };
  const reference = text(schema['$ref']);
  if (reference !== undefined) return fill(resolve(reference, place.root), name, here);
  if ('const' in schema) return schema['const'];
  const values = list(schema['enum']);
  if (values.length > 0)
    return (
      values.find((value) => typeof value === 'string' && mentioned(value, place)) ?? values[0]
    );
  const all = list(schema['allOf']);
  if (all.length > 0) return fill(merge(schema, all, place.root), name, here);
  const branches = [...list(schema['anyOf']), ...list(schema['oneOf'])];
  if (branches.length > 0) return fill(choose(branches, schema, place), name, here);
  return byType[typeOf(schema, place)]?.(schema, name, here) ?? null;
}

function mentioned(value: string, place: Place): boolean {
  return place.hints.prompt.toLowerCase().includes(value.toLowerCase());
}

function resolve(reference: string, root: Json): unknown {
  if (reference === '#') return root;
  const path = reference.replace(/^#\//, '').split('/');
  return path.reduce<unknown>(
    (at, step) => object(at)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')],
    root,
  );
}

/** Merges the parts of an `allOf`, and the members beside it, into one schema. */
function merge(schema: Json, parts: readonly unknown[], root: Json): Json {
  const { allOf: _, ...beside } = schema;
  let merged: Json = beside;
  for (const part of parts) {
    const reference = text(object(part)['$ref']);
    const next = object(reference === undefined ? part : resolve(reference, root));
    merged = {
      ...merged,
      ...next,
      properties: { ...object(merged['properties']), ...object(next['properties']) },
      required: [...list(merged['required']), ...list(next['required'])],
    };
  }
  return merged;
}

/** The first branch; deep inside a recursive schema the branch that ends it. */
function choose(branches: readonly unknown[], schema: Json, place: Place): unknown {
  const ending =
    place.depth < depthMax
      ? undefined
      : branches.find(
          (branch) => !isJson(branch) || (!('$ref' in branch) && branch['type'] !== 'object'),
        );
  const branch = ending ?? branches[0];
  if (!isJson(branch) || !('properties' in schema || 'type' in schema)) return branch;
  const { anyOf: _, oneOf: __, ...beside } = schema;
  return {
    ...beside,
    ...branch,
    properties: { ...object(beside['properties']), ...object(branch['properties']) },
  };
}

function typeOf(schema: Json, place: Place): string {
  const type = schema['type'];
  if (Array.isArray(type)) {
    const types = type.map(String);
    return (
      (place.depth >= depthMax && types.includes('null')
        ? 'null'
        : types.find((t) => t !== 'null')) ?? 'null'
    );
  }
  if (typeof type === 'string') return type;
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  return 'minimum' in schema || 'maximum' in schema ? 'number' : 'string';
}

type Fill = (schema: Json, name: string, place: Place) => unknown;

const byType: Readonly<Record<string, Fill>> = {
  object: fillObject,
  array: fillArray,
  string: fillString,
  number: (schema, _, place) => fillNumber(schema, place, false),
  integer: (schema, _, place) => fillNumber(schema, place, true),
  boolean: () => true,
  null: () => null,
};

function fillObject(schema: Json, _: string, place: Place): Json {
  const required = new Set(list(schema['required']).map(String));
  const known = object(schema['properties']);
  const filled: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(known)) {
    if (place.depth < depthMax || required.has(name)) filled[name] = fill(member, name, place);
  }
  const rest = schema['additionalProperties'];
  for (const name of required)
    if (!(name in known))
      filled[name] = fill(isJson(rest) ? rest : { type: 'string' }, name, place);
  const least = number(schema['minProperties']) ?? 0;
  for (let i = Object.keys(filled).length; i < least; i++)
    filled[`key${i + 1}`] = fill(isJson(rest) ? rest : { type: 'string' }, `key${i + 1}`, place);
  return filled;
}

function fillArray(schema: Json, name: string, place: Place): unknown[] {
  const first = list(schema['prefixItems']).map((item) => fill(item, name, place));
  const least = Math.max(number(schema['minItems']) ?? 0, place.depth < depthMax ? 1 : 0);
  const most = number(schema['maxItems']) ?? Infinity;
  const choices = schema['uniqueItems'] === true ? list(object(schema['items'])['enum']) : [];
  for (let i = first.length; i < Math.min(least, most) && schema['items'] !== false; i++) {
    const item =
      choices.length > 0
        ? choices[i]
        : fill(schema['items'] ?? { type: 'string' }, name.replace(/s$/, ''), place);
    first.push(schema['uniqueItems'] === true && choices.length === 0 ? distinct(item, i) : item);
  }
  return first;
}

function distinct(item: unknown, index: number): unknown {
  if (index === 0) return item;
  if (typeof item === 'number') return item + index;
  return typeof item === 'string' ? `${item} ${index + 1}` : item;
}

const formats: Readonly<Record<string, string>> = {
  date: '2026-11-21',
  time: '10:00:00Z',
  'date-time': '2026-11-21T10:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function fillString(schema: Json, name: string, place: Place): string {
  const pattern = text(schema['pattern']);
  const made = pattern === undefined ? formats[text(schema['format']) ?? ''] : textFor(pattern);
  if (made !== undefined) return made;
  const value = place.hints.names.shift() ?? name.replaceAll('_', ' ');
  return value
    .padEnd(number(schema['minLength']) ?? 0, '.')
    .slice(0, number(schema['maxLength']) ?? 200);
}

function fillNumber(schema: Json, { hints }: Place, whole: boolean): number {
  const exclusive = whole ? 1 : 0.5;
  const above = number(schema['exclusiveMinimum']);
  const below = number(schema['exclusiveMaximum']);
  const least = number(schema['minimum']) ?? (above === undefined ? -Infinity : above + exclusive);
  const most = number(schema['maximum']) ?? (below === undefined ? Infinity : below - exclusive);
  const step = number(schema['multipleOf']) ?? (whole ? 1 : 0);
  const hint = hints.numbers.find(
    (value) => value >= least && value <= most && (step === 0 || Number.isInteger(value / step)),
  );
  if (hint !== undefined) hints.numbers.splice(hints.numbers.indexOf(hint), 1);
  const value = hint ?? Math.min(Math.max(1, least), most);
  return step === 0 ? value : Math.ceil(value / step) * step;
}
