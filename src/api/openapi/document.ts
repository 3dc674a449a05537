import { type RefusalName, refusals } from '../../base/refusal.ts';
import { type Endpoint, fullPath } from '../endpoint.ts';
import { operations } from './operations.ts';
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
  for (const row of rows)
    (paths[pathOf(row)] ??= {})[row.method.toLowerCase()] = operationObject(operationOf(row));
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
      responses: errorAnswers,
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

/** Statuses that every endpoint may send. */
const usualStatuses = [400, 401, 403, 404, 408, 413, 429, 500, 503];

function operationObject(operation: schema.Operation): object {
  const {
    id,
    tag,
    summary,
    description,
    path = {},
    query = {},
    body,
    answer,
    once,
    also = [],
  } = operation;
  const { note, example } = examples[id] ?? {};
  const text = [description, note].filter((part) => part !== undefined).join(' ');
  const statuses = [...usualStatuses, ...(body ? [415] : []), ...(once ? [409] : []), ...also].sort(
    (a, b) => a - b,
  );
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
        statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
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

const documentedRefusals: readonly RefusalName[] = Object.keys(refusals).filter(
  (name): name is RefusalName => name in refusals,
);
const table: readonly {
  readonly name: RefusalName;
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}[] = documentedRefusals.map((name) => ({ name, ...refusals[name] }));

/** Refusals that pass by themselves: the response says when. */
const waits: ReadonlySet<RefusalName> = new Set([
  'rate_limit_requests',
  'rate_limit_tokens',
  'rate_limit_concurrency',
  'unavailable',
]);

/** Each status of a refusal: `404` → what it may mean, from the table of refusals. */
const errorAnswers: Readonly<Record<string, object>> = Object.fromEntries(
  [...new Set(table.map(({ status }) => status))]
    .sort((a, b) => a - b)
    .map((status) => [`Error${status}`, answerOf(status)]),
);

function answerOf(status: number): object {
  const rows = table.filter((row) => row.status === status);
  const meanings = rows.map(
    ({ name, code, message }) =>
      `- \`${name}\`${code === null ? '' : ` (code \`${code}\`)`}: ${message}`,
  );
  const examples = rows.map(
    ({ name, type, code, message }) =>
      [name, { value: { error: { message, type, param: null, code } } }] as const,
  );
  return {
    description: meanings.join('\n'),
    headers: {
      'x-request-id': { $ref: '#/components/headers/x-request-id' },
      ...(rows.some(({ name }) => waits.has(name)) && {
        'retry-after': { $ref: '#/components/headers/retry-after' },
      }),
    },
    content: {
      'application/json': {
        schema: schema.anyOf(
          'The error in the format of the endpoint.',
          schema.ref('Error'),
          schema.ref('MessagesError'),
          schema.ref('GenerateError'),
        ),
        examples: Object.fromEntries(examples),
      },
    },
  };
}
