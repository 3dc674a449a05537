import assert from 'node:assert/strict';
import { byCommand, writeAudit } from '../accounts/audit.ts';
import { formatYuan } from '../base/money.ts';
import type { Bundled } from '../catalog/bundled.ts';
import type { VendorFacts } from '../catalog/configuration.ts';
import { lockCatalogVersion } from '../catalog/editing.ts';
import { readStoredCatalog } from '../catalog/stored-catalog.ts';
import { openingsOf } from '../ledger/transfers.ts';
import type { Database, Transaction } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { ForeignInstallation, UnitWorth } from './new-api.ts';
import { readRatios } from './ratios.ts';
import { earlierImports } from './import-records.ts';
import {
  changed,
  type ImportProgress,
  type ImportSummary,
  newReport,
  importParts,
} from './report.ts';
import { importGroups, importModels } from './model-importer.ts';
import { importChannels } from './channel-importer.ts';
import { importKeys, type ImportedUsers, importUsers } from './user-importer.ts';

export interface ImportOptions {
  /**
   * The name of the foreign installation: a second import under the same name imports only what is
   * new.
   */
  readonly origin: string;
  readonly worth: UnitWorth;
  /** False: a dry run, which makes all changes, reports them and rolls them back. */
  readonly apply: boolean;
  readonly sealer: Sealer;
  readonly vendors: readonly VendorFacts[];
  /** The bundled list, with prices converted at the rate of `worth`. */
  readonly bundled: Bundled;
  /** Wall clock, ms. */
  readonly at: number;
  readonly onProgress?: ImportProgress;
}

/** Rolls back the transaction of a dry run. */
class DryRunRollback extends Error {}

/**
 * Imports another gateway's database: all of it in one transaction, or nothing. Earlier imports are
 * left alone, so that a second run adds new entries and changes nothing else. Returns the report.
 */
export async function runImport(
  database: Database,
  foreign: ForeignInstallation,
  options: ImportOptions,
): Promise<ImportSummary> {
  let report: ImportSummary | undefined;
  try {
    await database.transact(function* () {
      report = yield* importAll(foreign, options);
      if (!options.apply) throw new DryRunRollback();
    });
  } catch (error) {
    if (!(error instanceof DryRunRollback)) throw error;
  }
  assert(report !== undefined, 'an import ends with its report');
  return report;
}

function* importAll(
  foreign: ForeignInstallation,
  { origin, worth, sealer, vendors, bundled, at, onProgress = () => {} }: ImportOptions,
): Transaction<ImportSummary> {
  // Takes the catalog's lock first: a concurrent import waits, and then finds everything
  // imported.
  yield* lockCatalogVersion();
  const report = newReport();
  const imported = yield* earlierImports(origin, at);
  const by = { source: 'import', reason: `imported from ${origin}`, at } as const;
  const ratios = readRatios(foreign, worth);
  report.notes.push(...ratios.notes);
  const catalogContext = { sealer, vendors, bundled, by, imported, report, ratios, onProgress };
  yield* importGroups(foreign, catalogContext);
  yield* importChannels(foreign, yield* importModels(foreign, catalogContext), catalogContext);
  const userContext = { origin, imported, report, worth, at, onProgress };
  const users = yield* importUsers(foreign, userContext);
  const { groups } = yield* readStoredCatalog();
  yield* importKeys(foreign, users, new Set(groups.map(({ name }) => name)), userContext);
  yield* prove(origin, users, report);
  if (changed(report))
    yield* writeAudit(at, {
      ...byCommand,
      action: 'import.apply',
      target: `import:${origin}`,
      after: summary(report),
    });
  return report;
}

function summary(report: ImportSummary): Readonly<Record<string, unknown>> {
  return {
    ...Object.fromEntries(importParts.map((part) => [part, report[part].taken])),
    transferred: formatYuan(report.sums.transferred),
  };
}

/**
 * Asserts that every opening balance of this import is a transfer and the balance of its account.
 */
function* prove(origin: string, users: ImportedUsers, { sums }: ImportSummary): Transaction<void> {
  const made = new Map((yield* openingsOf(origin)).map((row) => [row.account, row]));
  for (const { ours, opening } of users.values()) {
    if (opening === undefined) continue;
    const { amount, balance } = made.get(ours) ?? { amount: undefined, balance: undefined };
    assert(
      amount === opening && balance === opening,
      `balances add up: ${opening} there, a transfer of ${amount} and a balance of ${balance} here`,
    );
    sums.compared++;
  }
}
