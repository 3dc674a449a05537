export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at `value`, an empty one when it is no object. */
export function object(value: unknown): Json {
  return isJson(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** JSON's name for a value's type, as vendors write it in errors. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal';
  return typeof value;
}

/** A value as an error message shows it. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The JSON object of a body; undefined when it is none. */
export function objectIn(body: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A call's arguments, `{}` where the limit has cut them: a vendor cannot write half an object. */
export function argumentsOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}
