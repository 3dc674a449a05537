import { activeKeysByGroup } from '../accounts/user-keys.ts';
import { decimalText } from '../base/money.ts';
import type { Bundled } from '../catalog/bundled.ts';
import { writtenFacts } from '../catalog/config-entries.ts';
import { reportWithoutLines } from '../catalog/config-report.ts';
import { defaultGroup } from '../catalog/configuration.ts';
import { ppmPlaces, roundedUp } from '../catalog/decimal.ts';
import type { ChannelEditContext } from '../catalog/edit-channels.ts';
import { addGroup, changeGroup } from '../catalog/edit-groups.ts';
import { modelFrom, modelTable, putModel } from '../catalog/edit-models.ts';
import { type EditResult, rowOf, type WrittenMembers, catalogTopic } from '../catalog/editing.ts';
import type { ConfigProblem } from '../catalog/problem.ts';
import { priceDifferences } from '../catalog/price-differences.ts';
import {
  readStoredCatalog,
  type StoredCatalog,
  type StoredGroup,
} from '../catalog/stored-catalog.ts';
import type { ModelKind } from '../catalog/snapshot.ts';
import { priceText } from '../catalog/price-json.ts';
import { bump } from '../storage/changes.ts';
import type { Transaction } from '../storage/database.ts';
import kinds from './data/model-kinds.json' with { type: 'json' };
import type { ForeignInstallation } from './new-api.ts';
import type { Ratios } from './ratios.ts';
import { anyImportBrought, type EarlierImports } from './import-records.ts';
import { type ImportProgress, type ImportSummary, leaveOut } from './report.ts';

/** The context of an import into the catalog. */
export interface ImportContext extends ChannelEditContext {
  readonly imported: EarlierImports;
  readonly report: ImportSummary;
  readonly ratios: Ratios;
  readonly onProgress: ImportProgress;
}

/**
 * Imports the groups that users, keys or channels name, or that have a ratio. A group that exists
 * here keeps its multiplier.
 */
export function* importGroups(
  foreign: ForeignInstallation,
  { imported, report, ratios, by }: ImportContext,
): Transaction<void> {
  const { groups: present } = yield* readStoredCatalog();
  const ours = new Map(present.map((group) => [group.name, group]));
  for (const name of groupsOf(foreign, ratios)) {
    if (imported.before('group', name) !== undefined) {
      report.groups.before++;
      continue;
    }
    const what = `group ${name}`;
    const ratio = ratios.groups.get(name);
    const multiplierPpm = ratio === undefined ? 1_000_000n : roundedUp(ratio, ppmPlaces);
    const refused = yield* importGroup(name, multiplierPpm, ours.get(name), by.at);
    if (refused === undefined) {
      const multiplier = decimalText(multiplierPpm, ppmPlaces);
      report.groups.taken++;
      report.multipliers.push({ group: name, multiplier });
      yield* imported.remember('group', name, name, multiplier);
    } else leaveOut(report, 'groups', what, refused);
    if (ratio === undefined)
      report.notes.push({ what, note: 'no ratio is saved for it: prices are not multiplied' });
    if (multiplierPpm === 0n && refused === undefined)
      report.notes.push({ what, note: 'everything is free there, and here' });
    if (ratios.usable?.has(name) === false)
      report.notes.push({
        what,
        note: 'users could not choose it there (UserUsableGroups); here everybody may make a key of it',
      });
  }
}

/** Makes one group; returns the reason why it is left out, if it is. */
function* importGroup(
  name: string,
  multiplierPpm: bigint,
  own: StoredGroup | undefined,
  at: number,
): Transaction<string | undefined> {
  const multiplier = decimalText(multiplierPpm, ppmPlaces);
  const written = { name, price_multiplier: multiplier };
  if (own?.multiplierPpm === multiplierPpm) return undefined;
  if (own !== undefined && !(yield* isUnused(own)))
    return `it costs ${multiplier} there, and is here already with ${decimalText(own.multiplierPpm, ppmPlaces)}, which stays`;
  return refusalOf(
    own === undefined
      ? yield* addGroup(written, at)
      : yield* changeGroup({ name, version: undefined }, written, at),
  );
}

/** Whether it is the default group as each installation begins with it, and nobody pays by it. */
function* isUnused({ name, origin, version }: StoredGroup): Transaction<boolean> {
  if (name !== defaultGroup.name || origin !== 'console' || version !== 1) return false;
  return (
    !(yield* activeKeysByGroup()).has(name) &&
    !(yield* anyImportBrought('group', defaultGroup.name))
  );
}

function groupsOf(
  { users, keys, channels }: ForeignInstallation,
  { groups }: Ratios,
): readonly string[] {
  const named = [
    ...users.map(({ group }) => group),
    ...keys.map(({ group }) => group),
    ...channels.flatMap((channel) => channel.groups),
  ];
  return [...new Set([...groups.keys(), ...named])].filter(
    (name) => name !== '' && name !== 'auto',
  );
}

const messages = (problems: readonly ConfigProblem[]): string =>
  problems.map(({ path, message }) => `${path} ${message}`).join('; ');

/** The reason why an edit of the catalog was refused; undefined when it was done. */
export function refusalOf(edit: EditResult<unknown>): string | undefined {
  if (edit.kind === 'done') return undefined;
  return edit.kind === 'wrong' ? messages(edit.problems) : edit.kind;
}

/**
 * Imports the models that channels sell, with their prices. Returns the ids of all models that are
 * sold here afterwards.
 */
export function* importModels(
  foreign: ForeignInstallation,
  context: ImportContext,
): Transaction<ReadonlySet<string>> {
  const { imported, report } = context;
  const recorded = yield* readStoredCatalog();
  const sold = new Set(recorded.models.filter(({ active }) => active).map(({ id }) => id));
  let changed = false;
  for (const id of new Set(foreign.channels.flatMap(({ models }) => models))) {
    if (imported.before('model', id) !== undefined) {
      report.models.before++;
      continue;
    }
    const done = yield* importModel(id, sold.has(id), recorded, context);
    if (done === undefined) continue;
    sold.add(id);
    report.models.taken++;
    changed = true;
    yield* imported.remember('model', id, id, done);
  }
  if (changed) yield bump(catalogTopic);
  return sold;
}

/**
 * Imports one model; returns its price as stored, or undefined when the model is left out. A model
 * that is sold here keeps its price: users count on it.
 */
function* importModel(
  id: string,
  isSold: boolean,
  { models }: StoredCatalog,
  context: ImportContext,
): Transaction<string | undefined> {
  const { imported, report, ratios, bundled } = context;
  const known = bundled.get(id);
  const own = models.find((model) => model.id === id);
  const kind = own?.kind ?? known?.facts.kind ?? kindNamed(id);
  const ratio = ratios.priceOf(id, kind, known);
  if (typeof ratio === 'string') {
    const stays = isSold ? own?.price : known?.facts.price;
    if (stays === undefined) {
      leaveOut(report, 'models', `model ${id}`, `${ratio}; name a price and import again`);
      return undefined;
    }
    report.notes.push({
      what: `model ${id}`,
      note: `${ratio}: it costs what ${isSold ? 'it costs here' : 'the bundled list says'}`,
    });
    return isSold ? priceText(stays) : yield* begin(id, known?.facts, context);
  }
  const problems = reportWithoutLines();
  const facts = modelFrom(writtenModel(id, kind, known, ratio.price), known?.facts, problems);
  if (facts === undefined || !problems.clean) {
    leaveOut(report, 'models', `model ${id}`, messages(problems.problems));
    return undefined;
  }
  const stays = isSold ? own?.price : undefined;
  const differences = stays === undefined ? [] : priceDifferences(stays, facts.price);
  if (stays !== undefined && differences.length > 0) {
    const both = differences.map(
      ({ member, from = 'none', to = 'none' }) => `${member} ${from} here, ${to} there`,
    );
    const why = `it is sold here already, at a price that stays: ${both.join('; ')}`;
    leaveOut(report, 'models', `model ${id}`, why);
    // A later import must not sell it at the other price where an operator has delisted it since.
    yield* imported.remember('model', id, id, priceText(stays));
    return undefined;
  }
  report.prices.push({ model: id, price: ratio.price });
  report.notes.push(...ratio.notes.map((note) => ({ what: `model ${id}`, note })));
  if (Object.values(ratio.price).every((yuan) => yuan === '0'))
    report.notes.push({ what: `model ${id}`, note: 'it is free there, and here' });
  return isSold ? priceText(facts.price) : yield* begin(id, facts, context);
}

function* begin(
  id: string,
  facts: Parameters<typeof putModel>[0] | undefined,
  { by }: ImportContext,
): Transaction<string | undefined> {
  if (facts === undefined) return undefined;
  yield* putModel(facts, yield* rowOf(modelTable, id), by);
  return priceText(facts.price);
}

function writtenModel(
  id: string,
  kind: ModelKind,
  known: ReturnType<Bundled['get']>,
  price: Readonly<Record<string, string>>,
): WrittenMembers {
  return { id, kind, ...(known && writtenFacts(known.facts)), price };
}

/** The kind of a model that no list knows, judged by its name. */
function kindNamed(id: string): ModelKind {
  const found = kinds.find(({ named }) => new RegExp(named, 'i').test(id));
  // The tests of this directory check the kinds in the file.
  return found === undefined ? 'chat' : (found.kind as ModelKind);
}
