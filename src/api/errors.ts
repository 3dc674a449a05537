import type { Clock } from '../base/clock.ts';
import { jsonText, latin1Of } from '../base/json.ts';
import { requestId } from '../base/random.ts';
import { type Refusal, refusals, refusal, type RefusalName } from '../base/refusal.ts';
import type { LimitReached } from '../gateway/admit.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type { UnreadableAnswer } from '../http/server.ts';

/**
 * How one convention writes a refusal: as the body of a response, and as an event in a stream that
 * has begun.
 */
export interface Envelope {
  /** JSON text. */
  body(refusal: Refusal, requestId: string): string;
  /** The stream ends after it, without its end mark. Latin1: one character a byte. */
  event(refusal: Refusal, requestId: string): string;
  /** Statuses that differ from those of the table of refusals. */
  readonly statuses?: Readonly<Partial<Record<RefusalName, number>>>;
}

/**
 * The error body of chat, and of endpoints without a convention of their own: always these four
 * members.
 */
const chatBody: Envelope['body'] = (refusal) => {
  const { type, code } = refusals[refusal.refusal];
  return JSON.stringify({ error: { message: refusal.message, type, param: refusal.param, code } });
};
export const chatEnvelope: Envelope = {
  body: chatBody,
  event: (refusal, requestId) => latin1Of(`data: ${chatBody(refusal, requestId)}\n\n`),
};

/** Types by status (platform.claude.com/docs/en/api/errors, 2026-11). */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
};

/**
 * The error body of `/v1/messages`: the message names the parameter, and the body has the request's
 * id.
 */
const messagesBody: Envelope['body'] = (refusal, requestId) => {
  const type =
    refusal.refusal === 'insufficient_quota'
      ? 'billing_error'
      : (messagesTypes[refusal.status] ?? 'invalid_request_error');
  return JSON.stringify({
    type: 'error',
    error: { type, message: refusal.message },
    request_id: requestId,
  });
};
export const messagesEnvelope: Envelope = {
  body: messagesBody,
  event: (refusal, requestId) =>
    latin1Of(`event: error\ndata: ${messagesBody(refusal, requestId)}\n\n`),
};

/**
 * An error event of `/v1/responses`: flat as OpenAI documents it, and nested as its servers write
 * it (recorded 2026-08). Each event of that stream is numbered.
 */
export function responsesErrorEvent(
  refusal: Refusal,
  _requestId: string,
  nextEvent: number,
): string {
  const { type, code } = refusals[refusal.refusal];
  const { message, param } = refusal;
  const event = {
    type: 'error',
    sequence_number: nextEvent,
    code,
    message,
    param,
    error: { type, code, message, param },
  };
  return `event: error\ndata: ${jsonText(event)}\n\n`;
}

/** Google's names of statuses (cloud.google.com/apis/design/errors, 2026-11). */
const statusNames: Readonly<Record<number, string>> = {
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  416: 'OUT_OF_RANGE',
  426: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** A missing key is 403 there, and a wrong one 400 (recorded 2026-08). */
const generateStatuses: NonNullable<Envelope['statuses']> = {
  missing_api_key: 403,
  invalid_api_key: 400,
};

/** The reasons that clients of `generateContent` go by; all other refusals have none. */
const reasons: Readonly<Partial<Record<RefusalName, string>>> = {
  invalid_api_key: 'API_KEY_INVALID',
  insufficient_quota: 'QUOTA_EXHAUSTED',
};

const detailType = (name: string): string => `type.googleapis.com/google.rpc.${name}`;

/**
 * What programs read beside the message: the reason, the parameter, and how long to wait. An empty
 * balance has no delay, so that clients stop at once.
 */
function generateDetails({ refusal, message, param, retryAfterMs }: Refusal): readonly object[] {
  const reason = reasons[refusal];
  const { type } = refusals[refusal];
  return [
    ...(reason === undefined
      ? []
      : [{ '@type': detailType('ErrorInfo'), reason, domain: 'googleapis.com' }]),
    ...(param === null || type !== 'invalid_request_error'
      ? []
      : [
          {
            '@type': detailType('BadRequest'),
            fieldViolations: [{ field: param, description: message }],
          },
        ]),
    ...(retryAfterMs === undefined || refusal === 'insufficient_quota'
      ? []
      : [{ '@type': detailType('RetryInfo'), retryDelay: `${Math.ceil(retryAfterMs / 1_000)}s` }]),
  ];
}

/** The error of `generateContent`: `code` is the status as a number, `status` its name. */
const generateBody: Envelope['body'] = (why) => {
  const code = statusIn(generateEnvelope, why);
  const details = generateDetails(why);
  return JSON.stringify({
    error: {
      code,
      message:
        why.refusal === 'missing_api_key'
          ? "Method doesn't allow unregistered callers (callers without established identity). Send your API key in the header x-goog-api-key."
          : why.message,
      status: statusNames[code] ?? 'INVALID_ARGUMENT',
      ...(details.length > 0 ? { details } : {}),
    },
  });
};
export const generateEnvelope: Envelope = {
  body: generateBody,
  event: (refusal, requestId) => latin1Of(`data: ${generateBody(refusal, requestId)}\n\n`),
  statuses: generateStatuses,
};

/** The status of a refusal in one convention. */
export const statusIn = ({ statuses }: Envelope, why: Refusal): number =>
  statuses?.[why.refusal] ?? why.status;

/** Sends the refusal as the whole answer. */
export function sendRefusal(
  response: ClientResponse,
  refusal: Refusal,
  envelope: Envelope,
  requestId: string,
): void {
  const status = statusIn(envelope, refusal);
  if (status === 401) response.header('www-authenticate', 'Bearer realm="API"');
  if (refusal.retryAfterMs !== undefined) {
    response.header('retry-after', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1_000))));
    response.header('retry-after-ms', String(Math.ceil(refusal.retryAfterMs)));
  }
  // SDKs retry every 429, but a retry does not refill an empty balance.
  if (refusal.refusal === 'insufficient_quota') response.header('x-should-retry', 'false');
  response.whole(status, 'application/json', envelope.body(refusal, requestId));
}

export function limitRefusal({ exceeded, requested }: LimitReached): Refusal {
  const seconds = Math.max(1, Math.ceil(exceeded.retryAfterMs / 1_000));
  const name = {
    requests: 'rate_limit_requests',
    tokens: 'rate_limit_tokens',
    concurrency: 'rate_limit_concurrency',
  } as const;
  return refusal(
    name[exceeded.limitOf],
    { limit: exceeded.limit, requested, seconds },
    exceeded.retryAfterMs,
  );
}

/** Enough of a wrong key to recognise it, too little to use it. */
export function maskSecret(secret: string): string {
  return secret.length < 12 ? '****' : `${secret.slice(0, 5)}****${secret.slice(-4)}`;
}

const unreadableRefusals: Readonly<Record<Parameters<UnreadableAnswer>[0], RefusalName>> = {
  malformed: 'malformed_request',
  host: 'host_header',
  expectation: 'expectation_failed',
  late: 'request_timeout',
  'head too large': 'head_too_large',
  'bad url': 'unknown_url',
};

/** The end of the message of `unknown_url` when another path has the endpoint. */
export const endpointHint = (path: string): string =>
  `. Use ${path}: check the base URL of your client.`;

/** Answers bytes that are no readable request: in chat's error shape, with a new request id. */
export const answerUnreadable =
  (clock: Clock): UnreadableAnswer =>
  (problem, values = {}) => {
    const why = refusal(unreadableRefusals[problem], values);
    const id = requestId(clock.now());
    return { status: why.status, body: chatEnvelope.body(why, id), id };
  };
