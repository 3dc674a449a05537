import { DatabaseError, type DatabaseErrorKind } from './database.ts';

/**
 * By SQLSTATE, the longer prefix first:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html.
 */
const kinds: readonly (readonly [prefix: string, kind: DatabaseErrorKind])[] = [
  // "cached plan must not change result type", after another node migrated: the connection is
  // thrown away, the statement sent again
  ['0A000', 'busy'],
  ['22', 'constraint'], // data exceptions: out of range, division by zero
  ['23', 'constraint'],
  ['25006', 'busy'], // read-only transaction: the old primary after a failover
  ['40003', 'unknown'], // statement completion unknown
  ['40', 'busy'], // serialization failure, deadlock
  ['53', 'busy'], // out of memory, disk or connections
  ['54', 'constraint'], // program limits: an index entry, a row or a statement too large
  ['55P03', 'busy'], // lock not available in time
  ['57014', 'busy'], // cancelled by statement_timeout: the server says that it did not happen
  ['57P03', 'busy'], // cannot connect now
  ['57P', 'unknown'], // terminated by an administrator, a crash or a shutdown
  ['08', 'unknown'],
  ['58', 'unknown'], // system errors
];

const checkViolation = '23514';

interface ServerError extends Error {
  readonly code: string;
  readonly constraint?: string;
  readonly severity: string;
}

/**
 * Whether the server itself said so, as against a connection that broke or a client that gave up
 * waiting.
 */
function isServerError(error: unknown): error is ServerError {
  return (
    error instanceof Error &&
    'severity' in error &&
    'code' in error &&
    typeof error.code === 'string'
  );
}

/** After such an error the connection is out of step, or gone, and must not be used again. */
export function isFatal(error: unknown): boolean {
  return !isServerError(error) || error.severity !== 'ERROR' || error.code === '0A000';
}

/**
 * `lost` is what a broken connection means for the statement: `unknown`, or `busy` where nothing
 * can have been committed yet.
 */
export function postgresError(error: unknown, lost: 'unknown' | 'busy'): DatabaseError {
  const message =
    error instanceof Error
      ? error.message || ('code' in error ? String(error.code) : error.name)
      : String(error);
  let kind: DatabaseErrorKind = lost;
  if (isServerError(error)) {
    kind = kinds.find(([prefix]) => error.code.startsWith(prefix))?.[1] ?? 'other';
    // Without a constraint's name it is a partition's: one was attached under the statement, which
    // finds the right one next time.
    if (error.code === checkViolation && error.constraint === undefined) kind = 'busy';
    if (kind === 'unknown') kind = lost;
  }
  return new DatabaseError(kind, message, { cause: error });
}
