import { isAscii } from 'node:buffer';
import { type Inside, parseWithout } from '../base/long-strings.ts';
import { refuse } from '../base/refusal.ts';
import { membersOf, tooMuch, withoutDoubles } from './json-shape.ts';

export type Body = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** What is not there has no type: it is missing. */
export function refuseType(param: string, expected: string, got: unknown): never {
  if (got === undefined) refuse('missing_parameter', { param });
  return refuse('invalid_type', { param, expected, got: typeName(got) });
}

/** The checks below read an optional member: absent and null are the same, as in the convention. */
export function optionalNumber(
  body: Body,
  param: string,
  least: number,
  most: number,
): number | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') refuseType(param, 'a number', value);
  if (value < least || value > most)
    refuse('out_of_range', {
      param,
      expected: value < least ? `>= ${least}` : `<= ${most}`,
      got: value,
    });
  return value;
}

export function optionalInteger(
  body: Body,
  param: string,
  least: number,
  most: number,
): number | undefined {
  const value = optionalNumber(body, param, least, most);
  if (value !== undefined && !Number.isInteger(value)) refuseType(param, 'an integer', value);
  return value;
}

export function optionalBoolean(body: Body, param: string): boolean | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') refuseType(param, 'a boolean', value);
  return value;
}

export function optionalObject(body: Body, param: string): Body | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) refuseType(param, 'an object', value);
  return value;
}

export function optionalArray(body: Body, param: string): readonly unknown[] | undefined {
  const value = body[param];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) refuseType(param, 'an array', value);
  return value;
}

export function requiredString(body: Body, param: string): string {
  const value = body[param];
  if (value === undefined || value === null) refuse('missing_parameter', { param });
  if (typeof value !== 'string') refuseType(param, 'a string', value);
  if (value === '') refuse('invalid_value', { param, why: 'it must not be empty.' });
  return value;
}

/** The body as JSON: an object, in UTF-8, said to be JSON. */
export function parseJson(
  bytes: unknown,
  contentType: string | undefined,
): { readonly body: Body; readonly bytes: Buffer } {
  if (contentType !== 'application/json') requireJson(contentType);
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    refuse('malformed_json', { why: 'it is empty.' });
  const long: Inside[] = [];
  const written = { members: 0 };
  const much = tooMuch(bytes, long, written);
  if (much !== undefined) refuse('malformed_json', { why: much });
  let body: unknown;
  try {
    if (long.length > 0) body = parseWithout(bytes, long);
    body ??= JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch (error) {
    refuse('malformed_json', {
      why: error instanceof Error ? error.message.slice(0, 200) : 'it is not JSON',
    });
  }
  if (!isObject(body))
    refuse('malformed_json', { why: `expected an object, but got ${typeName(body)}.` });
  refuseDoubles(body);
  if (membersOf(body) !== written.members) return parseJson(withoutDoubles(bytes), contentType);
  return { body, bytes };
}

function requireJson(contentType: string | undefined): void {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !type.endsWith('+json'))
    refuse('wrong_content_type', { got: type || 'none', expected: 'application/json' });
}

/** What decides what is sold, and how much of it. */
const decisive = new Set([
  ...[
    'model',
    'stream',
    'n',
    'best_of',
    'max_tokens',
    'max_completion_tokens',
    'max_output_tokens',
  ],
  ...[
    'messages',
    'prompt',
    'input',
    'query',
    'documents',
    'size',
    'quality',
    'partial_images',
    'duration',
    'seconds',
    'resolution',
  ],
]);

const usualName = /^[a-z0-9_]*$/;

/**
 * Some servers read names whatever their case, and the last of several
 * (pkg.go.dev/encoding/json#Unmarshal, 2026-08): to them `Model` is the model, while we have read,
 * priced and replaced `model`.
 */
function refuseDoubles(body: Body): void {
  for (const name in body) {
    if (usualName.test(name)) continue;
    const read = name.toUpperCase().toLowerCase();
    if (decisive.has(read))
      refuse('invalid_value', { param: name.slice(0, 64), why: `it is written '${read}'.` });
  }
}
