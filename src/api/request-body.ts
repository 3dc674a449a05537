import { isAscii } from 'node:buffer';
import { editJsonBytes, isObject, type JsonObject, textOf } from '../base/json.ts';
import {
  type Skeleton,
  type StringContents,
  parseWithoutLongStrings,
  longStringBytesMin,
} from '../base/long-strings.ts';
import { refuse } from '../base/refusal.ts';
import { messageOf } from '../base/thrown.ts';
import type { ApiRequest, MediaAddress, ClientFormat } from '../gateway/api-request.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { run } from '../gateway/run.ts';
import type { Form } from '../http/multipart.ts';
import type { Endpoint, HttpRequest, RequestContext } from './endpoint.ts';
import * as schema from './schema.ts';
import type { Schema, SchemaOf } from './schema.ts';

export type RequestBody = JsonObject;

/** What a parser reads of a request beside its body. */
export type ParserContext = Pick<RequestContext, 'id' | 'principal'>;

/**
 * An endpoint whose request is its JSON body. `parse` returns it as the pipeline takes it, or
 * throws the Refusal that names what is wrong.
 */
export const jsonEndpoint = (
  parts: GatewayParts,
  path: string,
  parse: (context: RequestContext, sent: ParsedJson) => ApiRequest,
  format: ClientFormat,
): Endpoint => ({
  method: 'POST',
  path,
  handle: (context) =>
    run(parts, parse(context, takeJson(context.request)), context.response, format),
});

/**
 * The fields of a form that count: of several with one name the last, except of a list. An empty
 * field is absent; an empty model is left to be refused, since another one would be charged.
 */
export function fieldsOf(
  fields: Form['fields'],
  isList: (name: string) => boolean = () => false,
): Form['fields'] {
  const last = new Map(fields.map(([name], i) => [name, i]));
  return fields.filter(
    ([name, value], i) =>
      (value !== '' || name === 'model') && (isList(name) || last.get(name) === i),
  );
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** An absent value is refused as missing, not as of a wrong type. */
export function refuseType(param: string, expected: string, got: unknown): never {
  if (got === undefined) refuse('missing_parameter', { param });
  return refuse('invalid_type', { param, expected, got: typeName(got) });
}

/**
 * The check of a value at `param`, absent and null apart, made once of its schema: its type, then
 * its size, then its members or items. A schema with a `check` is checked by that alone.
 */
export function checkOf<Value>(schema: SchemaOf<Value>, param: string): (value: unknown) => Value;
export function checkOf(schema: Schema, param: string): (value: unknown) => unknown {
  const { check, type } = schema;
  if (check !== undefined) return (value) => check(value, param);
  switch (typeof type === 'object' ? type[0] : type) {
    case 'string':
      return stringCheck(schema, param);
    case 'integer':
    case 'number':
      return numberCheck(schema, param);
    case 'boolean':
      return (value) =>
        typeof value === 'boolean' ? value : refuseType(param, 'a boolean', value);
    case 'array':
      return arrayCheck(schema, param);
    case 'object':
      return objectCheck(schema, param);
    default:
      return (value) => value;
  }
}

function stringCheck(
  { enum: values, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema,
  param: string,
) {
  const known = values?.filter((one) => typeof one === 'string');
  return (value: unknown): string => {
    const text = checkText(value, param, minLength);
    checkLength(text, param, maxLength, 'characters');
    if (known?.includes(text) === false) refuseUnlisted(text, param, known);
    return text;
  };
}

export function checkText(value: unknown, param: string, least = 1): string {
  if (typeof value !== 'string') refuseType(param, 'a string', value);
  if (value.length < least) refuse('invalid_value', { param, why: 'it must not be empty.' });
  return value;
}

/** The text of a member that has to be there; null is absent. `at`: the path of its object. */
export function requiredText(object: RequestBody, name: string, at: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : refuseNonText(value, `${at}.${name}`);
}

export function refuseNonText(value: unknown, param: string): never {
  return refuseType(param, 'a string', value ?? undefined);
}

export function refuseUnlisted(text: string, param: string, known: readonly string[]): never {
  refuse('invalid_value', { param, why: `'${text}' is not one of ${known.join(', ')}.` });
}

/** Refuses a text or a list that is longer than `most`. */
export function checkLength(
  { length }: string | readonly unknown[],
  param: string,
  most: number,
  units: string,
): void {
  if (length > most)
    refuse('out_of_range', { param, expected: `of at most ${most} ${units}`, got: length });
}

function numberCheck({ type, minimum, maximum }: Schema, param: string) {
  const least = minimum ?? Number.NEGATIVE_INFINITY;
  const most =
    maximum ?? (minimum === undefined ? Number.POSITIVE_INFINITY : Number.MAX_SAFE_INTEGER);
  return type === 'number' || type?.[0] === 'number'
    ? (value: unknown): number => checkNumber(value, param, least, most)
    : (value: unknown): number => checkInteger(value, param, least, most);
}

function checkNumber(value: unknown, param: string, least: number, most: number): number {
  if (typeof value !== 'number') refuseType(param, 'a number', value);
  if (value < least || value > most)
    refuse('out_of_range', {
      param,
      expected: value < least ? `>= ${least}` : `<= ${most}`,
      got: value,
    });
  return value;
}

export function checkInteger(value: unknown, param: string, least: number, most: number): number {
  const number = checkNumber(value, param, least, most);
  return Number.isInteger(number) ? number : refuseType(param, 'an integer', value);
}

const isText = (value: unknown): boolean => typeof value === 'string';

function arrayCheck(
  { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema,
  param: string,
) {
  const { type } = items;
  const expected = type === 'object' ? 'an object' : 'a string';
  const fits = type === 'object' ? isObject : type === 'string' ? isText : undefined;
  return (value: unknown): readonly unknown[] => {
    if (!Array.isArray(value)) refuseType(param, 'an array', value);
    if (value.length < minItems) refuse('invalid_value', { param, why: 'it must not be empty.' });
    checkLength(value, param, maxItems, 'items');
    for (let i = 0; i < value.length && fits !== undefined; i++)
      if (!fits(value[i])) refuseType(`${param}[${i}]`, expected, value[i]);
    return value;
  };
}

function objectCheck(schema: Schema, param: string) {
  const members = membersIn(schema, `${param}.`);
  return (value: unknown): RequestBody => {
    if (!isObject(value)) refuseType(param, 'an object', value);
    for (const { name, needed, check } of members)
      if (needed || (value[name] !== undefined && value[name] !== null)) check(value[name]);
    return value;
  };
}

function membersIn({ properties = {}, required = [] }: Schema, prefix = '') {
  return Object.entries(properties).map(([name, member]) => ({
    name,
    needed: required.includes(name),
    check: checkOf(member, `${prefix}${name}`),
  }));
}

type Readers<Body> = {
  readonly [Name in keyof Body]: (body: RequestBody) => Exclude<Body[Name], null>;
};

/**
 * A function for each member of a body, which checks and returns it. Absent and null are the same,
 * as in the convention.
 */
export function readersOf<Body>(schema: SchemaOf<Body>): Readers<Body>;
export function readersOf(schema: Schema): Readers<RequestBody> {
  return Object.fromEntries(
    membersIn(schema).map(({ name, needed, check }) => [
      name,
      (body: RequestBody): unknown => {
        const value = body[name];
        if (value !== undefined && value !== null) return check(value);
        return needed ? refuse('missing_parameter', { param: name }) : undefined;
      },
    ]),
  );
}

/** Checks optional members in their order. */
export function checksOf(members: Readonly<Record<string, Schema>>): (body: RequestBody) => void {
  const readers = Object.values(readersOf<RequestBody>({ properties: members }));
  return (body) => {
    for (const read of readers) read(body);
  };
}

/** The most models that may be named in place of one. */
const fallbackModelsMax = 8;
/** A member of requests whose answer is text. */
export const fallbackModels = schema.array(
  'Models that are asked, in this order, when `model` cannot answer. The answer names the one that wrote it, and its price is charged.',
  { type: 'string' },
  { maxItems: fallbackModelsMax },
);
const checkFallbacks = checkOf(fallbackModels, 'models') as (value: unknown) => readonly string[];

/** Takes `models` out of the body, since no vendor knows it. */
export function withFallbacks(request: ApiRequest): ApiRequest {
  if (request.body['models'] === undefined) return request;
  const { models, ...body } = request.body;
  const bytes = editJsonBytes(request.bytes, [{ path: ['models'] }], request.skeleton);
  return {
    ...request,
    body,
    bytes,
    textBytes: request.textBytes - (request.bytes.length - bytes.length),
    fallbacks: models === null ? undefined : checkFallbacks(models),
  };
}

/** A member with which OpenRouter's clients ask for the cost of an answer. */
export const costWish = schema.request(
  {},
  {
    include: schema.boolean(
      'The answer’s `usage` gets `cost`, the amount that was charged, and its `currency`. A stream gets a last chunk with `usage`.',
    ),
  },
);
const readCostWish = readersOf(schema.request({}, { usage: costWish }));

/** Reads the wish for the answer's cost. The member stays in the body, for vendors that take it. */
export function withCost(request: ApiRequest): ApiRequest {
  if (request.body['usage'] === undefined) return request;
  const tellsCost = readCostWish.usage(request.body)?.include === true;
  return { ...request, includeUsage: request.includeUsage || tellsCost, tellsCost };
}

export interface ParsedJson {
  readonly body: RequestBody;
  /** What was parsed. They hold no duplicate members. */
  readonly bytes: Buffer;
  /** Set when the bytes have long strings. */
  readonly skeleton: Skeleton | undefined;
}

/**
 * Parses a body, which must be an object in UTF-8 and have a JSON content type. Throws the Refusal
 * of any other.
 */
export function parseJson(bytes: unknown, contentType: string | undefined): ParsedJson {
  if (contentType !== 'application/json') requireJson(contentType);
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    refuse('malformed_json', { why: 'it is empty.' });
  const long: StringContents[] = [];
  const written = { members: 0 };
  const much = exceedsJsonLimits(bytes, long, written);
  if (much !== undefined) refuse('malformed_json', { why: much });
  let body: unknown;
  let skeleton: Skeleton | undefined;
  try {
    const read = long.length > 0 ? parseWithoutLongStrings(bytes, long) : undefined;
    skeleton = read?.skeleton;
    body = read?.value;
    body ??= JSON.parse(bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8'));
  } catch (error) {
    refuse('malformed_json', { why: messageOf(error).slice(0, 200) });
  }
  if (!isObject(body))
    refuse('malformed_json', { why: `expected an object, but got ${typeName(body)}.` });
  refuseDoubles(body);
  if (membersOf(body) !== written.members)
    return parseJson(withoutDuplicateMembers(bytes), contentType);
  return { body, bytes, skeleton };
}

/**
 * Parses a request's body. The bytes are the caller's then: a stream may last for minutes, and its
 * prompt may have megabytes.
 */
export function takeJson(request: HttpRequest): ParsedJson {
  const parsed = parseJson(request.body, request.headers['content-type']);
  request.model = textOf(parsed.body['model']);
  request.body = undefined;
  return parsed;
}

function requireJson(contentType: string | undefined): void {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !type.endsWith('+json'))
    refuse('wrong_content_type', { got: type || 'none', expected: 'application/json' });
}

/** The members that decide the price of a request. */
const decisive = new Set([
  'model',
  'stream',
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
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
]);

const usualName = /^[a-z0-9_]*$/;

/**
 * Some servers ignore the case of names and take the last of several
 * (pkg.go.dev/encoding/json#Unmarshal, 2026-08): they would read `Model`, while Tollgate has read,
 * priced and replaced `model`.
 */
function refuseDoubles(body: RequestBody): void {
  for (const name in body) {
    if (usualName.test(name)) continue;
    const read = name.toUpperCase().toLowerCase();
    if (decisive.has(read))
      refuse('invalid_value', { param: name.slice(0, 64), why: `it is written '${read}'.` });
  }
}

/** Brackets within brackets in a body at most; the deepest schemas in use have some twenty. */
export const depthMax = 256;
/**
 * Values in a body at most: more than the longest conversation has, and few enough to be read in a
 * fraction of a second.
 */
export const valuesMax = 1_000_000;

const quote = 0x22;
const backslash = 0x5c;

/**
 * The reason not to parse a body, found without parsing it; undefined when the body is fine. The
 * text of long strings costs nothing: `long` gets the strings that are values. `written` gets the
 * number of members in the text of all objects.
 */
export function exceedsJsonLimits(
  json: Buffer,
  long: StringContents[] = [],
  written = { members: 0 },
): string | undefined {
  let depth = 0;
  let values = 0;
  let members = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === quote) {
      const start = i + 1;
      i = stringEnd(json, i);
      if (i - start >= longStringBytesMin && !isName(json, i)) long.push({ start, end: i });
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > depthMax) return `it is nested more than ${depthMax} levels deep.`;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
    else if (byte === 0x3a) members++;
    else if (byte === 0x2c && ++values > valuesMax) return `it has more than ${valuesMax} values.`;
  }
  written.members = members;
  return undefined;
}

/**
 * The number of members in all objects of a parsed value: fewer than in its text, if a name occurs
 * twice in an object.
 */
export function membersOf(value: Readonly<Record<string, unknown>> | readonly unknown[]): number {
  let count = 0;
  if (isList(value)) {
    for (const item of value) if (isNested(item)) count += membersOf(item);
    return count;
  }
  for (const name in value) {
    const inner = value[name];
    count += isNested(inner) ? 1 + membersOf(inner) : 1;
  }
  return count;
}

const isList = (value: object): value is readonly unknown[] => Array.isArray(value);
const isNested = (
  value: unknown,
): value is Readonly<Record<string, unknown>> | readonly unknown[] =>
  typeof value === 'object' && value !== null;

/** An object whose members are being read. */
interface OpenValue {
  /** The position of each member, and the last member of each name. */
  readonly starts: number[];
  readonly named: Map<string, number>;
}

/**
 * The same JSON with only the last of several members of one name in an object. Tollgate reads and
 * checks the last one, as most servers do; a vendor that reads the first would get a value that was
 * not checked. For JSON that has been parsed; one pass at any depth.
 */
export function withoutDuplicateMembers(json: Buffer): Buffer {
  const cuts: [from: number, to: number][] = [];
  const open: (OpenValue | undefined)[] = [];
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === 0x7b) open.push({ starts: [], named: new Map() });
    else if (byte === 0x5b) open.push(undefined);
    else if (byte === 0x7d || byte === 0x5d) open.pop();
    else if (byte === quote) {
      const end = stringEnd(json, i);
      const object = open.at(-1);
      if (object !== undefined && isName(json, end))
        cutDouble(object, i, nameOf(json.subarray(i, end + 1)), cuts);
      i = end;
    }
  }
  return cutOut(json, cuts);
}

function cutDouble(
  { starts, named }: OpenValue,
  start: number,
  name: string,
  cuts: [number, number][],
): void {
  const before = named.get(name);
  named.set(name, starts.push(start) - 1);
  if (before !== undefined) cuts.push([starts[before] ?? start, starts[before + 1] ?? start]);
}

function nameOf(json: Buffer): string {
  const name: unknown = JSON.parse(json.toString('utf8'));
  return String(name);
}

function cutOut(json: Buffer, cuts: readonly (readonly [from: number, to: number])[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [from, to] of [...cuts].sort(([a], [b]) => a - b)) {
    // A cut within an earlier cut is skipped.
    if (from >= at) pieces.push(json.subarray(at, from));
    at = Math.max(at, to);
  }
  return Buffer.concat([...pieces, json.subarray(at)]);
}

/** Whether a colon comes after the string that ends here. */
function isName(json: Buffer, end: number): boolean {
  let i = end + 1;
  while (json[i] === 0x20 || json[i] === 0x0a || json[i] === 0x0d || json[i] === 0x09) i++;
  return json[i] === 0x3a;
}

/**
 * The index of the quote that ends the string which begins at `start`, or the end of a string that
 * does not.
 */
function stringEnd(json: Buffer, start: number): number {
  for (let i = start; ; ) {
    i = json.indexOf(quote, i + 1);
    if (i < 0) return json.length;
    let before = i;
    while (json[before - 1] === backslash) before--;
    if ((i - before) % 2 === 0) return i;
  }
}

/** The media in a conversation. */
export interface PromptMedia {
  /** Modality → the parameter where it first occurs. */
  kinds: ReadonlyMap<string, string>;
  count: number;
  /** Bytes of the body that are media, not text. */
  bytes: number;
  /** Media that the client gave by address. */
  addresses: MediaAddress[] | undefined;
}

const noKinds: ReadonlyMap<string, string> = new Map();

export const noMedia = (): PromptMedia => ({
  kinds: noKinds,
  count: 0,
  bytes: 0,
  addresses: undefined,
});

/** Counts a piece of media of this kind. */
export function addMedium(media: PromptMedia, kind: string, param: string): void {
  media.count += 1;
  if (!media.kinds.has(kind)) media.kinds = new Map([...media.kinds, [kind, param]]);
}

export function addAddress(media: PromptMedia, address: MediaAddress): void {
  media.addresses ??= [];
  media.addresses.push(address);
}

/** Whether a text is an address that can be fetched. */
export const isAddress = (value: string): boolean => /^https?:\/\//i.test(value);

/**
 * Counts a string that is media or the address of media. A data URL may replace the address later.
 */
export function addMediaText(
  media: PromptMedia,
  value: unknown,
  kind: MediaAddress['kind'],
  name: unknown,
  param: string,
): void {
  if (typeof value !== 'string') return;
  media.bytes += value.length;
  if (!isAddress(value)) return;
  addAddress(media, {
    url: value,
    kind,
    name: typeof name === 'string' ? name : undefined,
    param,
    place: param,
    written: dataUrl,
  });
}

const dataUrl = (type: string, base64: string): string => `data:${type};base64,${base64}`;

/**
 * Adds the strings of a value that a model reads as text: those of members not named in `unread`.
 */
export function collectText(value: unknown, unread: ReadonlySet<string>, pieces: string[]): void {
  if (typeof value === 'string') pieces.push(value);
  else if (Array.isArray(value)) for (const item of value) collectText(item, unread, pieces);
  else if (isObject(value))
    for (const [member, inner] of Object.entries(value))
      if (!unread.has(member)) collectText(inner, unread, pieces);
}
