import type { Fault, FaultKind } from '../../base/fault.ts';
import {
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parse,
  textOf,
} from '../../base/json.ts';
import type { Adapter, VendorAnswer, PendingAnswer } from '../adapter.ts';
import { sanitizeVendorMessage } from '../vendor-message.ts';

/**
 * An error as vendors write it: the reply itself, or its member `error` or `message`. Azure has
 * `innererror`, OpenRouter `metadata`, MiniMax `base_resp`, servers made with FastAPI `detail`.
 */
interface VendorError {
  readonly error: VendorError | string;
  readonly message: VendorError | string;
  readonly msg: string;
  readonly code: string | number;
  readonly type: string;
  readonly error_type: string;
  readonly param: string;
  readonly object: string;
  readonly status: number;
  readonly status_code: number;
  readonly detail: readonly InvalidInput[] | string;
  readonly details: readonly InvalidInput[];
  readonly innererror: { readonly code: string };
  readonly metadata: { readonly code: string; readonly raw: string };
  readonly base_resp: { readonly status_code: number; readonly status_msg: string };
}

/** A member of the request that FastAPI refuses: `loc` is its path. */
interface InvalidInput {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** A vendor's refusal, wherever its reply holds these values. */
interface Refused {
  readonly code: string;
  readonly message: string;
  /** The message without what it quotes and without addresses. */
  readonly ownWords: string;
  readonly param: string | undefined;
}

/**
 * One row of a vendor's table of refusals. All given members must match; `code` is compared with
 * the error's code and its type.
 */
export interface FaultRule {
  readonly status?: number;
  readonly code?: RegExp;
  /**
   * Compared with the message. A client can put these words there: vendors repeat the names of its
   * tools and properties. So a text can blame the account only where the status does, too.
   */
  readonly text?: RegExp;
  /** The message begins with one of these: there stand the vendor's own words. */
  readonly openings?: readonly string[];
  readonly kind: FaultKind;
}

/** The kinds that park a channel, for everybody. */
const blamesAccount: readonly FaultKind[] = ['credentials', 'quota'];

/** Statuses that no vendor gives to a mistake in the request. */
const accountStatuses: readonly number[] = [401, 402, 403, 429];

/** What a message quotes, and addresses: an apostrophe within a word begins no quotation. */
const repeated = /(?<!\w)'[^']*'(?!\w)|"[^"]*"|https?:\S+/g;

/** Codes and types that vendors share. The first row that matches decides. */
const shared: readonly FaultRule[] = [
  {
    code: /^(insufficient_quota|credit_balance_exhausted|\w+_(spend|usage)_limit_exceeded|insufficient_balance|billing_(error|hard_limit_reached)|payment_required|exceeded_current_quota_error)$/,
    kind: 'quota',
  },
  {
    code: /^(invalid_api_key|authentication_error|permission_denied|permission_error|unsupported_country_region_territory|invalid_authentication_error|unauthorized)$/,
    kind: 'credentials',
  },
  { status: 429, code: /overloaded|ServerOverloaded/, kind: 'overloaded' },
  {
    status: 429,
    text: /insufficient.{0,3}(quota|balance)|credit balance|exceeded your current quota/i,
    kind: 'quota',
  },
  { status: 429, kind: 'rate_limited' },
  {
    code: /content_filter|content_policy|ResponsibleAI|sensitive|moderation|data_inspection_failed|SensitiveContent/i,
    kind: 'content_policy',
  },
  {
    // The word "moderation" alone proves nothing: "Unknown parameter: 'moderation'." is an ordinary
    // 400.
    text: /content[_ ]filter|ResponsibleAI|content[_ ](management )?policy|sensitive content|(by|pass|fail(ed|s)?|violates) (our |the |your )?(input |output |content )?moderation|moderation (policy|filter|system|check|block|guideline)|flagged/i,
    kind: 'content_policy',
  },
  {
    code: /context_length|exceed_context|too_many_prompt_tokens|tokens_too_long|prompt_too_long/i,
    kind: 'context_length',
  },
  {
    text: /context.{0,8}length|maximum context|context (window|size)|prompt is too long|too many tokens|token count .{0,40}exceeds|reduce the length|too large for model|input is too long|total length of all messages|inputs`? tokens \+ `?max_new_tokens/i,
    kind: 'context_length',
  },
  { status: 401, kind: 'credentials' },
  { status: 402, kind: 'quota' },
  // OpenAI's and xAI's words for a wrong key, and Google's: they come with status 400, too.
  { openings: ['Incorrect API key provided', 'API key not valid'], kind: 'credentials' },
  {
    status: 403,
    text: /insufficient.{0,3}(quota|balance)|credit balance|exceeded your current quota|arrearage|overdue/i,
    kind: 'quota',
  },
  { status: 403, kind: 'credentials' },
  { status: 404, kind: 'unknown_model' },
  { code: /^model_not_found$/, kind: 'unknown_model' },
  { code: /^(rate_limit(_exceeded|_error|_reached_error)?|rate_limited)$/, kind: 'rate_limited' },
  { code: /overloaded|^slow_down$/, kind: 'overloaded' },
  { status: 529, kind: 'overloaded' },
  { status: 503, kind: 'overloaded' },
  { status: 408, kind: 'timeout' },
  { status: 504, kind: 'timeout' },
  { status: 424, kind: 'server_error' },
  // Tollgate never sends such requests: the address is wrong, or a proxy answered for the vendor.
  { status: 405, kind: 'protocol' },
  { status: 407, kind: 'protocol' },
];

/**
 * The vendor's error in any of its shapes: `{error: {…}}`, `{error: "…", code}`, `{detail}`,
 * `{message, type}`, `{base_resp}`, `{object: "error"}`.
 */
function refusedBy(body: Documented<VendorError>): Refused {
  const error = objectOf(body.error);
  const source = error ?? objectOf(body.message) ?? body;
  const base = objectOf(body.base_resp);
  const details = listOf(body.detail ?? source.detail ?? source.details);
  const first = objectOf(details[0]);
  const inside = objectOf(source.innererror) ?? objectOf(source.metadata);
  const message =
    textOf(source.message) ??
    textOf(body.error) ??
    textOf(body.detail) ??
    textOf(body.message) ??
    textOf(base?.status_msg) ??
    textOf(body.msg) ??
    textOf(first?.msg) ??
    '';
  const codes = [
    source.code,
    source.type,
    body.code,
    body.error_type,
    base?.status_code,
    inside?.code,
  ];
  const raw = textOf(objectOf(source.metadata)?.raw);
  const location: readonly unknown[] = listOf(first?.loc).filter((step) => step !== 'body');
  return {
    code: codes.filter((c) => typeof c === 'string' || typeof c === 'number').join(' '),
    ...said(raw && /^provider returned error$/i.test(message) ? `${message}: ${raw}` : message),
    param: textOf(source.param) ?? (location.length ? location.join('.') : undefined),
  };
}

const said = (message: string): Pick<Refused, 'message' | 'ownWords'> => ({
  message,
  ownWords: message.replace(repeated, ''),
});

function fits(rule: FaultRule, status: number, refused: Refused): boolean {
  if (rule.status !== undefined && rule.status !== status) return false;
  if (rule.code && !refused.code.split(' ').some((code) => rule.code?.test(code))) return false;
  if (rule.openings && !rule.openings.some((words) => refused.message.startsWith(words)))
    return false;
  if (!rule.text) return true;
  if (blamesAccount.includes(rule.kind) && !accountStatuses.includes(status)) return false;
  return rule.text.test(refused.ownWords);
}

/** The status for an error inside a reply with a good status, if it does not name one. */
const unknownStatus = 0;

function kindOf(status: number, refused: Refused, vendorRules: readonly FaultRule[]): FaultKind {
  for (const rule of vendorRules) if (fits(rule, status, refused)) return rule.kind;
  // A failed server does not know the cause: only codes and statuses count, not its text.
  const rules = status >= 500 ? shared.filter((rule) => rule.code || rule.status) : shared;
  for (const rule of rules) if (fits(rule, status, refused)) return rule.kind;
  if (status >= 200 && status < 400) return 'protocol';
  if (status === unknownStatus)
    return /invalid_request|invalid_params|bad_?request/i.test(refused.code)
      ? 'bad_request'
      : 'server_error';
  return status >= 500 ? 'server_error' : 'bad_request';
}

/**
 * Go durations such as `6m0s`, `1.5s`, `12ms`; plain seconds as well. Milliseconds, or undefined.
 */
export function durationMs(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/^(\d+(\.\d+)?(h|ms|m|s|µs|us|ns))+$/.test(text)) return undefined;
  const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  let sum = 0;
  for (const match of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|µs|us|ns)/g))
    sum += Number(match[1]) * (units[match[2] ?? ''] ?? 0);
  return sum;
}

export type FaultHeaders = Readonly<Record<string, string | string[] | undefined>>;

const header = (headers: FaultHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/**
 * Reads `retry-after`: a date or a number of seconds. Dates are compared with the vendor's own
 * `date` header, because an adapter has no clock.
 */
function retryAfter(headers: FaultHeaders): number | undefined {
  const ms = Number(header(headers, 'retry-after-ms') ?? Number.NaN);
  if (ms > 0) return ms;
  const text = header(headers, 'retry-after');
  if (text === undefined) return undefined;
  const seconds = durationMs(text.trim());
  if (seconds !== undefined) return seconds;
  const span = Date.parse(text) - Date.parse(header(headers, 'date') ?? '');
  return span > 0 ? span : undefined;
}

/**
 * When the rate limits reset, from the vendor's `x-ratelimit-reset*`: a duration, seconds, or a
 * point in time in seconds or milliseconds. Returns milliseconds.
 */
function resetAfter(headers: FaultHeaders): number | undefined {
  let longest: number | undefined;
  for (const kind of ['', '-requests', '-tokens']) {
    const text = header(headers, `x-ratelimit-reset${kind}`);
    if (text === undefined || (kind && header(headers, `x-ratelimit-remaining${kind}`) !== '0'))
      continue;
    let ms = durationMs(text.trim());
    if (ms !== undefined && ms > 1e12)
      ms = (ms > 1e15 ? ms / 1000 : ms) - Date.parse(header(headers, 'date') ?? '');
    if (ms !== undefined && ms > 0) longest = Math.max(longest ?? 0, ms);
  }
  return longest;
}

/** The part of an HTML page in which its title is searched. */
const lookedAtMax = 4_000;

const isPage = (reply: string): boolean => /^\s*</.test(reply);

function plainMessage(status: number, reply: string): string {
  if (!isPage(reply)) return reply.trim() === '' ? `status ${status} without a body` : reply;
  const title = /<title[^>]*>([^<]*)/i.exec(reply.slice(0, lookedAtMax))?.[1]?.trim();
  return `status ${status} with an HTML page${title ? ` (${title})` : ''}`;
}

/**
 * The fault for a reply with an error status. `reply` is its body as text; `rules` are the vendor's
 * own and go before the shared ones.
 */
export function faultOf(
  status: number,
  headers: FaultHeaders,
  reply: string,
  rules: readonly FaultRule[] = [],
): Fault {
  const body = parse(reply);
  // Some gateways wrap the error in a list, as Google does behind its compatible endpoint.
  const object = objectOf(body) ?? objectOf(listOf(body)[0]);
  const refused = object
    ? refusedBy(object)
    : { code: '', ...said(plainMessage(status, reply)), param: undefined };
  // A firewall in front of the vendor may block single prompts (text that looks like SQL or HTML):
  // the 403 says nothing about the key.
  const kind = status === 403 && isPage(reply) ? 'protocol' : kindOf(status, refused, rules);
  const retryAfterMs =
    retryAfter(headers) ??
    (kind === 'rate_limited' ? (resetAfter(headers) ?? spokenDelay(refused.message)) : undefined);
  return fault(kind, refused, status, retryAfterMs);
}

/** The `fault` of an adapter whose vendor has these rules. */
export const faultReader =
  (rules?: readonly FaultRule[]): Adapter['fault'] =>
  (status, headers, reply) =>
    faultOf(status, headers, reply, rules);

function spokenDelay(message: string): number | undefined {
  const match = /try again in (\d+(?:\.\d+)?(?:ms|s|m)(?:\d+(?:\.\d+)?s)?)/i.exec(message);
  return match?.[1] ? durationMs(match[1]) : undefined;
}

function fault(kind: FaultKind, refused: Refused, status: number, retryAfterMs?: number): Fault {
  return {
    kind,
    message: sanitizeVendorMessage(refused.message) || `status ${status}`,
    ...(refused.param === undefined ? {} : { param: refused.param }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/**
 * Whether `faultWithin` could find a fault: a cheap check, good for text that is not decoded yet.
 */
export function mayTellFault(body: JsonObject): boolean {
  const { object }: Documented<VendorError> = body;
  return 'error' in body || 'base_resp' in body || object === 'error';
}

/**
 * The fault for an error that came with a good status: an `error` member, MiniMax's `base_resp`, an
 * error event in a stream. Undefined when `body` holds none.
 */
export function faultWithin(body: JsonObject, rules: readonly FaultRule[] = []): Fault | undefined {
  const { base_resp: told, error, object, code }: Documented<VendorError> = body;
  const base = objectOf(told);
  const failedBase = base !== undefined && base.status_code !== 0 && base.status_code !== undefined;
  const failed =
    failedBase ||
    (isObject(error) && Object.keys(error).length > 0) ||
    (typeof error === 'string' && error !== '') ||
    object === 'error';
  if (!failed) return undefined;
  const refused = refusedBy(body);
  // Vendors put the status that they would have sent into the code (OpenRouter, vLLM) or beside it
  // (Groq's `status_code`).
  const namedStatus = [
    objectOf(error)?.code,
    objectOf(error)?.status_code,
    objectOf(error)?.status,
    code,
  ]
    .map(Number)
    .find((n) => n >= 400 && n < 600);
  return fault(kindOf(namedStatus ?? unknownStatus, refused, rules), refused, namedStatus ?? 200);
}

/** A fault of the format itself: the reply cannot be read. */
export const protocolFault = (message: string): Fault => ({ kind: 'protocol', message });

export function isFault(result: VendorAnswer | PendingAnswer | Fault): result is Fault {
  return 'kind' in result;
}
