import type { IncomingHttpHeaders } from 'node:http';
import type * as z from 'zod';
import type { Session } from '../accounts/sessions.ts';
import type { User } from '../accounts/users.ts';
import { Problem } from './problem.ts';
import type { ConsoleReply } from './console-reply.ts';

/** Who may: `anyone` includes strangers, `user` includes operators. */
export const roles = ['anyone', 'user', 'operator'] as const;
export type ConsoleRole = (typeof roles)[number];
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Somebody with a session. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
  /** What `x-csrf-token` must say on everything but GET. */
  readonly csrf: string;
}

/** One request that the door let in. */
export interface Arrival {
  /** `req_…`, also in `x-request-id`. */
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly ip: string;
  readonly headers: IncomingHttpHeaders;
  /** What the path's places hold, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The body's bytes; empty where there was none. */
  readonly body: Buffer;
  /** What `input` is read from: the query of a GET or DELETE, else the body's JSON. */
  readonly written: () => unknown;
  readonly caller: Caller | undefined;
  /** For all that is not simply a value returned: status, headers, events, files. */
  readonly reply: ConsoleReply;
}

interface Asked<Input> extends Omit<Arrival, 'caller' | 'written'> {
  readonly input: Input;
}

/** A request of somebody who is signed in. */
export type ConsoleVisit<Input = undefined> = Asked<Input> & Caller;
/** A request of anyone. */
export type OpenVisit<Input = undefined> = Asked<Input> & { readonly caller: Caller | undefined };

interface RowBase<Input> {
  readonly method: Method;
  /** Below `/console/api`, with `:name` for a segment and `*` for the rest. */
  readonly path: string;
  /**
   * Reads the query of a GET or DELETE, or the body's JSON; what it does not take is a 400 with
   * `fields`. Query values are text.
   */
  readonly input?: z.ZodType<Input>;
  /** Bodies may be so large; 256 KiB when absent. */
  readonly bodyBytesMax?: number;
  /** How often one user (or one address, where nobody is signed in) may ask; 600 when absent. */
  readonly perMinute?: number;
}

type Handle<Visit> = (visit: Visit) => unknown;

export interface SignedRow<Input> extends RowBase<Input> {
  readonly role: 'user' | 'operator';
  readonly handle: Handle<ConsoleVisit<Input>>;
}

export interface OpenRow<Input> extends RowBase<Input> {
  readonly role: 'anyone';
  readonly handle: Handle<OpenVisit<Input>>;
}

/** An endpoint of the console, as the door takes it. */
export interface ConsoleRow extends Omit<RowBase<unknown>, 'input'> {
  readonly role: ConsoleRole;
  readonly serve: (arrival: Arrival) => unknown;
}

/**
 * Declares an endpoint. `handle` returns (a promise of) the JSON value of the answer, sent as 200
 * or what `reply.status` said; undefined is a 204, or means that `reply` was used. It throws a
 * Problem (`fail('not_found')`) or a Refusal. Ownership is its own business: whatever is another's
 * is `not_found`.
 */
export function row<Input = undefined>(declared: SignedRow<Input>): ConsoleRow;
export function row<Input = undefined>(declared: OpenRow<Input>): ConsoleRow;
export function row<Input>(declared: SignedRow<Input> | OpenRow<Input>): ConsoleRow {
  const { method, path, role, bodyBytesMax, perMinute, input } = declared;
  const limits = { ...(bodyBytesMax && { bodyBytesMax }), ...(perMinute && { perMinute }) };
  return {
    method,
    path,
    role,
    ...limits,
    serve: (arrival) => answer(declared, arrival, read(input, arrival)),
  };
}

function answer<Input>(
  declared: SignedRow<Input> | OpenRow<Input>,
  { written: _, ...arrival }: Arrival,
  input: Input,
): unknown {
  if (declared.role === 'anyone') return declared.handle({ ...arrival, input });
  if (arrival.caller === undefined) throw new Problem('session_expired');
  return declared.handle({ ...arrival, ...arrival.caller, input });
}

/** Without a schema there is no input; `undefined` is then what the row's type says. */
function read<Input>(schema: z.ZodType<Input> | undefined, { written }: Arrival): Input {
  if (schema === undefined) return undefined as Input;
  const result = schema.safeParse(written());
  if (result.success) return result.data;
  const fields: Record<string, string> = {};
  for (const { path, message } of result.error.issues) fields[path.join('.')] ??= message;
  throw new Problem('invalid', { fields });
}
