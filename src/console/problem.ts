import type { Reason } from '../base/reason.ts';
import type { ConfigProblem } from '../catalog/problem.ts';
import type { ErrorBody } from './contract.ts';

/**
 * Every refusal of the console in one table: code → status and message for readers of the JSON.
 * Pages show their own text for the code. A route's own codes belong here too.
 */
export const problems = {
  invalid: { status: 400, message: 'A field is invalid.' },
  invalid_cursor: { status: 400, message: 'The cursor belongs to another list, order or filter.' },
  malformed_json: { status: 400, message: 'The body is not JSON.' },
  idempotency_key_missing: {
    status: 400,
    message: 'This needs an idempotency-key header of 8 to 200 characters.',
  },
  if_match_missing: {
    status: 400,
    message: 'This needs an if-match header with the version that you change.',
  },
  session_expired: { status: 401, message: 'You are signed out.' },
  operator_only: { status: 403, message: 'Operators only.' },
  csrf: { status: 403, message: 'The request does not come from the console.' },
  suspended: { status: 403, message: 'This account is suspended.' },
  not_found: { status: 404, message: 'This does not exist, or it is not yours.' },
  conflict: { status: 409, message: 'This conflicts with existing data.' },
  version_conflict: { status: 409, message: 'Someone changed this after you read it.' },
  read_only: { status: 409, message: 'Managed by the configuration file; edit it there.' },
  in_use: { status: 409, message: 'It is still in use.' },
  would_unserve: {
    status: 409,
    message: 'Some models would have no channel. Send accept_unserved to accept this.',
  },
  insufficient: { status: 409, message: 'Not enough available balance.' },
  yourself: { status: 409, message: 'You cannot suspend yourself.' },
  signed_in_before: {
    status: 409,
    message: 'This user has signed in before. A link would let the operator in as the user.',
  },
  not_credited: { status: 409, message: 'Only credited orders can be refunded.' },
  wallet_gone: { status: 409, message: 'This wallet is not configured any more.' },
  bill_not_published: { status: 409, message: 'The wallet has not published this bill yet.' },
  last_operator: { status: 409, message: 'There must be at least one operator.' },
  last_identity: { status: 409, message: 'This is your only sign-in. Link another one first.' },
  too_large: { status: 413, message: 'The body is too large.' },
  rate_limited: { status: 429, message: 'Too many requests. Please wait a moment.' },
  bug: { status: 500, message: 'Something went wrong on our side.' },
  bill_unavailable: { status: 503, message: 'The wallet did not send the bill. Please retry.' },
  unavailable: { status: 503, message: 'The database does not respond. Please retry.' },
} as const;

export type ProblemCode = keyof typeof problems;

type FieldReasons = NonNullable<ErrorBody['error']['reasons']>;

export interface ProblemDetails {
  readonly message?: string;
  /** The parameter at fault, if there is one. */
  readonly param?: string;
  /** By field: its error as a code such as `below_minimum`, or as an English sentence. */
  readonly fields?: Readonly<Record<string, string>>;
  /** By field whose error is a sentence: what other languages make theirs from. */
  readonly reasons?: FieldReasons;
  readonly retryAfterMs?: number;
  /** For a `version_conflict`: the object as it is now. */
  readonly current?: unknown;
}

/**
 * A refusal of the console. Routes and the server throw it; only the server writes the response.
 */
export class ConsoleProblem extends Error {
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(details.message ?? problems[code].message);
    this.code = code;
    this.details = details;
  }
}

/** Throws the problem `code` of the table. */
export function throwProblem(code: ProblemCode, details?: ProblemDetails): never {
  throw new ConsoleProblem(code, details);
}

/** Refuses a body for its wrong members, whose paths are below `at`. */
export function throwWrong(wrong: readonly WrongMember[], at = ''): never {
  const fields: Record<string, string> = {};
  const reasons: Record<string, Pick<Reason, 'code' | 'values'>> = {};
  for (const { path, message, code, values = {} } of wrong) {
    const place =
      path === '' ? at : at === '' || path.startsWith('[') ? at + path : `${at}.${path}`;
    if (fields[place] !== undefined) continue;
    fields[place] = message;
    if (code !== undefined) reasons[place] = { code, values };
  }
  return throwProblem('invalid', { fields, reasons, message: wrong[0]?.message ?? '' });
}

type WrongMember = Pick<ConfigProblem, 'path' | 'message' | 'code' | 'values'>;

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

export interface ProblemReply {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly reasons?: FieldReasons | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly current?: unknown;
}

export function problemReply({ code, message, details }: ConsoleProblem): ProblemReply {
  const { status } = problems[code];
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  return { status, message, type, code, param: details.param ?? null, ...details };
}

/**
 * The error format of the product as JSON text, with three more members, and `current` beside it
 * if there is one.
 */
export function envelope(
  { message, type, param, code, fields, reasons, current }: ProblemReply,
  requestId: string,
): string {
  const error = {
    message,
    type,
    param,
    code,
    ...(fields && { fields }),
    ...(reasons && { reasons }),
    request_id: requestId,
  };
  return JSON.stringify(current === undefined ? { error } : { error, current });
}
