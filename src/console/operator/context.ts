import type { AuditFacts } from '../../accounts/audit.ts';
import { isOperator } from '../../accounts/users.ts';
import type { Clock } from '../../base/clock.ts';
import type { ListFees } from '../../catalog/build-snapshot.ts';
import type { Bundled } from '../../catalog/bundled.ts';
import type { EditDone, EditRefused } from '../../catalog/editing.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import type { Vendor } from '../../providers/vendor.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { OnError } from '../../storage/repeat.ts';
import type { Sealer } from '../../storage/seal.ts';
import type { Attention } from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import { throwProblem, throwWrong } from '../problem.ts';
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
 * The result of a successful change of the catalog; throws a problem for every other outcome.
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
