import type { Script } from '../storage/database.ts';
import { groupSchema } from './config-schema.ts';
import { groupFacts } from './config-groups.ts';
import { decimalText } from './decimal.ts';
import {
  asWritten,
  barred,
  type Edited,
  lineless,
  type Read,
  remove,
  rowOf,
  type Table,
  write,
  type Written,
} from './editing.ts';
import { recordedGroup, type RecordedGroup } from './recorded.ts';
import { groupColumns } from './rows.ts';
import { lockVersion } from './topic.ts';

const table: Table<RecordedGroup> = { name: 'model_groups', key: 'name', read: recordedGroup };

/**
 * Makes a group of what is written as in the configuration file:
 * `{name, price_multiplier, limits: {rpm, tpm, concurrency}, policy}`.
 */
export function* addGroup(written: Written, at: number): Script<Edited<RecordedGroup>> {
  yield* lockVersion();
  return yield* save(written, undefined, at);
}

/** What is left out stays, a limit that is null goes. The name is for ever. */
export function* changeGroup(
  read: Read,
  written: Written,
  at: number,
): Script<Edited<RecordedGroup>> {
  yield* lockVersion();
  const row = yield* rowOf(table, read.name);
  const no = barred(table, row, read.version);
  if (no !== undefined || row === undefined) return no ?? { kind: 'absent' };
  return yield* save(written, recordedGroup(row), at);
}

function* save(
  written: Written,
  before: RecordedGroup | undefined,
  at: number,
): Script<Edited<RecordedGroup>> {
  const report = lineless();
  const group = report.parse(
    groupSchema,
    asWritten(before === undefined ? written : merged(before, written)),
    [],
  );
  if (group === undefined) return { kind: 'wrong', problems: report.problems };
  const row = yield* rowOf(table, group.name);
  if (before === undefined && row !== undefined) return { kind: 'exists' };
  return yield* write(table, row, { ...groupColumns(groupFacts(group)), origin: 'console' }, at);
}

function merged(
  { name, multiplierPpm, limits, policy }: RecordedGroup,
  { limits: changed, ...written }: Written,
): Written {
  const others = typeof changed === 'object' && changed !== null ? changed : {};
  return {
    price_multiplier: decimalText(multiplierPpm, 6),
    policy,
    ...written,
    name,
    limits: { ...limits, ...others },
  };
}

/** Keys and channels that name the group are others' business: whoever removes it has looked. */
export function* removeGroup(read: Read): Script<Edited<RecordedGroup>> {
  yield* lockVersion();
  const row = yield* rowOf(table, read.name);
  const no = barred(table, row, read.version);
  return no !== undefined || row === undefined
    ? (no ?? { kind: 'absent' })
    : yield* remove(table, row);
}
