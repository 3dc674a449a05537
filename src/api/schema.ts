import type { JsonObject } from '../base/json.ts';
import type { RefusalName } from '../base/refusal.ts';

/**
 * JSON Schema of 2020-12, which OpenAPI 3.1 speaks. Every schema says what it is in `description`.
 */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Members;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly enum?: readonly (string | number | null)[];
  readonly const?: string | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: 'binary';
  readonly examples?: readonly unknown[];
  /**
   * Checks a value in place of `checkOf` (`request-body.ts`). JSON leaves functions out, so it is
   * not printed.
   */
  readonly check?: (value: unknown, param: string) => unknown;
}
/** A schema whose values have this type once they are checked. */
export interface SchemaOf<Value> extends Schema {
  readonly check?: (value: unknown, param: string) => Value;
}
type Members = Readonly<Record<string, Schema>>;
type ValueOf<Member> = Member extends SchemaOf<infer Value> ? Value : unknown;
type BodyOf<Required, Optional> = {
  readonly [Name in keyof Required]: ValueOf<Required[Name]>;
} & { readonly [Name in keyof Optional]: ValueOf<Optional[Name]> | null | undefined };

export const string = (description: string, more: SchemaOf<string> = {}): SchemaOf<string> => ({
  type: 'string',
  description,
  ...more,
});
export const boolean = (description: string): SchemaOf<boolean> => ({
  type: 'boolean',
  description,
});
export const array = (
  description: string,
  items: Schema,
  more: SchemaOf<readonly unknown[]> = {},
): SchemaOf<readonly unknown[]> => ({
  type: 'array',
  description,
  items,
  ...more,
});
export const choice = <Value extends string>(
  description: string,
  values: readonly Value[],
): SchemaOf<Value> => ({
  type: 'string',
  description,
  enum: values,
});
export const number = (description: string, least: number, most: number): SchemaOf<number> => ({
  type: 'number',
  description,
  minimum: least,
  maximum: most,
});
/** Without `most`: as large as a whole number can be. */
export const integer = (description: string, least: number, most?: number): SchemaOf<number> => ({
  type: 'integer',
  description,
  minimum: least,
  ...(most === undefined ? {} : { maximum: most }),
});
export const anyOf = (description: string, ...kinds: readonly Schema[]): Schema => ({
  description,
  anyOf: kinds,
});
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** A schema with a check of its own. */
export const checkedBy = <Value>(
  check: (value: unknown, param: string) => Value,
  schema: Schema,
): SchemaOf<Value> => ({ ...schema, check });

/**
 * A value that goes to the model's vendor unchanged and unchecked: the convention says what it may
 * be.
 */
export const forwarded = (description: string): Schema => ({
  description: `${description} Forwarded unchanged.`,
});
/** As `forwarded`, for values that have to be objects. */
export const object = (description: string): SchemaOf<JsonObject> => ({
  type: 'object',
  description,
});

/**
 * An object that a client sends. Absent and null are the same, and members that are not named here
 * are passed on.
 */
export function request<Required extends Members, Optional extends Members = Record<never, Schema>>(
  required: Required,
  optional?: Optional,
  more: Pick<Schema, 'allOf' | 'anyOf'> = {},
): SchemaOf<BodyOf<Required, Optional>> {
  const nullable = Object.fromEntries(
    Object.entries(optional ?? {}).map(([name, schema]) => [name, orNull(schema)]),
  );
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...nullable },
    ...more,
  };
}

/**
 * A member that may stand only beside certain values of others. Elsewhere it is absent, null or as
 * `otherwise` says.
 */
export const onlyWith = (
  member: string,
  others: Members,
  otherwise: Schema = { type: 'null' },
): Schema => ({
  anyOf: [
    { properties: { [member]: otherwise } },
    { required: Object.keys(others), properties: others },
  ],
});

/** An object that has this member, and not as null. */
export const present = (member: string): Schema => ({
  required: [member],
  properties: { [member]: { not: { type: 'null' } } },
});

/** The query parameters of a list, and the page. */
export const pageQuery = (most: number): Members => ({
  order: choice('Order by time; default `desc`.', ['asc', 'desc']),
  limit: integer('Number of entries per page; default 20.', 1, most),
  after: string('ID of the last entry of the previous page.'),
});
export const page = (items: Schema): Schema =>
  answer(
    {
      object: { type: 'string', const: 'list' },
      data: array('One page.', items),
      has_more: boolean('Whether there is another page.'),
    },
    {
      first_id: string('Id of the first entry.'),
      last_id: string('Id of the last entry, for `after`.'),
    },
  );

/** An object in a response; members in `sometimes` may be absent or null. */
export function answer(always: Members, sometimes: Members = {}): Schema {
  return request(always, sometimes);
}

function orNull(schema: Schema): Schema {
  const { $ref, type, anyOf, enum: values, ...more } = schema;
  if ($ref !== undefined) return { ...more, anyOf: [{ $ref }, { type: 'null' }] };
  if (anyOf !== undefined) return { ...more, anyOf: [...anyOf, { type: 'null' }] };
  if (type === undefined) return schema;
  return { type: [type, 'null'].flat(), ...(values && { enum: [...values, null] }), ...more };
}

/** The documentation of one endpoint beside its method and path. */
export interface Operation {
  /**
   * The name in clients that are generated from the document; the key of its example in
   * `examples.json`.
   */
  readonly id: string;
  readonly tag: string;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** Names of schemas of the same family. */
  readonly schemas?: Readonly<Record<string, Schema>>;
  /** The parameters of the path, in its order. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, Schema>>;
  /** The request body by content type. Files of a form are `binary`. */
  readonly body?: Readonly<Partial<Record<'application/json' | 'multipart/form-data', Schema>>>;
  /** The 200 response by content type. */
  readonly answer: Readonly<Record<string, Schema>>;
  /** Absent: its errors have the format of chat. */
  readonly convention?: 'messages' | 'generate';
  /** What it calls a model for: to count tokens, a chat, or anything else. */
  readonly calls?: 'count' | 'chat' | 'model';
  /** Refusals that do not follow from the members above. */
  readonly also?: readonly EndpointRefusal[];
}

/** Whether the endpoint may charge: it then takes an `Idempotency-Key`. */
export const isCharged = ({ calls }: Operation): boolean => calls === 'chat' || calls === 'model';

/** What an endpoint can answer. The others are about requests that reach none. */
export type EndpointRefusal = Exclude<
  RefusalName,
  'method_not_supported' | 'upgrade_not_served' | 'expectation_failed' | 'head_too_large'
>;

/** `POST /chat/completions` → its documentation. */
export type Operations = Readonly<Record<string, Operation>>;
