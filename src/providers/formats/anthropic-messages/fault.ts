import type { Fault } from '../../../base/fault.ts';
import type { JsonObject } from '../../../base/json.ts';
import { faultOf, faultWithin, type FaultHeaders, type FaultRule } from '../fault.ts';

/**
 * platform.claude.com/docs/en/api/errors, 2026-11, and recorded refusals. Other refusals are read
 * by the codes and texts that vendors share.
 */
const faults: readonly FaultRule[] = [
  // Status 400 and the type of a bad request, as clients saw them (anthropics/claude-code#66314,
  // 2026-06; #2127, 2025-06; #8327, 2025-10).
  {
    openings: [
      'Your credit balance is too low',
      'You have reached your specified API usage limits',
    ],
    kind: 'quota',
  },
  { openings: ['This organization has been disabled'], kind: 'credentials' },
  { text: /spend limit/i, kind: 'quota' },
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

/**
 * The fault for an error status. A rate limit without `retry-after` is timed by the
 * `anthropic-ratelimit-*` headers.
 */
export function messagesFault(status: number, headers: FaultHeaders, reply: string): Fault {
  const fault = faultOf(status, headers, reply, faults);
  if (fault.kind !== 'rate_limited' || fault.retryAfterMs !== undefined) return fault;
  const retryAfterMs = resetAfter(headers);
  return retryAfterMs === undefined ? fault : { ...fault, retryAfterMs };
}

/**
 * The fault inside a stream, or in a reply with a good status. Undefined when `body` is no error.
 */
export const messagesFaultWithin = (body: JsonObject): Fault | undefined =>
  faultWithin(body, faults);

const limits = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;

/**
 * Milliseconds until the last limit that is used up resets. The headers hold points in time (RFC
 * 3339), compared with the vendor's own `date` because an adapter has no clock.
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
