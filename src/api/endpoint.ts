import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../accounts/principal.ts';
import type { ClientResponse } from '../http/client-response.ts';
import type { HeldBody } from '../http/request-body.ts';
import type { Envelope } from './errors.ts';

/** The parts of a request that endpoints read, whichever way it came in. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /**
   * The bytes of the body, or its unread stream where the endpoint has `body: 'stream'`. Undefined:
   * the request has none, or `takeJson` has parsed it.
   */
  body: unknown;
  /** The model that a parsed body names. */
  model: string | undefined;
  readonly params: PathParams;
}

/** The decoded values of the path's parameters, by name. A `*` at its end has the name `*`. */
export type PathParams = Readonly<Record<string, string>>;

/** A request whose client is not identified yet. */
export interface UnidentifiedRequest {
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly request: Pick<HttpRequest, 'method' | 'url' | 'headers'>;
  readonly response: ClientResponse;
  readonly convention: ClientConvention;
  /** Counts the bytes of a body that is large, or may become so. Absent: it is small. */
  held?: HeldBody | undefined;
}

/** One request of a known client: what an endpoint's handler works with. */
export interface RequestContext extends UnidentifiedRequest {
  readonly principal: Principal;
  readonly request: HttpRequest;
}

/** One route. `handle` may throw a Refusal as long as nothing was sent. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Below `/v1`, or from the root where it begins with `/v1beta/` or `/upload/`: `:name` for a
   * segment, `*` for all that are left, `*:method` for all that are left and end in `:method`.
   */
  readonly path: string;
  /**
   * Other paths of the same endpoint, from the root of the server. They have parameters where
   * `path` has some.
   */
  readonly aliases?: readonly string[];
  /** Absent: `chatConvention`. */
  readonly convention?: ClientConvention;
  /** Clients of other conventions find no endpoint here: the handler refuses them. */
  readonly onlyFor?: ClientConvention;
  /**
   * `stream`: the handler reads the body as it arrives. Absent: the handler gets the whole body.
   */
  readonly body?: 'stream';
  readonly handle: (context: RequestContext) => void | Promise<void>;
  /** Handles requests with an Idempotency-Key. Absent: `handle` does, and the key is ignored. */
  readonly handleKeyed?: Endpoint['handle'];
}

/** The path of an endpoint from the root of the server. */
export const fullPath = ({ path }: Pick<Endpoint, 'path'>): string =>
  /^\/(?:v1beta|upload)\//.test(path) ? path : `/v1${path}`;

/** The query of a request's URL. */
export const queryOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.split('?', 2)[1] ?? '');

/** The `:id` of the request's path. */
export function idIn({ request: { params } }: RequestContext): string {
  const { id } = params;
  if (id === undefined) throw new Error('the path of this endpoint has an id');
  return id;
}

export function sendJson({ response }: RequestContext, body: unknown): void {
  response.whole(200, 'application/json', JSON.stringify(body));
}

/**
 * What the entry needs to know of a client's convention: which header holds the API key, how errors
 * look, and which header names the request.
 */
export interface ClientConvention {
  readonly envelope: Envelope;
  /** The header that names the request, beside `x-request-id`. */
  readonly idHeader: string | undefined;
  /** `url`: of the request, whose query may hold the key. */
  credential(headers: IncomingHttpHeaders, url: string): string | undefined;
  /** Where several conventions share a path: picks the client's one by its request. */
  spokenBy?(headers: IncomingHttpHeaders, url: string): ClientConvention;
}
