import { type Reason, reason } from '../base/reason.ts';
import type { Row, Transaction } from '../storage/database.ts';
import type { Sealer } from '../storage/seal.ts';
import type { Bundled } from './bundled.ts';
import { readChannels } from './config-entries.ts';
import { reportWithoutLines } from './config-report.ts';
import type { VendorFacts } from './configuration.ts';
import { addModel, type ModelAuthor, modelTable, putModel } from './edit-models.ts';
import {
  asWritten,
  type EditDone,
  editableRow,
  type EditRefused,
  type EditResult,
  type EditTarget,
  removeRow,
  rowOf,
  type CatalogTable,
  writeRow,
  type WrittenMembers,
  lockCatalogVersion,
} from './editing.ts';
import {
  readStoredCatalog,
  type ChannelSwitch,
  storedChannel,
  type StoredChannel,
  storedModel,
  type StoredModel,
  channelColumns,
  type Columns,
  costsText,
  openSecrets,
  secretColumns,
} from './stored-catalog.ts';
import { problemAt } from './problem.ts';
import type { ChannelFacts } from './snapshot.ts';

const table: CatalogTable<StoredChannel> = { name: 'channels', key: 'name', read: storedChannel };

/** The context of a change of channels. */
export interface ChannelEditContext {
  readonly sealer: Sealer;
  readonly vendors: readonly VendorFacts[];
  readonly bundled: Bundled;
  readonly by: ModelAuthor;
}

/**
 * A change of a channel that is done, with the models that are sold from now on because of it: none
 * where it was only switched or removed.
 */
export interface ChannelEdited extends EditDone<StoredChannel> {
  readonly models: readonly EditDone<StoredModel>[];
}

export type ChannelEditResult = ChannelEdited | EditRefused<StoredChannel>;

/**
 * Makes a channel from members written as in the configuration file, and from `costs`: the vendor's
 * prices, by model. Models that only the bundled list has are sold from now on at its prices,
 * delisted ones at those that they had; `newModels`, written as in the configuration file, at their
 * own.
 */
export function* addChannel(
  written: WrittenMembers,
  context: ChannelEditContext,
  newModels: readonly WrittenMembers[] = [],
): Transaction<ChannelEditResult> {
  const version = (yield* lockCatalogVersion()) + 1n;
  const added = yield* addModels(newModels, context);
  if ('kind' in added) return added;
  const facts = yield* read(written, context);
  if ('kind' in facts) return facts;
  const row = yield* rowOf(table, facts.name);
  if (row !== undefined) return { kind: 'exists' };
  const { sealer, by } = context;
  const secret = secretColumns(facts, undefined, { sealer, version, at: by.at });
  return yield* put(
    undefined,
    {
      ...channelColumns(facts),
      secret: null,
      ...secret,
      costs: costsText(facts.costs ?? new Map()),
      origin: 'console',
    },
    { facts, added },
    context,
  );
}

/**
 * Members that are left out stay as they are; `api_key` and `base_url` are removed by null. The
 * name never changes. `costs` may be entered for the configuration's channels, too. A number among
 * `api_keys` stands for one of the channel's present keys, counted from 1. A key belongs to one
 * host: an edit that changes the host must contain the key again. `newModels`: as in `addChannel`.
 */
export function* changeChannel(
  of: EditTarget,
  written: WrittenMembers,
  context: ChannelEditContext,
  newModels: readonly WrittenMembers[] = [],
): Transaction<ChannelEditResult> {
  const version = (yield* lockCatalogVersion()) + 1n;
  const costsAlone =
    newModels.length === 0 && Object.keys(written).every((name) => name === 'costs');
  const found = yield* editableRow(table, of, costsAlone);
  if ('kind' in found) return found;
  const { row } = found;
  const added = yield* addModels(newModels, context);
  if ('kind' in added) return added;
  const keys = keysOf(written, row, context);
  if (keys !== undefined && 'code' in keys) return wrong('api_keys', keys);
  const before = storedChannel(row);
  const facts = yield* read(
    {
      ...withoutKeys(writtenOf(before, row, context), written),
      ...written,
      ...(keys && { api_keys: keys }),
      name: of.name,
    },
    context,
    before.models,
  );
  if ('kind' in facts) return facts;
  const elsewhere = originOf(facts, context) !== originOf(before, context);
  if (elsewhere && facts.secret !== undefined && keepsKeys(written))
    return wrong('api_key', reason('key_of_another_host'));
  const { sealer, by } = context;
  const kept: Columns = { secret: row['secret'] ?? null, origin: row['origin'] ?? null };
  const secret = secretColumns(facts, row, { sealer, version, at: by.at });
  return yield* put(
    row,
    {
      ...channelColumns(facts),
      ...kept,
      ...secret,
      costs: facts.costs === undefined ? (row['costs'] ?? '{}') : costsText(facts.costs),
    },
    { facts, added },
    context,
  );
}

/** The origin that receives the channel's key. */
function originOf(
  { vendor, baseUrl }: Pick<ChannelFacts, 'vendor' | 'baseUrl'>,
  { vendors }: ChannelEditContext,
): string | undefined {
  const address = baseUrl ?? vendors.find(({ id }) => id === vendor)?.baseUrl;
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : undefined;
}

/** What is written, where it is right; `named` are the channel's models so far, sold or delisted. */
function* read(
  written: WrittenMembers,
  context: ChannelEditContext,
  named?: StoredChannel['models'],
): Transaction<ChannelFacts | Wrong> {
  const recorded = yield* readStoredCatalog();
  const kinds = (models: readonly StoredModel[]) =>
    models.map(({ id, kind }) => [id, kind] as const);
  const report = reportWithoutLines();
  const known = {
    groups: recorded.groups.map(({ name }) => name),
    models: new Map([
      ...kinds(recorded.models.filter(({ id }) => named?.has(id) === true)),
      ...[...context.bundled.values()].map(({ facts }) => [facts.id, facts.kind] as const),
      ...kinds(recorded.models.filter(({ active }) => active)),
    ]),
    bundled: context.bundled,
    vendors: context.vendors,
  };
  const [channel] = readChannels([asWritten(written)], report, known);
  if (channel !== undefined && report.clean) return channel;
  return {
    kind: 'wrong',
    problems: report.problems.map((problem) => ({
      ...problem,
      path: problem.path.replace(/^channels\[0\]\.?/, ''),
    })),
  };
}

/** Begins to sell the models at their own prices; one that is sold already stays as it is. */
function* addModels(
  models: readonly WrittenMembers[],
  { bundled, by }: ChannelEditContext,
): Transaction<Wrong | readonly EditDone<StoredModel>[]> {
  const done: EditDone<StoredModel>[] = [];
  for (const [index, model] of models.entries()) {
    const added = yield* addModel(model, bundled, by);
    if (added.kind === 'done') done.push(added);
    if (added.kind !== 'wrong') continue;
    const problems = added.problems.map((problem) => ({
      ...problem,
      path: `new_models[${index}]${problem.path === '' ? '' : `.${problem.path}`}`,
    }));
    return { kind: 'wrong', problems };
  }
  return done;
}

type Wrong = Extract<EditResult<never>, { kind: 'wrong' }>;

const wrong = (path: string, why: Reason): Wrong => ({
  kind: 'wrong',
  problems: [problemAt(0, path, why)],
});

/** Whether the edit keeps some of the present keys. */
function keepsKeys({ api_key: one, api_keys: several }: WrittenMembers): boolean {
  return Array.isArray(several)
    ? several.some((key) => typeof key === 'number')
    : one === undefined;
}

/**
 * The keys with numbers replaced by the keys that they stand for, or what is wrong with them.
 * undefined: there are no numbers.
 */
function keysOf(
  { api_keys: keys }: WrittenMembers,
  row: Row,
  { sealer }: ChannelEditContext,
): readonly unknown[] | Reason | undefined {
  if (!Array.isArray(keys) || !keys.some((key) => typeof key === 'number')) return undefined;
  const { secret, moreSecrets = [] } = openSecrets(row, sealer);
  const own = secret === undefined ? [] : [secret, ...moreSecrets];
  const absent = keys.find((key) => typeof key === 'number' && own[key - 1] === undefined);
  if (absent !== undefined) return reason('no_such_key', { number: String(absent) });
  return keys.map((key: unknown) => (typeof key === 'number' ? own[key - 1] : key));
}

/** A change that writes one key member replaces all keys. */
function withoutKeys(
  { api_key, api_keys, ...rest }: WrittenMembers,
  changed: WrittenMembers,
): WrittenMembers {
  return 'api_key' in changed || 'api_keys' in changed ? rest : { ...rest, api_key, api_keys };
}

function writtenOf(
  channel: StoredChannel,
  row: Row,
  { sealer }: ChannelEditContext,
): WrittenMembers {
  const {
    vendor,
    baseUrl,
    groups,
    priority,
    weight,
    durations,
    billsCancelledInput: bills,
  } = channel;
  const models = [...channel.models].map(([id, upstream]) => ({
    id,
    upstream,
    durations: durations?.get(id),
  }));
  const { secret, moreSecrets } = openSecrets(row, sealer);
  const keys =
    moreSecrets === undefined ? { api_key: secret } : { api_keys: [secret, ...moreSecrets] };
  return {
    vendor,
    base_url: baseUrl,
    ...keys,
    groups,
    models,
    priority,
    weight,
    bills_cancelled_input: bills,
  };
}

interface Written {
  readonly facts: ChannelFacts;
  readonly added: readonly EditDone<StoredModel>[];
}

/**
 * Writes the channel. Models that it names from now on and that are not sold begin to be sold with
 * it, as those that were added did: a delisted one as it was. One that was delisted while the
 * channel named it stays so.
 */
function* put(
  row: Row | undefined,
  columns: Columns,
  { facts, added }: Written,
  context: ChannelEditContext,
): Transaction<ChannelEdited> {
  const models = [...added];
  const named = row === undefined ? undefined : storedChannel(row).models;
  for (const id of facts.models.keys()) {
    const model = yield* rowOf(modelTable, id);
    const bundled = context.bundled.get(id)?.facts;
    const delisted = model !== undefined && named?.has(id) === true;
    if (model?.['active'] === 1n || delisted || bundled === undefined) continue;
    const begun = model === undefined ? bundled : storedModel(model);
    models.push(yield* putModel(begun, model, context.by));
  }
  return { ...(yield* writeRow(table, row, columns, context.by.at)), models };
}

/** Takes a channel out of use, or puts it back; also a channel of the configuration. */
export function* switchChannel(
  of: EditTarget,
  state: ChannelSwitch,
  at: number,
): Transaction<ChannelEditResult> {
  yield* lockCatalogVersion();
  const found = yield* editableRow(table, of, true);
  if ('kind' in found) return found;
  const { changed_at: _, version: __, ...columns } = found.row;
  const done = yield* writeRow(table, found.row, { name: of.name, ...columns, state }, at);
  return { ...done, models: [] };
}

export function* removeChannel(of: EditTarget): Transaction<ChannelEditResult> {
  yield* lockCatalogVersion();
  const found = yield* editableRow(table, of);
  if ('kind' in found) return found;
  return { ...(yield* removeRow(table, found.row)), models: [] };
}
