import { type Endpoint, fullPath } from '../endpoint.ts';
import { operations } from './operations.ts';
import { errorAnswersOf } from './refusals.ts';
import * as schema from '../schema.ts';
import written from './examples.json' with { type: 'json' };

export type RouteId = Pick<Endpoint, 'method' | 'path'>;

/**
 * The entry of an endpoint in examples.json: a request that works against the simulated vendors,
 * and that the SDKs support.
 */
export interface ExampleBody {
  readonly note?: string;
  readonly example: Readonly<Record<string, unknown>>;
}
export const examples: Readonly<Record<string, ExampleBody | undefined>> = written;

export interface ApiInfo {
  readonly version: string;
  /** The gateway's public address; undefined: the address that the document came from. */
  readonly publicUrl: string | undefined;
}

/** `POST /chat/completions`: the name of a route in the table of operations. */
export const routeName = ({ method, path }: RouteId): string => `${method} ${path}`;

/** The documentation of a route. A route without one is a bug, which a test finds first. */
export function operationOf(row: RouteId): schema.Operation {
  const operation = operations[routeName(row)];
  if (operation === undefined) throw new Error(`${routeName(row)} has no documentation`);
  return operation;
}

/** `/videos/:id/content` → `/v1/videos/{video_id}/content`. */
export function pathOf(row: RouteId): string {
  const places = Object.keys(operationOf(row).path ?? {});
  let next = 0;
  return fullPath(row).replace(/(?<=\/)(?::\w+|\*)/g, () => `{${places[next++]}}`);
}

/** The OpenAPI 3.1 description of these routes, as one JSON value. */
export function openApi(rows: readonly RouteId[], { version, publicUrl }: ApiInfo) {
  const paths: Record<string, Record<string, object>> = {};
  const errors = new ErrorResponses();
  for (const row of rows)
    (paths[pathOf(row)] ??= {})[row.method.toLowerCase()] = operationObject(
      operationOf(row),
      errors,
    );
  const tags = [...new Set(rows.map((row) => operationOf(row).tag))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl ?? '/' }],
    security: [{ key: [] }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key from the console. `/v1/messages` and `/v1/models` also accept it in `x-api-key`, the endpoints in Google’s format in `x-goog-api-key`.',
        },
      },
      headers,
      schemas: {
        ...errorSchemas,
        ...Object.assign({}, ...rows.map((row) => operationOf(row).schemas ?? {})),
      },
      responses: errors.named,
    },
  };
}

const introduction =
  'One base URL, one API key and one prepaid balance; `model` decides which vendor answers. The vendors’ own SDKs work after you change their base URL and key. ' +
  'Bodies may be compressed (`Content-Encoding: gzip`, `deflate`, `br`). The gateway checks the members that are described here before anything is charged. It forwards other members to the model’s vendor unchecked.';

const headers = {
  'x-request-id': {
    description: 'ID of the request, in the console and in the operator’s log.',
    schema: { type: 'string' },
  },
  'retry-after': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'idempotent-replayed': {
    description:
      '`true` if this is the answer to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string' },
  },
};

const onceParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'If you send a request again with the same key within 24 hours, the gateway does not repeat it and returns the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** The error responses of all endpoints. Those that several endpoints share are written once. */
class ErrorResponses {
  readonly named: Record<string, object> = {};
  readonly #names = new Map<string, string>();

  /** The name of this response, which is that of the first endpoint that has it. */
  nameOf(id: string, status: number, response: object): string {
    const text = JSON.stringify(response);
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `${id}Error${status}`;
    this.#names.set(text, name);
    this.named[name] = response;
    return name;
  }
}

function operationObject(operation: schema.Operation, errors: ErrorResponses): object {
  const { id, tag, summary, description, path = {}, query = {}, body, answer } = operation;
  const once = schema.isCharged(operation);
  const { note, example } = examples[id] ?? {};
  const text = [description, note].filter((part) => part !== undefined).join(' ');
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(text !== '' && { description: text }),
    parameters: [
      ...Object.entries(path).map(([name, description]) => ({
        name,
        in: 'path',
        required: true,
        schema: schema.string(description),
      })),
      ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
      ...(once ? [onceParameter] : []),
    ],
    ...(body && { requestBody: { required: true, content: contentOf(body, example) } }),
    responses: {
      200: {
        description: 'The answer.',
        headers: {
          'x-request-id': { $ref: '#/components/headers/x-request-id' },
          ...(once && {
            'idempotent-replayed': { $ref: '#/components/headers/idempotent-replayed' },
          }),
        },
        content: contentOf(answer, undefined),
      },
      ...Object.fromEntries(
        errorAnswersOf(operation).map(({ status, response }) => [
          status,
          { $ref: `#/components/responses/${errors.nameOf(id, status, response)}` },
        ]),
      ),
    },
  };
}

/** The example stands beside JSON where that is taken, else beside the form. */
function contentOf(schemas: Readonly<Record<string, object>>, example: object | undefined): object {
  const first = 'application/json' in schemas ? 'application/json' : 'multipart/form-data';
  return Object.fromEntries(
    Object.entries(schemas).map(([type, schema]) => [
      type,
      { schema, ...(example && type === first && { example }) },
    ]),
  );
}

const errorSchemas: Readonly<Record<string, schema.Schema>> = {
  Error: schema.answer({
    error: schema.answer(
      {
        message: schema.string('What is wrong, in words.'),
        type: schema.string('The group of errors that it belongs to.'),
      },
      {
        param: schema.string('The parameter that is wrong.'),
        code: schema.string('The code of the error, for programs.'),
      },
    ),
  }),
  GenerateError: schema.answer({
    error: schema.answer(
      {
        code: schema.integer('The status.', 400),
        message: schema.string('What is wrong, in words.'),
        status: schema.string('The name of the status, such as `INVALID_ARGUMENT`.'),
      },
      {
        details: schema.array('The reason, the parameter, and how long to wait.', {
          type: 'object',
        }),
      },
    ),
  }),
  MessagesError: schema.answer({
    type: { type: 'string', const: 'error' },
    error: schema.answer({
      type: schema.string('The group of errors that it belongs to.'),
      message: schema.string('What is wrong, in words.'),
    }),
    request_id: schema.string('ID of the request.'),
  }),
};
