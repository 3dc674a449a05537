import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Schema } from '../../src/api/openapi/schema.ts';

export type Body = Readonly<Record<string, unknown>>;

/** One change of a good request, and whether it is good afterwards. */
export interface Probe {
  /** The member that is changed: `messages`, and what a refusal calls it or begins with. */
  readonly param: string;
  readonly what: string;
  readonly body: Body;
  readonly good: boolean;
}

/** Members that mean something only beside others. */
const beside: Readonly<Record<string, Body>> = {
  stream_options: { stream: true },
  partial_images: { stream: true },
  'timestamp_granularities[]': { response_format: 'verbose_json' },
};

/** The schemas of a document by their names, and a judge of bodies. */
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

  /** Why a value does not fit, or undefined. */
  misfit(schema: Schema, value: unknown): string | undefined {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const fits = this.#judges.get(text) ?? this.#ajv.compile(JSON.parse(text));
    this.#judges.set(text, fits);
    return fits(value) ? undefined : this.#ajv.errorsText(fits.errors);
  }

  /** What the schema of a request says no to, tried one by one, and what stands at its very edge. */
  probesOf(schema: Schema, good: Body): readonly Probe[] {
    return Object.entries(this.resolved(schema).properties ?? {}).flatMap(
      ([param, member]): Probe[] => {
        const probe = (body: Body, what: string): Probe => ({
          ...{ param, body, what: `${param}: ${what}` },
          good: this.misfit(schema, body) === undefined,
        });
        const { [param]: _, ...without } = good;
        const values = valuesFor(this.resolved(member)).map(([value, what]) =>
          probe({ ...good, ...beside[param], [param]: value }, what),
        );
        return [probe(without, 'absent'), ...values];
      },
    );
  }
}

const kinds: readonly unknown[] = ['nonsense', 1.5, true, {}, [], [7], ['a'], [{}]];

/** Values of every kind, and those around the limits. */
function valuesFor(schema: Schema): readonly (readonly [unknown, string])[] {
  const { type, minimum, maximum, maxLength, minLength, enum: words, anyOf, format } = schema;
  // What says nothing refuses nothing, and files are no JSON.
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
