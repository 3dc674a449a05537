import { decimalText } from '../base/money.ts';
import type { Transaction } from '../storage/database.ts';
import { groupSchema } from './config-schema.ts';
import { groupFacts } from './config-entries.ts';
import { reportWithoutLines } from './config-report.ts';
import { ppmPlaces } from './decimal.ts';
import {
  asWritten,
  editableRow,
  type EditResult,
  type EditTarget,
  removeRow,
  rowOf,
  type CatalogTable,
  writeRow,
  type WrittenMembers,
  lockCatalogVersion,
} from './editing.ts';
import { storedGroup, type StoredGroup, groupColumns } from './stored-catalog.ts';

const table: CatalogTable<StoredGroup> = { name: 'model_groups', key: 'name', read: storedGroup };

/**
 * Makes a group from members written as in the configuration file: `{name, price_multiplier,
 * limits: {rpm, tpm, concurrency}, policy, fallback_models}`.
 */
export function* addGroup(
  written: WrittenMembers,
  at: number,
): Transaction<EditResult<StoredGroup>> {
  yield* lockCatalogVersion();
  return yield* save(written, undefined, at);
}

/** Members that are left out stay, and a limit that is null is removed. The name never changes. */
export function* changeGroup(
  read: EditTarget,
  written: WrittenMembers,
  at: number,
): Transaction<EditResult<StoredGroup>> {
  yield* lockCatalogVersion();
  const found = yield* editableRow(table, read);
  if ('kind' in found) return found;
  return yield* save(written, storedGroup(found.row), at);
}

function* save(
  written: WrittenMembers,
  before: StoredGroup | undefined,
  at: number,
): Transaction<EditResult<StoredGroup>> {
  const report = reportWithoutLines();
  const group = report.parse(
    groupSchema,
    asWritten(before === undefined ? written : merged(before, written)),
    [],
  );
  if (group === undefined) return { kind: 'wrong', problems: report.problems };
  const row = yield* rowOf(table, group.name);
  if (before === undefined && row !== undefined) return { kind: 'exists' };
  return yield* writeRow(table, row, { ...groupColumns(groupFacts(group)), origin: 'console' }, at);
}

function merged(
  { name, multiplierPpm, limits, policy, fallbackModels }: StoredGroup,
  { limits: changed, ...written }: WrittenMembers,
): WrittenMembers {
  const others = typeof changed === 'object' && changed !== null ? changed : {};
  return {
    price_multiplier: decimalText(multiplierPpm, ppmPlaces),
    policy,
    fallback_models: fallbackModels,
    ...written,
    name,
    limits: { ...limits, ...others },
  };
}

/** Removes the group. Does not look for keys and channels that still name it. */
export function* removeGroup(read: EditTarget): Transaction<EditResult<StoredGroup>> {
  yield* lockCatalogVersion();
  const found = yield* editableRow(table, read);
  return 'kind' in found ? found : yield* removeRow(table, found.row);
}
