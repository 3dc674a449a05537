import { isJson, type Json } from '../json.ts';

/**
 * Messages of an API, one line each: `member:type` with `*` for repeated and `{}` for maps, and
 * `group|` before members of a oneof. Types that name neither a message nor an enum are scalars.
 */
export interface Schema {
  readonly package: string;
  readonly messages: Readonly<Record<string, string>>;
  /** Enums, by their values. */
  readonly enums: Readonly<Record<string, string>>;
}

export interface Violation {
  readonly field: string;
  readonly description: string;
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
  readonly map: boolean;
  readonly oneof: string | undefined;
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * ProtoJSON as Google's frontend reads it: members in either spelling, null as absent; everything
 * else that is unknown or misplaced is refused.
 */
export class ProtoReader {
  readonly #schema: Schema;
  readonly #fields = new Map<string, ReadonlyMap<string, Field>>();
  readonly #enums: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(schema: Schema) {
    this.#schema = schema;
    for (const [name, line] of Object.entries(schema.messages))
      this.#fields.set(name, fieldsOf(line));
    this.#enums = new Map(
      Object.entries(schema.enums).map(([name, values]) => [name, new Set(values.split(' '))]),
    );
  }

  /** The message with its members in camel case, and all violations. */
  read(
    type: string,
    raw: unknown,
  ): { readonly value: Json; readonly violations: readonly Violation[] } {
    const violations: Violation[] = [];
    const value = this.#message(type, raw, '', violations);
    return { value: isJson(value) ? value : {}, violations };
  }

  #message(type: string, raw: unknown, path: string, violations: Violation[]): unknown {
    if (!isJson(raw))
      return invalid(path, `type.googleapis.com/${this.#schema.package}.${type}`, raw, violations);
    const fields = this.#fields.get(type) ?? new Map<string, Field>();
    const read: Record<string, unknown> = {};
    const set = new Set<string>();
    for (const [name, value] of Object.entries(raw)) {
      const field = fields.get(name);
      if (field === undefined) {
        unknown(name, path, 'Cannot find field.', violations);
        continue;
      }
      if (value === null) continue;
      if (field.oneof !== undefined && set.has(field.oneof))
        violations.push(
          violation(
            path,
            `Invalid value at '${path}' (oneof), oneof field '${field.oneof}' is already set. Cannot set '${name}'`,
          ),
        );
      if (field.oneof !== undefined) set.add(field.oneof);
      read[field.name] = this.#member(field, name, value, path, violations);
    }
    return read;
  }

  #member(
    field: Field,
    name: string,
    value: unknown,
    path: string,
    violations: Violation[],
  ): unknown {
    const at = path === '' ? snake(field.name) : `${path}.${snake(field.name)}`;
    if (field.map) {
      if (!isJson(value)) return invalid(at, 'Map', value, violations);
      const entries = Object.entries(value);
      return Object.fromEntries(
        entries.map(([key, item], i) => [
          key,
          this.#value(field.type, item, `${at}[${i}].value`, violations),
        ]),
      );
    }
    if (field.repeated) {
      // A single value is read as a list of one.
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return items.map((item, i) => this.#value(field.type, item, `${at}[${i}]`, violations));
    }
    if (Array.isArray(value) && field.type !== 'Value') {
      unknown(name, path, 'Proto field is not repeating, cannot start list.', violations);
      return undefined;
    }
    return this.#value(field.type, value, at, violations);
  }

  #value(type: string, value: unknown, at: string, violations: Violation[]): unknown {
    if (this.#fields.has(type)) return this.#message(type, value, at, violations);
    const known = this.#enums.get(type);
    if (known !== undefined) {
      const upper = typeof value === 'string' ? value.toUpperCase() : undefined;
      if (upper !== undefined && known.has(upper)) return upper;
      if (typeof value === 'number') return [...known][value];
      return invalid(at, `type.googleapis.com/${this.#schema.package}.${type}`, value, violations);
    }
    return scalar(type, value, at, violations);
  }
}

function fieldsOf(line: string): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const word of line.split(/\s+/).filter(Boolean)) {
    const [, oneof, name = '', type = '', suffix] =
      /^(?:(\w+)\|)?(\w+):(\w+)(\*|\{\})?$/.exec(word) ?? [];
    const field = { name, type, repeated: suffix === '*', map: suffix === '{}', oneof };
    fields.set(name, field).set(snake(name), field);
  }
  return fields;
}

const int32Max = 2 ** 31 - 1;
const isNumber = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value));
const isInteger = (value: unknown): boolean => isNumber(value) && Number.isInteger(Number(value));

/** The JSON values that each scalar type accepts. */
const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  int32: (value) => isInteger(value) && Math.abs(Number(value)) <= int32Max,
  int64: isInteger,
  float: isNumber,
  double: isNumber,
  bytes: (value) => typeof value === 'string',
  Struct: isJson,
  Value: () => true,
};

/** Both alphabets of base64, with or without padding. */
const base64 = /^[\w+/-]*={0,2}$/;

function scalar(type: string, value: unknown, at: string, violations: Violation[]): unknown {
  if (scalars[type]?.(value) !== true)
    return invalid(
      at,
      type === 'Struct'
        ? 'type.googleapis.com/google.protobuf.Struct'
        : `TYPE_${type.toUpperCase()}`,
      value,
      violations,
    );
  if (type === 'bytes' && typeof value === 'string' && !base64.test(value)) {
    violations.push(
      violation(
        at,
        `Invalid value at '${at}' (TYPE_BYTES), Base64 decoding failed for ${JSON.stringify(value.slice(0, 80))}`,
      ),
    );
    return undefined;
  }
  return /^(?:int|float|double)/.test(type) ? Number(value) : value;
}

function invalid(path: string, type: string, value: unknown, violations: Violation[]): undefined {
  violations.push(
    violation(path, `Invalid value at '${path}' (${type}), ${JSON.stringify(value).slice(0, 200)}`),
  );
}

function unknown(name: string, path: string, why: string, violations: Violation[]): void {
  const at = path === '' ? '' : ` at '${path}'`;
  violations.push(
    violation(path, `Invalid JSON payload received. Unknown name "${name}"${at}: ${why}`),
  );
}

const violation = (field: string, description: string): Violation => ({ field, description });
