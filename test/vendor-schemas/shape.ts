/**
 * Tells what is wrong with a value; `at` is its path. A shape is a table that is read by calling
 * it.
 */
export type Shape = (value: unknown, at: string, tell: (complaint: string) => void) => void;

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const objectsOf = (value: unknown): readonly Json[] => listOf(value).filter(isObject);

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 60);

/** Anything: what it means is not the wire's business (schemas, arguments). */
export const anything: Shape = () => {};

export const flag: Shape = (value, at, tell) => {
  if (typeof value !== 'boolean') tell(`${at}: ${shown(value)} is no boolean`);
};

export const text =
  ({
    min = 0,
    max = Infinity,
    pattern,
  }: {
    readonly min?: number;
    readonly max?: number;
    readonly pattern?: RegExp;
  } = {}): Shape =>
  (value, at, tell) => {
    if (typeof value !== 'string') return tell(`${at}: ${shown(value)} is no string`);
    if (value.length < min) tell(`${at}: is shorter than ${min}`);
    if (value.length > max) tell(`${at}: is longer than ${max}`);
    if (pattern !== undefined && !pattern.test(value))
      tell(`${at}: ${shown(value)} does not match ${pattern}`);
  };

export const number =
  (min = -Infinity, max = Infinity): Shape =>
  (value, at, tell) => {
    if (typeof value !== 'number') tell(`${at}: ${shown(value)} is no number`);
    else if (value < min || value > max) tell(`${at}: ${value} is not between ${min} and ${max}`);
  };

export const whole =
  (min = -Infinity, max = Infinity): Shape =>
  (value, at, tell) => {
    if (typeof value === 'number' && !Number.isInteger(value))
      tell(`${at}: ${value} is no whole number`);
    number(min, max)(value, at, tell);
  };

export const one =
  (...allowed: readonly unknown[]): Shape =>
  (value, at, tell) => {
    if (!allowed.includes(value)) tell(`${at}: ${shown(value)} is none of ${allowed.join(', ')}`);
  };

export const list =
  (
    item: Shape,
    { min = 0, max = Infinity }: { readonly min?: number; readonly max?: number } = {},
  ): Shape =>
  (value, at, tell) => {
    if (!Array.isArray(value)) return tell(`${at}: ${shown(value)} is no list`);
    if (value.length < min) tell(`${at}: has fewer than ${min} entries`);
    if (value.length > max) tell(`${at}: has more than ${max} entries`);
    for (const [index, entry] of value.entries()) item(entry, `${at}[${index}]`, tell);
  };

/** Any object whose values all have one shape. */
export const map =
  (item: Shape = anything): Shape =>
  (value, at, tell) => {
    if (!isObject(value)) return tell(`${at}: ${shown(value)} is no object`);
    for (const [name, entry] of Object.entries(value)) item(entry, `${at}.${name}`, tell);
  };

export type Members = Readonly<Record<string, Shape>>;

/**
 * An object with these members and no others. What has to be there is named in `needs`; what is
 * null counts as absent, as vendors' generated clients send it.
 */
export const object =
  (members: Members, ...needs: readonly string[]): Shape =>
  (value, at, tell) => {
    if (!isObject(value)) return tell(`${at}: ${shown(value)} is no object`);
    for (const need of needs)
      if (value[need] === undefined || value[need] === null) tell(`${at}.${need}: is missing`);
    for (const [name, entry] of Object.entries(value)) {
      const shape = members[name];
      if (shape === undefined) tell(`${at}.${name}: is no member that it takes`);
      else if (entry !== null && entry !== undefined) shape(entry, `${at}.${name}`, tell);
    }
  };

/** The first shape that finds nothing wrong; the complaints of the last otherwise. */
export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value, at, tell) => {
    let complaints: string[] = [];
    for (const shape of shapes) {
      complaints = [];
      shape(value, at, (complaint) => complaints.push(complaint));
      if (complaints.length === 0) return;
    }
    for (const complaint of complaints) tell(complaint);
  };

/** Objects told apart by one member's value; `otherwise` where that member is absent. */
export const tagged =
  (tag: string, kinds: Readonly<Record<string, Shape>>, otherwise?: Shape): Shape =>
  (value, at, tell) => {
    if (!isObject(value)) return tell(`${at}: ${shown(value)} is no object`);
    const name = value[tag];
    const shape = typeof name === 'string' ? kinds[name] : otherwise;
    if (shape === undefined)
      tell(`${at}.${tag}: ${shown(name)} is none of ${Object.keys(kinds).join(', ')}`);
    else shape(value, at, tell);
  };

export const strings = (max = Infinity, item: Shape = text()): Shape => list(item, { max });

/**
 * A rule beside the shape: for which models, what it demands, and the page that says so with its
 * date.
 */
export interface Rule {
  /** Of the vendor's model ids; absent: all. */
  readonly models?: RegExp;
  readonly source: string;
  /** Complaints, without the source. */
  readonly check: (request: Request) => readonly string[];
}

export interface Request {
  readonly body: Json;
  readonly model: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** What a vendor takes at one kind of address. */
export interface Endpoint {
  /** Of the path behind the base URL, without the query. */
  readonly path: RegExp;
  readonly source: string;
  readonly body: Shape;
  readonly rules?: readonly Rule[];
}

const set = (value: unknown): boolean => value !== undefined && value !== null;

/** The member at a dotted path. */
export function memberAt(body: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), body);
}

/** These models refuse the members, whatever their value. */
export const refuses = (
  models: RegExp | undefined,
  source: string,
  ...members: readonly string[]
): Rule => ({
  ...(models && { models }),
  source,
  check: ({ body }) =>
    members
      .filter((member) => set(memberAt(body, member)))
      .map((member) => `${member}: this model refuses it`),
});

/** These models take nothing but these values of the member. */
export const takes = (
  models: RegExp | undefined,
  source: string,
  member: string,
  ...values: readonly unknown[]
): Rule => ({
  ...(models && { models }),
  source,
  check: ({ body }) => {
    const value = memberAt(body, member);
    return !set(value) || values.includes(value)
      ? []
      : [`${member}: ${shown(value)} is none of ${values.join(', ')} for this model`];
  },
});

/** The first member means nothing without the second, and is refused then. */
export const needs = (source: string, member: string, other: string, wanted?: unknown): Rule => ({
  source,
  check: ({ body }) => {
    const there = memberAt(body, other);
    const fits =
      wanted === undefined
        ? set(there) && !(Array.isArray(there) && there.length === 0)
        : there === wanted;
    return set(memberAt(body, member)) && !fits ? [`${member}: is refused without ${other}`] : [];
  },
});

export const rule = (source: string, models: RegExp | undefined, check: Rule['check']): Rule => ({
  ...(models && { models }),
  source,
  check,
});

/** What is wrong with a request by this endpoint's table. */
export function held(endpoint: Endpoint, request: Request): string[] {
  const complaints: string[] = [];
  endpoint.body(request.body, 'body', (complaint) =>
    complaints.push(`${complaint} (${endpoint.source})`),
  );
  for (const { models, source, check } of endpoint.rules ?? [])
    if (models === undefined || models.test(request.model))
      complaints.push(...check(request).map((complaint) => `${complaint} (${source})`));
  return complaints;
}
