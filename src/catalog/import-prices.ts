import type { Clock } from '../base/clock.ts';
import { reason } from '../base/reason.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import type { Bundled } from './bundled.ts';
import { pricedModelSchema } from './config-schema.ts';
import { type ModelAuthor, modelFrom, modelTable, putModel } from './edit-models.ts';
import { rowOf, catalogTopic, lockCatalogVersion } from './editing.ts';
import { ConfigReport, member, reportDuplicates, unknownName } from './config-report.ts';
import { isFarOffNew, type PriceDifference, priceDifferences } from './price-differences.ts';
import type { ConfigPath, ConfigProblem } from './problem.ts';
import type { Price } from './price.ts';
import { publishPrice } from './price-versions.ts';
import { windowTexts } from './price-windows.ts';
import type { ModelFacts } from './snapshot.ts';
import { parseFacts } from './price-json.ts';
import { checkImageVariants, readPrice } from './config-price.ts';
import type { YamlSource } from './yaml-source.ts';

/** The changes that an import makes, or would make in a dry run. */
export interface PriceImport {
  /**
   * False in a dry run, when a line is refused or a price is far off (then nothing is imported),
   * and when nothing differs.
   */
  readonly applied: boolean;
  /** New models, where the import may add some (`brings`). */
  readonly added: readonly ModelFacts[];
  readonly changed: readonly {
    readonly id: string;
    readonly differences: readonly PriceDifference[];
    /** Hours that have no price of their own any more: `09:00–12:00 ×2`. */
    readonly windowsRemoved: readonly string[];
  }[];
  readonly unchanged: readonly string[];
  readonly refused: readonly ConfigProblem[];
  /** Models with a price that was probably written for another unit. */
  readonly farOff: readonly string[];
}

/** How a list is imported. */
export interface ImportTerms {
  /** Undefined: a dry run. */
  readonly by?: ModelAuthor | undefined;
  /** Entries of models that are not sold become new models. */
  readonly brings?: Bundled;
  /** Prices that are far off are meant so. */
  readonly acceptFarOff?: boolean | undefined;
}

interface ImportRun extends Pick<ImportTerms, 'acceptFarOff'> {
  readonly dry: boolean;
  readonly clock: Clock;
}

/**
 * Imports a list of prices, YAML or JSON: `[{ id, price }, …]`, alone or as the member `models`,
 * with prices as in the configuration file. Only models that are sold now have prices to change.
 * One refused entry prevents all changes; otherwise all changes are made at once, and reach every
 * process within a second. `beside` runs in the same transaction, when something changes.
 */
export async function importPrices(
  database: Database,
  text: string,
  { dry, clock, acceptFarOff }: ImportRun,
  beside?: (done: PriceImport) => Transaction<unknown>,
): Promise<PriceImport> {
  const source = await readPriceList(text);
  if (dry) return database.snapshot(() => importing(source, {}));
  return database.transact(function* () {
    const by = { source: 'import', at: clock.now() } as const;
    const done = yield* importing(source, { by, acceptFarOff });
    if (done.applied && beside !== undefined) yield* beside(done);
    return done;
  });
}

/** The parser of YAML is loaded by the first list. */
export async function readPriceList(text: string): Promise<YamlSource> {
  const { readYaml } = await import('./yaml-source.ts');
  return readYaml(text);
}

/** The import inside a transaction. */
export function* importing(
  source: YamlSource,
  { by, brings, acceptFarOff = false }: ImportTerms,
): Transaction<PriceImport> {
  if (by !== undefined) yield* lockCatalogVersion();
  const sold = new Map(
    (yield { sql: 'SELECT id, facts, price FROM models WHERE active = 1', params: [] }).map(
      (row) => [String(row['id']), row],
    ),
  );
  const report = new ConfigReport(source);
  const added: ModelFacts[] = [];
  const entries = readEntries(source.value, sold, report, (item, path) => {
    const model =
      brings && modelFrom(item, brings.get(String(member(item, 'id')))?.facts, report, path);
    if (model !== undefined) added.push(model);
    return brings !== undefined;
  });
  const compared = entries.map(({ id, old, price }) => ({
    id,
    price,
    differences: priceDifferences(old, price),
    windowsRemoved: windowTexts(old).filter((text) => !windowTexts(price).includes(text)),
  }));
  const changed = compared.filter(({ differences }) => differences.length > 0);
  const farOff = [
    ...added.filter(({ price }) => isFarOffNew(price)),
    ...changed.filter(({ differences }) => differences.some((one) => one.farOff)),
  ].map(({ id }) => id);
  const wanted = report.clean && changed.length + added.length > 0;
  const applied = by !== undefined && wanted && (acceptFarOff || farOff.length === 0);
  if (applied) {
    for (const model of added) yield* putModel(model, yield* rowOf(modelTable, model.id), by);
    for (const { id, price } of changed) yield* publishPrice(id, price, by);
    yield bump(catalogTopic);
  }
  return {
    applied,
    added,
    changed: changed.map(({ price: _, ...rest }) => rest),
    unchanged: compared.filter(({ differences }) => differences.length === 0).map(({ id }) => id),
    refused: report.problems,
    farOff,
  };
}

interface Entry {
  readonly id: string;
  readonly old: Price;
  readonly price: Price;
}

/**
 * `isNew` is called for an entry of a model that is not sold; it returns false when there is no
 * such model.
 */
function readEntries(
  value: unknown,
  sold: ReadonlyMap<string, Row>,
  report: ConfigReport,
  isNew: (item: unknown, path: ConfigPath) => boolean,
): readonly Entry[] {
  const within = Array.isArray(value) ? [] : ['models'];
  const list: unknown = Array.isArray(value) ? value : member(value, 'models');
  if (!Array.isArray(list)) {
    if (report.clean) report.add([], reason('not_a_price_list'));
    return [];
  }
  reportDuplicates(list, within, 'id', report);
  return list.flatMap((item: unknown, index) => {
    const entry = report.parse(pricedModelSchema, item, [...within, index]);
    if (entry === undefined) return [];
    const row = sold.get(entry.id);
    if (row === undefined) {
      if (isNew(item, [...within, index])) return [];
      report.add(
        [...within, index, 'id'],
        reason('unknown_model', unknownName(entry.id, sold.keys())),
      );
      return [];
    }
    const facts = parseFacts(entry.id, String(row['facts']), String(row['price']));
    const path = [...within, index, 'price'];
    const price = readPrice(facts.kind, entry.price, report, path);
    checkImageVariants({ ...facts, price }, report, path);
    return [{ id: entry.id, old: facts.price, price }];
  });
}
