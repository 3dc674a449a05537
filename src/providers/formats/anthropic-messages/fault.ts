import type { Fault } from '../../../base/fault.ts';
import { faultOf, faultWithin, type FaultHeaders } from '../fault.ts';
import type { FaultRule } from '../openai-chat/quirks.ts';
import type { JsonObject } from '../../../base/json-value.ts';

/**
 * platform.claude.com/docs/en/api/errors, 2026-11, and recorded refusals. What these rows leave
 * open follows from words and codes that vendors share.
 */
const faults: readonly FaultRule[] = [
  { text: /credit balance is too low|specified API usage limits|spend limit/i, kind: 'quota' },
  {
    text: /organization has been disabled|workspace .{0,20}(archived|disabled)/i,
    kind: 'credentials',
  },
  {
    text: /prompt is too long|exceeds? the maximum .{0,20}tokens|exceed context limit/i,
    kind: 'context_length',
  },
  {
    text: /content filtering policy|usage policy|violat\w+ .{0,40}policy/i,
    kind: 'content_policy',
  },
  { code: /^request_too_large$/, kind: 'bad_request' },
  { code: /^not_found_error$/, kind: 'unknown_model' },
  { code: /^timeout_error$/, kind: 'timeout' },
  { code: /^api_error$/, kind: 'server_error' },
];
const quirks = { faults };

/**
 * A refusal by status. A rate limit without `retry-after` says when it is whole again:
 * `anthropic-ratelimit-*`.
 */
export function messagesFault(status: number, headers: FaultHeaders, reply: string): Fault {
  const fault = faultOf(status, headers, reply, quirks);
  if (fault.kind !== 'rate_limited' || fault.retryAfterMs !== undefined) return fault;
  const retryAfterMs = resetAfter(headers);
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs };
}

/** An error inside a stream, or one with a good status. Undefined when `body` is none. */
export const messagesFaultWithin = (body: JsonObject): Fault | undefined =>
  faultWithin(body, quirks);

const limits = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;

/**
 * Resets are times of the clock (RFC 3339), measured against the vendor's own `date` because an
 * adapter has no clock. Milliseconds until the last limit that is used up.
 */
function resetAfter(headers: FaultHeaders): number | undefined {
  const now = Date.parse(String(headers['date']));
  let longest: number | undefined;
  for (const limit of limits) {
    if (headers[`anthropic-ratelimit-${limit}-remaining`] !== '0') continue;
    const ms = Date.parse(String(headers[`anthropic-ratelimit-${limit}-reset`])) - now;
    if (ms > 0) longest = Math.max(longest ?? 0, ms);
  }
  return longest;
}
