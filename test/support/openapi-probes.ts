import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Schema } from '../../src/api/schema.ts';

export type Body = Readonly<Record<string, unknown>>;

/** One change of a valid request, and whether the result is valid. */
export interface Probe {
  /** The changed member: `messages`; a refusal names it, or a path that begins with it. */
  readonly param: string;
  readonly what: string;
  readonly body: Body;
  readonly good: boolean;
}

/** Members that need another member beside them. */
const beside: Readonly<Record<string, Body>> = {
  stream_options: { stream: true },
  partial_images: { stream: true },
  'include[]': { response_format: 'json' },
  'timestamp_granularities[]': { response_format: 'verbose_json' },
};

/** The schemas of a document by name, and a validator of bodies. */
export class Schemas {
  readonly #all: Readonly<Record<string, Schema>>;
  readonly #judges = new Map<string, ValidateFunction>();
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });

  constructor(document: {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  }) {
    this.#all = document.components.schemas;
    this.#ajv.addSchema(document, 'document');
  }

  resolved({ $ref, ...schema }: Schema): Schema {
    return $ref === undefined ? schema : (this.#all[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
  }

  /** The reason why a value does not fit, or undefined. */
  misfit(schema: Schema, value: unknown): string | undefined {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const fits = this.#judges.get(text) ?? this.#ajv.compile(JSON.parse(text));
    this.#judges.set(text, fits);
    return fits(value) ? undefined : this.#ajv.errorsText(fits.errors);
  }

  /** Values that a request's schema refuses, one by one, and values at its limits. */
  probesOf(schema: Schema, good: Body): readonly Probe[] {
    return Object.entries(this.resolved(schema).properties ?? {}).flatMap(
      ([param, member]): Probe[] => {
        const probe = (body: Body, what: string): Probe => ({
          ...{ param, body, what: `${param}: ${what}` },
          good: this.misfit(schema, body) === undefined,
        });
        const { [param]: _, ...without } = good;
        const values = valuesFor(this.resolved(member)).flatMap(([value, what]) => {
          const alone = probe({ ...good, [param]: value }, what);
          const others = beside[param];
          return others === undefined
            ? [alone]
            : [alone, probe({ ...good, ...others, [param]: value }, `${what} beside`)];
        });
        const inside = this.#inside(this.resolved(member), good[param]).map(([value, what]) =>
          probe({ ...good, [param]: value }, what),
        );
        return [probe(without, 'absent'), ...values, ...inside];
      },
    );
  }

  /**
   * An object, or a list of objects, with one member changed or absent, or with one value of an
   * enum while another member is absent.
   */
  #inside(schema: Schema, value: unknown): readonly (readonly [unknown, string])[] {
    if (Array.isArray(value)) {
      const items = [schema, ...(schema.anyOf ?? [])].find(
        (kind) => kind.items !== undefined,
      )?.items;
      const [first, ...rest]: readonly unknown[] = value;
      if (items === undefined || first === undefined) return [];
      return this.#inside(this.resolved(items), first).map(([one, what]) => [
        [one, ...rest],
        `[0].${what}`,
      ]);
    }
    if (!isBody(value)) return [];
    const members = Object.entries(schema.properties ?? {});
    return members.flatMap(([name, member]) => {
      const { [name]: _, ...without } = value;
      const kind = this.resolved(member);
      const words = (kind.enum ?? []).flatMap((word) =>
        members.flatMap(([other]) => {
          const { [other]: _gone, ...left } = { ...value, [name]: word };
          return [[left, `${name} ${word} without ${other}`] as const];
        }),
      );
      const changed = valuesFor(kind).map(
        ([to, what]) => [{ ...value, [name]: to }, `${name}: ${what}`] as const,
      );
      return [[without, `${name} absent`] as const, ...changed, ...words];
    });
  }

  /** Valid and invalid query parameters, one by one, as text. */
  queriesOf(
    query: Readonly<Record<string, Schema>>,
  ): readonly { readonly param: string; readonly value: string; readonly good: boolean }[] {
    return Object.entries(query).flatMap(([param, schema]) => {
      const { minimum, maximum, enum: words = [] } = schema;
      const around = [minimum, maximum].flatMap((limit) =>
        limit === undefined ? [] : [limit - 1, limit, limit + 1],
      );
      // The valid texts depend on the data; an empty one has no effect.
      const kinds =
        schema.type === 'string' && schema.enum === undefined
          ? ['']
          : ['', 'nonsense', '1.5', '-1'];
      return [...kinds, ...around, ...words].map((value) => {
        const read =
          schema.type === 'integer' && value !== '' && Number.isFinite(Number(value))
            ? Number(value)
            : value;
        return { param, value: String(value), good: this.misfit(schema, read) === undefined };
      });
    });
  }
}

const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kinds: readonly unknown[] = ['nonsense', 1.5, true, {}, [], [7], ['a'], [{}]];

/** Values of every type, and values around the limits. */
function valuesFor(schema: Schema): readonly (readonly [unknown, string])[] {
  const { type, minimum, maximum, maxLength, minLength, enum: words, anyOf, format } = schema;
  // A schema without a type refuses nothing, and files are no JSON.
  if ((type === undefined && anyOf === undefined && words === undefined) || format === 'binary')
    return [];
  const around = [minimum, maximum].flatMap((limit) =>
    limit === undefined ? [] : [limit - 1, limit, limit + 1],
  );
  const long = maxLength === undefined ? [] : ['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)];
  const all = [
    ...kinds,
    ...around,
    ...(words ?? []),
    ...long,
    ...(minLength === undefined ? [] : ['']),
    null,
  ];
  return all.map((value) => [value, JSON.stringify(value).slice(0, 40)]);
}
