import type { Fault } from '../../../base/fault.ts';
import { type Documented, listOf, objectOf, objectsOf, parse, textOf } from '../../../base/json.ts';
import { durationMs, faultOf, type FaultHeaders, type FaultRule } from '../fault.ts';
import type { ErrorDetail, GenerateContentResponse, GoogleStatus } from './types.ts';

/**
 * Google's status names and reasons (cloud.google.com/apis/design/errors,
 * ai.google.dev/gemini-api/docs/troubleshooting, 2026-08). The first row that matches decides.
 */
const rules: readonly FaultRule[] = [
  // If a file or cached content of the client does not exist, Google reports a lack of permission.
  { text: /\b(File|CachedContent)\b.{0,80}(not exist|not found)/i, kind: 'bad_request' },
  // Google reports a wrong key as INVALID_ARGUMENT with status 400: the operator's fault, not the
  // client's.
  {
    code: /^(API_KEY_\w+|ACCESS_TOKEN_\w+|CREDENTIALS_MISSING|UNAUTHENTICATED|SERVICE_DISABLED|CONSUMER_INVALID|USER_PROJECT_DENIED)$/,
    kind: 'credentials',
  },
  {
    openings: ['API key not valid', 'API key not found', 'API key expired'],
    kind: 'credentials',
  },
  { code: /^(PERMISSION_DENIED|BILLING_DISABLED)$/, text: /billing|free tier/i, kind: 'quota' },
  {
    code: /^FAILED_PRECONDITION$/,
    openings: ['Gemini API free tier is not available'],
    kind: 'quota',
  },
  {
    code: /^FAILED_PRECONDITION$/,
    openings: ['User location is not supported'],
    kind: 'credentials',
  },
  { code: /^PERMISSION_DENIED$/, kind: 'credentials' },
  // Limits per minute have the text "You exceeded your current quota … plan and billing details",
  // too: only credit that is used up closes the account.
  {
    code: /^RESOURCE_EXHAUSTED$/,
    text: /prepa(y|id)|credits? .{0,20}depleted|spend(ing)? (cap|limit)/i,
    kind: 'quota',
  },
  { code: /^RESOURCE_EXHAUSTED$/, kind: 'rate_limited' },
  { code: /^UNAVAILABLE$/, kind: 'overloaded' },
  { code: /^DEADLINE_EXCEEDED$/, kind: 'timeout' },
  { code: /^(INTERNAL|UNKNOWN|ABORTED|CANCELLED|DATA_LOSS)$/, kind: 'server_error' },
];

/** The reply's `error`, which some proxies and the stream without `alt=sse` wrap in a list. */
function errorIn(body: unknown): Documented<GoogleStatus> | undefined {
  const reply: Documented<GenerateContentResponse> | undefined =
    objectOf(body) ?? objectOf(listOf(body)[0]);
  return objectOf(reply?.error);
}

const detailOf = (
  error: Documented<GoogleStatus>,
  type: string,
): Documented<ErrorDetail> | undefined =>
  objectsOf(error.details).find((detail) => textOf(detail['@type'])?.endsWith(type));

/** The delay of `RetryInfo` (`48s`, `0.5s`), or else of the text "Please retry in 48.9s." */
function delayOf(error: Documented<GoogleStatus>): number | undefined {
  const delay = textOf(detailOf(error, 'RetryInfo')?.retryDelay);
  const spoken = /retry in ([\d.]+m?s)/i.exec(textOf(error.message) ?? '')?.[1];
  return durationMs(delay ?? spoken ?? '');
}

/** The fault for Google's refusal, by its own status name. `reply` is the body as text. */
export function geminiFault(status: number, headers: FaultHeaders, reply: string): Fault {
  const error = errorIn(parse(reply));
  if (error === undefined) return faultOf(status, headers, reply);
  const reason = textOf(detailOf(error, 'ErrorInfo')?.reason);
  const field = textOf(objectOf(listOf(detailOf(error, 'BadRequest')?.fieldViolations)[0])?.field);
  // The names of projects belong to the operator: clients must not see them.
  const message = (textOf(error.message) ?? '').replace(/\bprojects\/[\w:.-]+/g, 'projects/***');
  const told = {
    message,
    code: textOf(error.status),
    type: reason,
    ...(field ? { param: field } : {}),
  };
  const fault = faultOf(status, headers, JSON.stringify({ error: told }), rules);
  const retryAfterMs = delayOf(error);
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs };
}

/**
 * The fault in a reply with a good status: an event of a stream, or a list. Undefined when `body`
 * holds none.
 */
export function geminiFaultWithin(body: unknown): Fault | undefined {
  const error = errorIn(body);
  return error === undefined
    ? undefined
    : geminiFault(Number(error.code) || 500, {}, JSON.stringify({ error }));
}
