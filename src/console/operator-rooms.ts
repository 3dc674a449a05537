import type { Clock } from '../base/clock.ts';
import type { Bundled } from '../catalog/bundled.ts';
import type { ListFees } from '../catalog/list-fees.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Vendor } from '../providers/adapter.ts';
import type { Database } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { Attention } from './contract.ts';
import type { Cursors } from './cursor.ts';

/** What operators' rows work with. */
export interface OperatorRooms {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly cursors: Cursors;
  readonly catalog: () => Snapshot;
  readonly vendors: ReadonlyMap<string, Vendor>;
  /** The list that comes with the program, read when somebody asks for it. */
  readonly bundled: () => Promise<Bundled>;
  readonly listFees: ListFees;
  /** What other rooms have to prove of the ledger, by rule (ledger/check.ts). */
  readonly proofs: Readonly<Record<string, string>>;
  /** What others have to say that needs somebody: payments that nobody can match, for instance. */
  readonly attention: readonly ((now: number) => Promise<readonly Attention[]>)[];
}
