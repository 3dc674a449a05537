import type { AuditFacts } from '../../accounts/audit.ts';
import { isOperator } from '../../accounts/users.ts';
import type { Clock } from '../../base/clock.ts';
import type { Reason } from '../../base/reason.ts';
import type { ListFees } from '../../catalog/build-snapshot.ts';
import type { Bundled } from '../../catalog/bundled.ts';
import type { EditDone, EditRefused } from '../../catalog/editing.ts';
import type { ConfigProblem } from '../../catalog/problem.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import type { Vendor } from '../../providers/vendor.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { OnError } from '../../storage/repeat.ts';
import type { Sealer } from '../../storage/seal.ts';
import type { Attention } from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import { throwProblem } from '../problem.ts';
import type { SignedInRequest } from '../route.ts';

/**
 * Refuses an operator who is none any more, in the transaction that moves the money: a request may
 * have waited for it.
 */
export function* onlyOperator({ user }: Pick<SignedInRequest, 'user'>): Transaction<void> {
  if (!(yield* isOperator(user.id))) throwProblem('operator_only');
}

/** The operator who acts, for the audit trail. */
export const byOperator = ({ user, ip }: Pick<SignedInRequest, 'user' | 'ip'>) =>
  ({ actorKind: 'operator', actor: user.id, ip }) as const;

/**
 * The result of a successful change of the catalogue; throws a problem for every other outcome.
 * `key`: the member that names the object.
 */
export function editOrThrow<Thing, Done extends EditDone<Thing>>(
  edited: Done | EditRefused<Thing>,
  view: (thing: Thing) => unknown,
  key: 'name' | 'id' = 'name',
): Done {
  switch (edited.kind) {
    case 'done':
      return edited;
    case 'absent':
      return throwProblem('not_found');
    case 'exists':
      return throwProblem('conflict', {
        message: 'This name is taken.',
        fields: { [key]: 'taken' },
      });
    case 'conflict':
      return throwProblem('version_conflict', { current: view(edited.current) });
    case 'read_only':
      return throwProblem('read_only', { current: view(edited.current) });
    case 'wrong':
      return throwWrong(edited.problems);
  }
}

/** Refuses a body for its wrong members, whose paths are below `at`. */
export function throwWrong(problems: readonly WrongMember[], at = ''): never {
  const fields: Record<string, string> = {};
  const reasons: Record<string, Pick<Reason, 'code' | 'values'>> = {};
  for (const { path, message, code, values = {} } of problems) {
    const place =
      path === '' ? at : at === '' || path.startsWith('[') ? at + path : `${at}.${path}`;
    if (fields[place] !== undefined) continue;
    fields[place] = message;
    if (code !== undefined) reasons[place] = { code, values };
  }
  return throwProblem('invalid', { fields, reasons, message: problems[0]?.message ?? '' });
}

type WrongMember = Pick<ConfigProblem, 'path' | 'message' | 'code' | 'values'>;

/** Facts of an object for the audit trail: money and the like as text. */
export function auditFacts(thing: object | undefined): AuditFacts | undefined {
  if (thing === undefined) return undefined;
  const text = JSON.stringify(thing, (_name, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Map ? Object.fromEntries(value) : value;
  });
  const { version: _, changedAt: __, ...facts } = JSON.parse(text) as Record<string, unknown>;
  return facts;
}

/** What the operators' routes need. */
export interface OperatorContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly cursors: Cursors;
  readonly catalog: () => Snapshot;
  readonly vendors: ReadonlyMap<string, Vendor>;
  /** The price list that comes with the program, read on demand. */
  readonly bundled: () => Promise<Bundled>;
  readonly listFees: ListFees;
  /** Queries by which other modules prove their part of the ledger, by rule (ledger/check.ts). */
  readonly proofs: Readonly<Record<string, string>>;
  /** Gets the error of a proof that runs in the background. */
  readonly onError: OnError;
  /** Sources of problems that need an operator's attention: unmatched payments, for instance. */
  readonly attention: readonly ((now: number) => Promise<readonly Attention[]>)[];
}
