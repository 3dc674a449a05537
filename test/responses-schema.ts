import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const specs = fileURLToPath(new URL('../../shared/specs/', import.meta.url));

type Event = { readonly [name: string]: unknown };

/**
 * What a published description of responses finds wrong with an object or an event; nothing where
 * it is not at hand or knows no such event.
 */
export interface ResponsesSchema {
  response(value: unknown): string;
  event(value: Event): string;
}

interface Description {
  readonly components: {
    readonly schemas: Readonly<
      Record<
        string,
        {
          readonly properties?: { readonly type?: { readonly enum?: readonly string[] } };
          readonly oneOf?: object[];
        }
      >
    >;
  };
}

/** The open description, which demands every member. */
export function openSchema(): ResponsesSchema {
  const file = `${specs}openresponses-openapi.json`;
  if (!existsSync(file)) return silent;
  const description: Description = JSON.parse(readFileSync(file, 'utf8'));
  // It has no word for the schema that everybody sends back.
  Reflect.set(
    description.components.schemas['JsonSchemaResponseFormat']?.properties ?? {},
    'schema',
    {},
  );
  // Nor for pictures: OpenAI's own description has them as items (ImageGenToolCall).
  description.components.schemas['ItemField']?.oneOf?.push({
    type: 'object',
    required: ['id', 'type', 'status', 'result'],
    properties: {
      id: { type: 'string' },
      type: { const: 'image_generation_call' },
      status: { enum: ['in_progress', 'completed', 'generating', 'failed'] },
      result: { type: ['string', 'null'] },
    },
  });
  return schemaOf(description, 'ResponseResource', /StreamingEvent$/);
}

/**
 * OpenAI's own: what it says of the values, not what has to be there and which of several
 * descriptions is the one.
 */
export function openaiSchema(): ResponsesSchema {
  const file = `${specs}openai-openapi.yaml`;
  if (!existsSync(file)) return silent;
  const description: Description = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 });
  return schemaOf(description, 'Response', /^Response.*Event$/, relaxed);
}

const silent: ResponsesSchema = { response: () => '', event: () => '' };

function schemaOf(
  description: Description,
  responseName: string,
  isEvent: RegExp,
  prepare = (whole: Description): Description => whole,
): ResponsesSchema {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(prepare(description), 'responses');
  const compiled = (name: string): ValidateFunction =>
    ajv.compile({ $ref: `responses#/components/schemas/${name}` });
  const names = new Map<unknown, string>();
  for (const [name, { properties }] of Object.entries(description.components.schemas))
    if (isEvent.test(name)) names.set(properties?.type?.enum?.[0], name);
  const events = new Map<unknown, ValidateFunction>();
  const eventOf = (type: unknown): ValidateFunction | undefined => {
    const name = names.get(type);
    if (name !== undefined && !events.has(type)) events.set(type, compiled(name));
    return events.get(type);
  };
  const response = compiled(responseName);
  const wrong = (validate: ValidateFunction | undefined, value: unknown): string =>
    validate === undefined || validate(value) ? '' : ajv.errorsText(validate.errors);
  return {
    response: (value) => wrong(response, value),
    event: (value) => wrong(eventOf(value['type']), value),
  };
}

/** Several alternatives may fit, and null is what is not there. */
function relaxed(value: Description): Description {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    if (key === 'properties')
      return Object.fromEntries(
        Object.entries(inner).map(([name, schema]) => [name, orNull(schema)]),
      );
    const { required: _, oneOf, ...rest } = { oneOf: undefined, required: undefined, ...inner };
    return oneOf === undefined || 'anyOf' in rest ? rest : { ...rest, anyOf: oneOf };
  });
}

const orNull = (schema: unknown): unknown =>
  typeof schema === 'object' ? { anyOf: [schema, { type: 'null' }] } : schema;
