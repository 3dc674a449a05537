import type { Row, Transaction } from '../storage/database.ts';
import type { Bundled } from './bundled.ts';
import { changedFacts, factsOfWritten } from './config-entries.ts';
import { modelSchema } from './config-schema.ts';
import {
  asWritten,
  editableRow,
  type EditDone,
  type EditResult,
  nullMembers,
  type EditTarget,
  rowOf,
  type CatalogTable,
  writeRow,
  type WrittenMembers,
  lockCatalogVersion,
} from './editing.ts';
import type { ConfigPath } from './problem.ts';
import { presentAndComingPrices, type PriceAuthor, publishPrice } from './price-versions.ts';
import { storedModel, type StoredModel } from './stored-catalog.ts';
import { type ConfigReport, reportWithoutLines } from './config-report.ts';
import type { ModelFacts } from './snapshot.ts';
import { factsText, priceText } from './price-json.ts';
import { checkImageVariants, readPrice } from './config-price.ts';
import { priceLacks } from './price-members.ts';

export const modelTable: CatalogTable<StoredModel> = {
  name: 'models',
  key: 'id',
  read: storedModel,
};

/** The author of a model, and the time (wall clock, ms). */
export type ModelAuthor = PriceAuthor & { readonly at: number };

/**
 * Makes a model from members written as in the configuration file, price included. A model that was
 * sold before is sold again, with its first `created`. One that is written by its id alone gets
 * the facts and the price that it had, else those of the bundled list.
 */
export function* addModel(
  written: WrittenMembers,
  bundled: Bundled,
  by: ModelAuthor,
): Transaction<EditResult<StoredModel>> {
  yield* lockCatalogVersion();
  const report = reportWithoutLines();
  const id = String(written['id']);
  const row = yield* rowOf(modelTable, id);
  const known = bundled.get(id)?.facts;
  const alone = Object.keys(written).every((name) => name === 'id');
  const whole = alone ? (row === undefined ? known : storedModel(row)) : undefined;
  const model = whole ?? modelFrom(written, known, report);
  if (model === undefined || !report.clean) return { kind: 'wrong', problems: report.problems };
  if (row?.['active'] === 1n) return { kind: 'exists' };
  return yield* putModel(model, row, by);
}

/** Writes a model that was not sold until now. */
export function* putModel(
  model: ModelFacts,
  row: Row | undefined,
  by: ModelAuthor,
): Transaction<EditDone<StoredModel>> {
  const price = priceText(model.price);
  const created = row?.['created'] ?? Math.floor(by.at / 1_000);
  // No configuration has named its price: any price that one names later is a new one.
  const columns = {
    id: model.id,
    facts: factsText(model),
    configured_price: '',
    price,
    created,
    active: 1n,
    origin: 'console',
  };
  const done = yield* writeRow(modelTable, row, columns, by.at);
  if (row?.['price'] !== price) yield* publishPrice(model.id, model.price, by);
  const after = yield* rowOf(modelTable, model.id);
  return { ...done, ...(after && { after: storedModel(after) }) };
}

/**
 * Changes the facts of a model; a price is published, not changed. Members that are left out stay,
 * members that are null become unknown. A kind is taken only where the prices, also those that
 * wait, are complete for it, and the terms of images only where requests can name all that the
 * prices name.
 */
export function* changeModel(
  read: EditTarget,
  written: WrittenMembers,
  at: number,
): Transaction<EditResult<StoredModel>> {
  yield* lockCatalogVersion();
  const found = yield* editableRow(modelTable, read);
  if ('kind' in found) return found;
  const { row } = found;
  const report = reportWithoutLines();
  const change = report.parse(changeSchema, asWritten(written), []);
  if (change === undefined) return { kind: 'wrong', problems: report.problems };
  const before = storedModel(row);
  const facts = changedFacts(before, change, nullMembers(written));
  if (facts.kind !== before.kind || facts.image !== before.image)
    for (const price of yield* presentAndComingPrices(read.name)) {
      const lacks = facts.kind === before.kind ? undefined : priceLacks(facts.kind, price);
      if (lacks !== undefined) report.add(['kind'], lacks);
      checkImageVariants({ ...facts, price }, report, ['price']);
    }
  if (!report.clean) return { kind: 'wrong', problems: report.problems };
  return yield* writeRow(
    modelTable,
    row,
    { id: read.name, facts: factsText(facts), ...pickOf(row) },
    at,
  );
}

const changeSchema = modelSchema.omit({ id: true, price: true }).partial();

/** The columns that an INSERT would need, unchanged. */
function pickOf({ configured_price: configured = '', price = '', created = 0n, active = 0n }: Row) {
  return { configured_price: configured, price, created, active };
}

/** Ends the sale of a model, which keeps its row, its prices and its `created`. */
export function* retireModel(read: EditTarget, at: number): Transaction<EditResult<StoredModel>> {
  yield* lockCatalogVersion();
  if ((yield* rowOf(modelTable, read.name))?.['active'] !== 1n) return { kind: 'absent' };
  const found = yield* editableRow(modelTable, read);
  if ('kind' in found) return found;
  const { row } = found;
  const done = yield* writeRow(
    modelTable,
    row,
    { id: read.name, facts: row['facts'] ?? '', ...pickOf(row), active: 0n },
    at,
  );
  return { ...done, after: undefined };
}

/**
 * A model as written; `known` supplies the owner and the image terms. Problems are reported below
 * `path`.
 */
export function modelFrom(
  written: unknown,
  known: ModelFacts | undefined,
  report: ConfigReport,
  path: ConfigPath = [],
): ModelFacts | undefined {
  const model = report.parse(modelSchema, asWritten(written), path);
  if (model === undefined) return undefined;
  const price = readPrice(model.kind ?? 'chat', model.price, report, [...path, 'price']);
  const owner = { ownedBy: known?.ownedBy ?? 'unknown', image: known?.image };
  const facts = factsOfWritten(model, owner, price);
  checkImageVariants(facts, report, [...path, 'price']);
  return facts;
}
