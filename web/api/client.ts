import type { ErrorBody } from '../../src/console/contract.ts';
import type { FieldReasons } from '../format/wrong-fields.ts';
import { isGateway, serverIsBack } from './reach.ts';
import { signedInAgain } from './session-gone.ts';

/** The parameters of a request; an empty one is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export const withoutEmpty = (query: Query): Query =>
  Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined && value !== ''),
  );

export interface SendOptions {
  readonly query?: Query;
  readonly body?: unknown;
  /** In place of a body: fields and files. */
  readonly form?: FormData;
  /** The version that the request changes, for `If-Match`. */
  readonly ifMatch?: number;
  /**
   * For requests that create something or move money. The form makes one when it opens
   * (`newIdempotencyKey`) and sends the same one with every attempt.
   */
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * An error of the console's API, or of the network (`status` 0, code `offline`). Pages choose their
 * text by `code`, fields by `fields`.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The code of the server, else its type; undefined: it gave none. */
  readonly named: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  /** Of fields whose text is an English sentence: what other languages make theirs from. */
  readonly reasons: FieldReasons;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** With `version_conflict`: the object as it is now. */
  readonly current: unknown;

  constructor(status: number, body: Partial<ErrorBody>, headers?: Headers) {
    super(body.error?.message ?? `status ${status}`);
    this.status = status;
    this.code = body.error?.code ?? (status === 0 ? 'offline' : 'bug');
    this.named = body.error?.code || body.error?.type || undefined;
    this.fields = body.error?.fields ?? {};
    this.reasons = body.error?.reasons ?? {};
    this.requestId = body.error?.request_id ?? headers?.get('x-request-id') ?? undefined;
    const seconds = Number(headers?.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isNaN(seconds) ? undefined : seconds * 1000;
    this.current = body.current;
  }
}

let csrf: string | null = null;

/** From the session's answer; every request but GET carries it. */
export function rememberCsrf(token: string | null): void {
  csrf = token;
}

export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The address of `path` below `/console/api`, for links to CSV and for EventSource. */
export function addressOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams(
    Object.entries(withoutEmpty(query)).map(([name, value]) => [name, String(value)]),
  );
  return `/console/api/${path}${search.size > 0 ? `?${search}` : ''}`;
}

export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return call<T>('GET', path, { ...(query && { query }), ...(signal && { signal }) });
}

export function send<T = void>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  options: SendOptions = {},
): Promise<T> {
  return call<T>(method, path, options);
}

/**
 * The response before its body is read, for streams. Throws an ApiError for every error status.
 * After `session_expired` it waits for a new sign-in and tries once more.
 */
export async function open(
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<Response> {
  const response = await attempt(method, path, options);
  if (response.ok) return response;
  const error = new ApiError(response.status, await bodyOf(response), response.headers);
  if (error.code !== 'session_expired') throw error;
  await signedInAgain();
  const again = await attempt(method, path, options);
  if (again.ok) return again;
  throw new ApiError(again.status, await bodyOf(again), again.headers);
}

async function call<T>(method: string, path: string, options: SendOptions): Promise<T> {
  const response = await open(method, path, options);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T; // parsing: the contract says which type
}

async function attempt(method: string, path: string, options: SendOptions): Promise<Response> {
  const { body, form, signal } = options;
  try {
    const response = await fetch(addressOf(path, options.query), {
      method,
      headers: headersOf(method, options),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form && { body: form }),
      ...(signal && { signal }),
    });
    if (isGateway(response)) return response;
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  void serverIsBack();
  throw new ApiError(0, {});
}

function headersOf(
  method: string,
  { body, ifMatch, idempotencyKey, headers }: SendOptions,
): Record<string, string> {
  return {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(method === 'GET' || csrf === null ? {} : { 'x-csrf-token': csrf }),
    ...(ifMatch === undefined ? {} : { 'if-match': String(ifMatch) }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...headers,
  };
}

async function bodyOf(response: Response): Promise<Partial<ErrorBody>> {
  try {
    return (await response.json()) as Partial<ErrorBody>; // parsing
  } catch {
    return {};
  }
}
