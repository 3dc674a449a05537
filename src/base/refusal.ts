const badRequest = {
  status: 400,
  type: 'invalid_request_error',
  code: 'invalid_request_error',
} as const;

/** Nothing has the name that the request gives. */
const notFound = { status: 404, type: 'invalid_request_error' } as const;

/**
 * Every refusal that Tollgate sends, in one table: name → status, type, code and message. `{x}` is
 * filled from the values given to `refuse`. The codes are part of the API's contract (400s carry
 * `invalid_request_error` unless clients branch on a narrower one). Each name is a heading in
 * docs/reference/errors.md.
 */
export const refusals = {
  missing_parameter: { ...badRequest, message: "Missing required parameter: '{param}'." },
  missing_model: {
    ...badRequest,
    message:
      "Missing required parameter: 'model'. This gateway has no default model for {what}. Choose an id from GET /v1/models.",
  },
  invalid_type: {
    ...badRequest,
    message: "Invalid type for '{param}': expected {expected}, but got {got} instead.",
  },
  invalid_value: { ...badRequest, message: "Invalid value for '{param}': {why}" },
  out_of_range: {
    ...badRequest,
    message: "Invalid '{param}': expected a value {expected}, but got {got} instead.",
  },
  unsupported_content: {
    ...badRequest,
    message:
      "The model '{model}' does not accept {content} input ('{param}'). It accepts: {accepted}.",
  },
  unsupported_parameter: {
    ...badRequest,
    code: 'unsupported_parameter',
    message: "The model '{model}' does not support '{param}': {why}",
  },
  wrong_endpoint: {
    ...badRequest,
    message: "The model '{model}' is of the kind '{kind}'. Call it at {endpoint}.",
  },
  not_sold: {
    ...badRequest,
    message: "'{param}': {what} is not sold for the model '{model}'. {sold}",
  },
  kept_at_the_vendor: {
    ...badRequest,
    message:
      "'{param}' refers to an object that is stored at the model's vendor, and we cannot tell which user owns it. Send its content instead.",
  },
  malformed_json: {
    ...badRequest,
    message: 'We could not parse the JSON body of your request: {why}',
  },
  wrong_content_type: {
    ...badRequest,
    message: "Unsupported content type '{got}'. Send the body as {expected}.",
  },
  malformed_encoding: {
    ...badRequest,
    message: 'We could not decompress the body of your request as {coding}: {why}',
  },
  unsupported_encoding: {
    status: 415,
    type: 'invalid_request_error',
    code: 'unsupported_encoding',
    message:
      "Unsupported content encoding '{got}'. Send the body uncompressed, or compressed as one of {accepted}.",
  },
  malformed_form: {
    ...badRequest,
    message: 'We could not read the multipart body of your request: {why}',
  },
  malformed_request: {
    ...badRequest,
    message: 'We could not read your request: it is not valid HTTP.',
  },
  host_header: { ...badRequest, message: 'Your request has {count} Host headers. Send one.' },
  expectation_failed: {
    status: 417,
    type: 'invalid_request_error',
    code: 'expectation_failed',
    message:
      "We cannot meet the expectation '{expect}'. Remove the Expect header, or send 100-continue.",
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    code: 'request_timeout',
    message: 'Your request took too long to arrive.',
  },
  head_too_large: {
    status: 431,
    type: 'invalid_request_error',
    code: 'request_too_large',
    message: 'The headers of your request are too large. Send fewer or shorter headers.',
  },
  vendor_bad_request: { ...badRequest, message: '{message}' },
  context_length_exceeded: { ...badRequest, code: 'context_length_exceeded', message: '{message}' },
  content_policy_violation: {
    ...badRequest,
    code: 'content_policy_violation',
    message: '{message}',
  },
  missing_api_key: {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message:
      "You didn't provide an API key. Send it in the Authorization header: 'Authorization: Bearer YOUR_KEY'.",
  },
  invalid_api_key: {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message: 'Incorrect API key provided: {key}. Create keys in the console.',
  },
  model_not_found: {
    ...notFound,
    code: 'model_not_found',
    message:
      "The model '{model}' does not exist or you do not have access to it. GET /v1/models lists the models of your key.",
  },
  address_not_allowed: {
    status: 403,
    type: 'invalid_request_error',
    code: 'address_not_allowed',
    message: 'This key may not be used from your address {address}.',
  },
  previous_response_not_found: {
    ...badRequest,
    code: 'previous_response_not_found',
    message: "Previous response with id '{id}' not found.",
  },
  response_not_found: {
    ...notFound,
    code: 'response_not_found',
    message: "Response with id '{id}' not found.",
  },
  file_not_found: {
    ...notFound,
    code: 'file_not_found',
    message: 'File not found: its URL is incomplete or has expired.',
  },
  range_not_satisfiable: {
    status: 416,
    type: 'invalid_request_error',
    code: 'range_not_satisfiable',
    message: 'The file has {length} bytes, and the requested range is outside it.',
  },
  too_many_files: {
    status: 429,
    type: 'invalid_request_error',
    code: 'too_many_files',
    message:
      'Your generated files have reached the storage limit. Wait until older files expire, or request b64_json instead of url.',
  },
  file_storage_full: {
    status: 429,
    type: 'invalid_request_error',
    code: 'file_storage_full',
    message:
      'Your files have reached the storage limit. Delete files, or wait until older ones expire.',
  },
  too_many_uploads: {
    status: 429,
    type: 'invalid_request_error',
    code: 'too_many_uploads',
    message: 'You have {limit} uploads that have not ended. Finish or cancel one, then try again.',
  },
  upload_not_found: {
    ...notFound,
    code: 'upload_not_found',
    message:
      "Upload '{id}' not found: it has ended, or got no bytes for too long. Begin a new one.",
  },
  uploaded_file_not_found: {
    status: 403,
    type: 'invalid_request_error',
    code: 'file_not_found',
    message: 'You do not have permission to access the File {id} or it may not exist.',
  },
  generation_not_found: {
    ...notFound,
    code: 'generation_not_found',
    message:
      "The account has no charged request '{id}'. Give the x-request-id, or the id of an answer or a video.",
  },
  task_not_found: {
    ...notFound,
    code: 'task_not_found',
    message: "Task '{id}' not found. Tasks can be retrieved for 24 hours after their creation.",
  },
  unknown_url: {
    ...notFound,
    code: 'unknown_url',
    message: 'Invalid URL ({method} {path}){instead}',
  },
  method_not_supported: {
    status: 405,
    type: 'invalid_request_error',
    code: 'method_not_supported',
    message: 'The method {method} is not supported for {path}. Use {allowed}.',
  },
  upgrade_not_served: {
    status: 426,
    type: 'invalid_request_error',
    code: 'upgrade_not_served',
    message: 'WebSocket connections are not served at {path}. Send your requests over HTTP.',
  },
  idempotency_key_reused: {
    ...badRequest,
    code: 'idempotency_key_reuse',
    message:
      'This Idempotency-Key was used for another request within the last 24 hours. Use a new key for each request.',
  },
  idempotency_in_progress: {
    status: 409,
    type: 'invalid_request_error',
    code: 'idempotency_in_progress',
    message:
      'A request with this Idempotency-Key is still being answered. Please retry later to get its answer.',
  },
  request_too_large: {
    status: 413,
    type: 'invalid_request_error',
    code: 'request_too_large',
    message: 'The request body is larger than the limit of {limit} bytes.',
  },
  rate_limit_requests: {
    status: 429,
    type: 'requests',
    code: 'rate_limit_exceeded',
    message:
      'Rate limit reached for requests: limit {limit} per minute. Please try again in {seconds}s.',
  },
  rate_limit_tokens: {
    status: 429,
    type: 'tokens',
    code: 'rate_limit_exceeded',
    message:
      'Rate limit reached for tokens: limit {limit} per minute, requested {requested}. Please try again in {seconds}s.',
  },
  rate_limit_concurrency: {
    status: 429,
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: 'Too many requests at once: limit {limit}. Wait for one to finish.',
  },
  body_bytes_in_flight: {
    status: 429,
    type: 'requests',
    code: 'body_bytes_in_flight',
    message:
      'The bodies of your running requests exceed {limit} bytes in total. Wait for one to finish.',
  },
  insufficient_quota: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  server_error: {
    status: 500,
    type: 'server_error',
    code: 'server_error',
    message:
      'The server had an error while processing your request. Sorry about that! (request id: {id})',
  },
  generation_failed: {
    status: 500,
    type: 'server_error',
    code: 'server_error',
    message:
      'The model could not complete this request. Change the prompt and try again. (request id: {id})',
  },
  unavailable: {
    status: 503,
    type: 'service_unavailable_error',
    code: null,
    message:
      'The service is temporarily unavailable: {why}. Please retry later. (request id: {id})',
  },
} as const;

/** The client's retry delay when nobody knows how long what it needs will be away. */
export const unavailableRetryMs = 5_000;

export type RefusalName = keyof typeof refusals;

/** An error for the client. Thrown by `refuse`; only api/errors.ts writes it as a response. */
export class Refusal extends Error {
  readonly refusal: RefusalName;
  readonly param: string | null;
  /** Milliseconds after which the client may try again; becomes `retry-after`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    refusal: RefusalName,
    message: string,
    param: string | null,
    retryAfterMs: number | undefined,
  ) {
    super(message);
    this.refusal = refusal;
    this.param = param;
    this.retryAfterMs = retryAfterMs;
  }

  get status(): number {
    return refusals[this.refusal].status;
  }
}

/** The most characters of a client's or a vendor's text that a message repeats. */
const repeatedCharsMax = 1_200;

const repeated = (value: string | number | undefined): string =>
  String(value ?? '').slice(0, repeatedCharsMax);

export type RefusalValues = Readonly<Record<string, string | number>>;

/**
 * Builds the refusal `name`; `values` fill its message, and `values.param` names the parameter at
 * fault.
 */
export function refusal(
  name: RefusalName,
  values: RefusalValues = {},
  retryAfterMs?: number,
): Refusal {
  const message = refusals[name].message.replace(/\{(\w+)\}/g, (_, key: string) =>
    repeated(values[key]),
  );
  return new Refusal(
    name,
    message,
    values['param'] === undefined ? null : repeated(values['param']),
    retryAfterMs,
  );
}

/** The refusal of a request that needs what is away. `why` goes on with its sentence. */
export const unavailable = (
  id: string,
  why: string,
  retryAfterMs: number = unavailableRetryMs,
): Refusal => refusal('unavailable', { why, id }, retryAfterMs);

/** Throws the refusal `name` of the table. */
export function refuse(
  name: RefusalName,
  values: RefusalValues = {},
  retryAfterMs?: number,
): never {
  throw refusal(name, values, retryAfterMs);
}
