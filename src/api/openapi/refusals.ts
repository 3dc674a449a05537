import {
  type Refusal,
  refusal,
  type RefusalName,
  refusals,
  type RefusalValues,
  unavailableRetryMs,
} from '../../base/refusal.ts';
import {
  chatEnvelope,
  type Envelope,
  generateEnvelope,
  messagesEnvelope,
  statusIn,
} from '../errors.ts';
import * as schema from '../schema.ts';

/** What every endpoint can answer. */
const ofEvery: readonly schema.EndpointRefusal[] = [
  'malformed_request',
  'host_header',
  'missing_api_key',
  'invalid_api_key',
  'address_not_allowed',
  'request_timeout',
  'server_error',
  'unavailable',
];
const ofBodies: readonly schema.EndpointRefusal[] = [
  'missing_parameter',
  'invalid_type',
  'invalid_value',
  'out_of_range',
  'wrong_content_type',
  'malformed_encoding',
  'unsupported_encoding',
  'request_too_large',
  'body_bytes_in_flight',
];
const ofForm: Readonly<Record<string, schema.EndpointRefusal>> = {
  'application/json': 'malformed_json',
  'multipart/form-data': 'malformed_form',
};
const ofCount: readonly schema.EndpointRefusal[] = [
  'model_not_found',
  'wrong_endpoint',
  'rate_limit_requests',
  'rate_limit_concurrency',
];
const ofModel: readonly schema.EndpointRefusal[] = [
  ...ofCount,
  'rate_limit_tokens',
  'insufficient_quota',
  'unsupported_parameter',
  'unsupported_content',
  'not_sold',
  'context_length_exceeded',
  'content_policy_violation',
  'vendor_bad_request',
  'generation_failed',
];
const ofCalls = {
  count: [...ofCount, 'unsupported_content', 'kept_at_the_vendor'],
  model: ofModel,
  chat: [...ofModel, 'kept_at_the_vendor'],
} as const satisfies Readonly<Record<string, readonly schema.EndpointRefusal[]>>;

/** The refusals that an endpoint can answer, in the order of `values`. */
export function refusalsOf(operation: schema.Operation): readonly schema.EndpointRefusal[] {
  const { body, query, calls, also = [] } = operation;
  const known = new Set<string>([
    ...ofEvery,
    ...(query === undefined ? [] : (['invalid_value', 'out_of_range'] as const)),
    ...(body === undefined ? [] : ofBodies),
    ...Object.keys(body ?? {}).flatMap((type) => ofForm[type] ?? []),
    ...(calls === undefined ? [] : ofCalls[calls]),
    ...(schema.isCharged(operation)
      ? (['idempotency_key_reused', 'idempotency_in_progress'] as const)
      : []),
    ...also,
  ]);
  return Object.keys(values).filter(
    (name): name is schema.EndpointRefusal => name in values && known.has(name),
  );
}

/** Values for the messages of the examples. */
const values: Readonly<Record<schema.EndpointRefusal, RefusalValues>> = {
  missing_parameter: { param: 'model' },
  missing_model: { param: 'model', what: 'images' },
  invalid_type: { param: 'model', expected: 'a string', got: 'a number' },
  invalid_value: { param: 'stream', why: 'expected true or false.' },
  out_of_range: { param: 'limit', expected: '>= 1', got: 0 },
  unsupported_content: {
    param: 'messages[0].content',
    model: 'text-model',
    content: 'image',
    accepted: 'text',
  },
  unsupported_parameter: {
    param: 'temperature',
    model: 'gpt-5-mini',
    why: 'it accepts only the default. Remove it.',
  },
  wrong_endpoint: {
    param: 'model',
    model: 'text-embedding-3-small',
    kind: 'embedding',
    endpoint: '/v1/embeddings',
  },
  not_sold: {
    param: 'tools[0]',
    model: 'gpt-4o',
    what: 'this tool',
    sold: 'It has tools that you run yourself.',
  },
  kept_at_the_vendor: { param: 'messages[0].content[0].file_id' },
  malformed_json: { why: 'Unexpected end of JSON input' },
  wrong_content_type: { got: 'text/plain', expected: 'application/json' },
  malformed_encoding: { coding: 'gzip', why: 'incorrect header check' },
  unsupported_encoding: { got: 'compress', accepted: 'gzip, deflate, br' },
  malformed_form: { why: 'it has no boundary' },
  malformed_request: {},
  host_header: { count: 2 },
  request_timeout: {},
  vendor_bad_request: { message: 'Invalid schema for function: expected an object.' },
  context_length_exceeded: {
    message: "This model's maximum context length is 128000 tokens. Your messages have 130112.",
  },
  content_policy_violation: { message: 'The safety system has rejected this request.' },
  missing_api_key: {},
  invalid_api_key: { key: 'sk-tg****3fQa' },
  model_not_found: { param: 'model', model: 'gpt-0' },
  address_not_allowed: { address: '203.0.113.7' },
  previous_response_not_found: { param: 'previous_response_id', id: 'resp_1' },
  response_not_found: { id: 'resp_1' },
  file_not_found: {},
  range_not_satisfiable: { length: 1_048_576 },
  too_many_files: {},
  file_storage_full: {},
  too_many_uploads: { limit: 16 },
  upload_not_found: { id: 'upload_1' },
  uploaded_file_not_found: { id: 'file_1' },
  generation_not_found: { param: 'id', id: 'req_1' },
  task_not_found: { id: 'task_1' },
  unknown_url: { method: 'POST', path: '/upload/v1beta/files', instead: '' },
  idempotency_key_reused: {},
  idempotency_in_progress: {},
  request_too_large: { limit: 33_554_432 },
  rate_limit_requests: { limit: 60, seconds: 3 },
  rate_limit_tokens: { limit: 100_000, requested: 4_200, seconds: 3 },
  rate_limit_concurrency: { limit: 4 },
  body_bytes_in_flight: { limit: 134_217_728 },
  insufficient_quota: {},
  server_error: { id: 'req_1' },
  generation_failed: { id: 'req_1' },
  unavailable: { id: 'req_1', why: 'the model is busy' },
};

/** Refusals that pass by themselves: the response says when. */
const waits: ReadonlySet<RefusalName> = new Set([
  'rate_limit_requests',
  'rate_limit_tokens',
  'rate_limit_concurrency',
  'body_bytes_in_flight',
  'idempotency_in_progress',
  'unavailable',
]);

const conventions = {
  chat: [chatEnvelope, 'Error'],
  messages: [messagesEnvelope, 'MessagesError'],
  generate: [generateEnvelope, 'GenerateError'],
} as const satisfies Readonly<Record<string, readonly [Envelope, string]>>;

/** An error response of an endpoint. */
interface ErrorAnswer {
  readonly status: number;
  readonly response: object;
}

/** The error responses of an endpoint by status: what each can mean, with examples. */
export function errorAnswersOf(operation: schema.Operation): readonly ErrorAnswer[] {
  const [envelope, name] = conventions[operation.convention ?? 'chat'];
  const examples = refusalsOf(operation).map(exampleOf);
  const statuses = new Set(examples.map((why) => statusIn(envelope, why)));
  return [...statuses]
    .sort((a, b) => a - b)
    .map((status) => ({
      status,
      response: answerOf(
        examples.filter((why) => statusIn(envelope, why) === status),
        envelope,
        name,
      ),
    }));
}

const exampleOf = (name: schema.EndpointRefusal): Refusal =>
  refusal(name, values[name], waits.has(name) ? unavailableRetryMs : undefined);

function answerOf(whys: readonly Refusal[], envelope: Envelope, schemaName: string): object {
  const meanings = whys.map(({ refusal: name, message }) => {
    const { code } = refusals[name];
    return `- \`${name}\`${code === null ? '' : ` (code \`${code}\`)`}: ${message}`;
  });
  return {
    description: meanings.join('\n'),
    headers: {
      'x-request-id': { $ref: '#/components/headers/x-request-id' },
      ...(whys.some(({ refusal: name }) => waits.has(name)) && {
        'retry-after': { $ref: '#/components/headers/retry-after' },
      }),
    },
    content: {
      'application/json': {
        schema: schema.ref(schemaName),
        examples: Object.fromEntries(
          whys.map((why) => [why.refusal, { value: JSON.parse(envelope.body(why, 'req_1')) }]),
        ),
      },
    },
  };
}
