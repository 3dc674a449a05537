import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type * as z from 'zod';
import type { UserSession } from '../accounts/sessions.ts';
import type { Role, User } from '../accounts/users.ts';
import { latin1Of } from '../base/json.ts';
import type { ClientResponse } from '../http/client-response.ts';
import { CompressedJson, encodeBody } from '../http/response-encoding.ts';
import { ConsoleProblem, throwProblem } from './problem.ts';

/** The callers that a route admits: `anyone` includes strangers, `user` includes operators. */
export const consoleRoles = ['anyone', 'user', 'operator'] as const;
export type ConsoleRole = (typeof consoleRoles)[number];
export type ConsoleMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** The account whose money and records a request reads or changes. */
export interface Owner {
  /** The id of the account in the ledger, and of the owner of keys, orders and tasks. */
  readonly id: string;
  /** The time zone in which the owner's days begin. */
  readonly zone: string;
  /** The charges of an operator's own account show their attempts. */
  readonly role: Role;
}

/** The owner that a signed-in user acts for: the user's own account, since it has no other. */
export const ownerOf = ({ id, zone, role }: User): Owner => ({ id, zone, role });

/** A user with a session. */
export interface Caller {
  /** The signed-in person, who asks. */
  readonly user: User;
  /** The account that the request is about. */
  readonly owner: Owner;
  readonly session: UserSession;
  /** The value that `x-csrf-token` must have on everything but GET. */
  readonly csrf: string;
}

/** The only place that decides whether a caller may use a route: by the route's `role`. */
export function checkPermission(role: ConsoleRole, caller: Caller | undefined): void {
  if (role === 'anyone') return;
  if (caller === undefined) throwProblem('session_expired');
  if (caller.user.state === 'suspended') throwProblem('suspended');
  if (role === 'operator' && caller.user.role !== 'operator') throwProblem('operator_only');
}

/** One request that the server has admitted. */
export interface ConsoleRequest {
  /** `req_…`, also in `x-request-id`. */
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly ip: string;
  readonly headers: IncomingHttpHeaders;
  /** The values of the path's parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The body's bytes; empty when there was none. */
  readonly body: Buffer;
  /** The source of `input`: the query of a GET or DELETE, else the body's JSON. */
  readonly written: () => unknown;
  readonly caller: Caller | undefined;
  /** For responses that are more than a returned value: status, headers, events, files. */
  readonly reply: ConsoleReply;
}

interface ParsedRequest<Input> extends Omit<ConsoleRequest, 'caller' | 'written'> {
  readonly input: Input;
}

/** A request of a signed-in user. */
export type SignedInRequest<Input = undefined> = ParsedRequest<Input> & Caller;
/** A request of anyone. */
export type AnyoneRequest<Input = undefined> = ParsedRequest<Input> & {
  readonly caller: Caller | undefined;
};

interface RouteBase<Input> {
  readonly method: ConsoleMethod;
  /** Below `/console/api`, with `:name` for a segment and `*` for the rest. */
  readonly path: string;
  /**
   * Reads the query of a GET or DELETE, or the body's JSON; a rejected value is a 400 with
   * `fields`. Query values are text.
   */
  readonly input?: z.ZodType<Input>;
  /** The largest body; 256 KiB when absent. */
  readonly bodyBytesMax?: number;
  /**
   * Requests per minute of one user, or of one address when nobody is signed in; 600 when absent.
   */
  readonly perMinute?: number;
  /** The answer is the same for all: the session is not looked up. */
  readonly sessionless?: true;
  /** Reads many records: one user runs at most `heavyAtOnceMax` (server.ts) at the same time. */
  readonly heavy?: true;
}

type Handle<Given> = (request: Given) => unknown;

export interface SignedInRoute<Input> extends RouteBase<Input> {
  readonly role: 'user' | 'operator';
  readonly handle: Handle<SignedInRequest<Input>>;
}

export interface AnyoneRoute<Input> extends RouteBase<Input> {
  readonly role: 'anyone';
  readonly handle: Handle<AnyoneRequest<Input>>;
}

/** An endpoint of the console, as the server takes it. */
export interface ConsoleRoute extends Omit<RouteBase<unknown>, 'input'> {
  readonly role: ConsoleRole;
  readonly serve: (request: ConsoleRequest) => unknown;
}

/**
 * Declares an endpoint. `handle` returns (a promise of) the JSON value of the response, sent as 200
 * or with the status set by `reply.status`; undefined is a 204, or means that `reply` was used. It
 * throws a `ConsoleProblem` (`throwProblem('not_found')`) or a `Refusal`. It must check ownership
 * itself: an object of another owner is `not_found`.
 */
export function defineRoute<Input = undefined>(declared: SignedInRoute<Input>): ConsoleRoute;
export function defineRoute<Input = undefined>(declared: AnyoneRoute<Input>): ConsoleRoute;
export function defineRoute<Input>(
  declared: SignedInRoute<Input> | AnyoneRoute<Input>,
): ConsoleRoute {
  const { method, path, role, bodyBytesMax, perMinute, sessionless, heavy, input } = declared;
  const limits = {
    ...(bodyBytesMax && { bodyBytesMax }),
    ...(perMinute && { perMinute }),
    ...(sessionless && { sessionless }),
    ...(heavy && { heavy }),
  };
  return {
    method,
    path,
    role,
    ...limits,
    serve: (request) => answer(declared, request, read(input, request)),
  };
}

function answer<Input>(
  declared: SignedInRoute<Input> | AnyoneRoute<Input>,
  { written: _, ...request }: ConsoleRequest,
  input: Input,
): unknown {
  if (declared.role === 'anyone') return declared.handle({ ...request, input });
  assert(request.caller !== undefined, 'the server admits no stranger to this route');
  return declared.handle({ ...request, ...request.caller, input });
}

/** Without a schema there is no input; the route's type then says `undefined`. */
function read<Input>(schema: z.ZodType<Input> | undefined, { written }: ConsoleRequest): Input {
  if (schema === undefined) return undefined as Input;
  const result = schema.safeParse(written());
  if (result.success) return result.data;
  const fields: Record<string, string> = {};
  for (const { path, message } of result.error.issues) fields[path.join('.')] ??= message;
  throw new ConsoleProblem('invalid', { fields });
}

/**
 * Events that a reader may lag behind; then the stream ends, and the browser resumes where it was.
 */
const unreadMax = 256;
/** Proxies close a connection that is silent for a minute. */
const beatMs = 15_000;

/** Server-sent events to one browser. */
export interface EventStream {
  /** Aborted when the browser has disconnected, the stream has ended or the node shuts down. */
  readonly signal: AbortSignal;
  /** `data` becomes JSON. Does nothing once the stream is over. */
  send(event: { readonly event?: string; readonly id?: string; readonly data: unknown }): void;
  end(): void;
}

/** The response to one console request. */
export class ConsoleReply {
  /** The response itself, for routes that pass it on to a handler of /v1. */
  readonly client: ClientResponse;
  #status = 200;
  #endEvents: (() => void) | undefined;

  constructor(client: ClientResponse) {
    this.client = client;
  }

  /** Sets the status of the value that the route returns. */
  status(status: 200 | 201 | 202): void {
    this.#status = status;
  }

  header(name: string, value: string): void {
    this.client.header(name, value);
  }

  /** Begins a stream of events; its `signal` aborts when the stream is over. */
  events(): EventStream {
    const { client } = this;
    const over = new AbortController();
    let unread = 0;
    const end = (): void => {
      if (over.signal.aborted) return;
      over.abort();
      clearInterval(beat);
      client.end('');
    };
    const write = (text: string): void => {
      if (over.signal.aborted) return;
      if (client.stalled) {
        unread += 1;
        if (unread > unreadMax) return end();
      } else unread = 0;
      if (!client.write(latin1Of(text)) && !client.stalled) client.onDrain(() => {});
    };
    const beat = setInterval(() => write(': \n\n'), beatMs).unref();
    this.#endEvents = end;
    client.startStream();
    client.onLeave(end);
    write('retry: 2000\n\n');
    return {
      signal: over.signal,
      send: ({ event, id, data }) =>
        write(
          `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`,
        ),
      end,
    };
  }

  /**
   * Sends a file to save, as fast as it can be read. Resolves when the browser has it or has
   * disconnected.
   */
  async file({
    name,
    type,
    text,
  }: {
    readonly name: string;
    readonly type: string;
    readonly text: AsyncIterable<string>;
  }): Promise<void> {
    this.header('content-type', type);
    this.header('content-disposition', `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"`);
    await this.client.send(200, Readable.from(text));
  }

  /**
   * Sends the route's value, compressed where the browser takes it, unless the route has responded
   * itself.
   */
  async finish(value: unknown, acceptEncoding: string | string[] | undefined): Promise<void> {
    const { client } = this;
    if (client.started || client.closed) return;
    if (value === undefined) return client.send(204, undefined);
    const { body, headers } =
      value instanceof CompressedJson
        ? value.encodedFor(acceptEncoding)
        : await encodeBody(JSON.stringify(value), acceptEncoding);
    for (const [name, text] of Object.entries(headers)) this.header(name, text);
    client.whole(this.#status, 'application/json; charset=utf-8', body);
  }

  /**
   * Ends a stream of events, which would go on for ever: the node shuts down, or the session is
   * over.
   */
  leave(): void {
    this.#endEvents?.();
  }
}
