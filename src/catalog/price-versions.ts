import assert from 'node:assert/strict';
import type { Clock } from '../base/clock.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { type OnError, repeat, type Repeated } from '../storage/repeat.ts';
import type { Price } from './price.ts';
import { parsePrice, priceText } from './price-json.ts';
import { catalogTopic, lockCatalogVersion } from './editing.ts';

const lookEveryMs = 1_000;

/** The author of a price. */
export interface PriceAuthor {
  readonly source: 'configuration' | 'import' | 'console';
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
}

/** A past, present or future price of a model. Times are wall clock, ms. */
export interface StoredPriceVersion extends PriceAuthor {
  readonly model: string;
  readonly version: number;
  readonly price: Price;
  readonly publishedAt: number;
  readonly effectiveAt: number;
}

/**
 * Adds a version of the price of a model that exists; returns the version's number. The caller
 * bumps the catalog's version. A version with a later `effectiveAt` waits. The latest version
 * that has begun is in force, and so replaces all earlier ones that still wait.
 */
export function* publishPrice(
  model: string,
  price: Price,
  {
    at,
    effectiveAt = at,
    source,
    actor,
    reason,
  }: PriceAuthor & { readonly at: number; readonly effectiveAt?: number },
): Transaction<number> {
  const [last] = yield {
    sql: 'SELECT MAX(version) AS version FROM price_versions WHERE model=$1',
    params: [model],
  };
  const version = Number(last?.['version'] ?? 0) + 1;
  yield {
    sql: `INSERT INTO price_versions (model, version, price, source, actor, reason, published_at, effective_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    params: [
      model,
      version,
      priceText(price),
      source,
      actor ?? null,
      reason ?? null,
      at,
      effectiveAt,
    ],
  };
  yield* putInForce(model, at);
  return version;
}

/** Writes the price that is in force at `at` into the model's row. */
function* putInForce(model: string, at: number): Transaction<void> {
  const latest =
    'SELECT version, price FROM price_versions WHERE model=$1 AND effective_at<=$2 ORDER BY version DESC LIMIT 1';
  const [now] = yield { sql: latest, params: [model, at] };
  assert(now !== undefined, `model ${model} has a price`);
  const { version = 0n, price = null } = now;
  yield {
    sql: `UPDATE models SET price=$2, price_version=$3,
      next_price_at=(SELECT MIN(effective_at) FROM price_versions WHERE model=$1 AND version>$3 AND effective_at>$4) WHERE id=$1`,
    params: [model, price, version, at],
  };
}

/**
 * Puts in force the prices whose time has come; returns how many models have a new price. Cheap
 * enough to run every second.
 */
export async function bringPricesInForce(database: Database, now: number): Promise<number> {
  const due = 'SELECT id FROM models WHERE next_price_at<=$1';
  if ((await database.query(due, [now])).length === 0) return 0;
  return database.transact(function* (): Transaction<number> {
    // A price that is being published replaces those that wait: it is committed, and seen, first.
    yield* lockCatalogVersion();
    const models = yield { sql: due, params: [now] };
    for (const row of models) yield* putInForce(String(row['id']), now);
    yield bump(catalogTopic);
    return models.length;
  });
}

/** Looks for prices whose time has come, every second. */
export function keepPricesInForce(database: Database, clock: Clock, onError: OnError): Repeated {
  const keep = () => bringPricesInForce(database, clock.now());
  return repeat('prices that come into force', keep, { everyMs: lookEveryMs }, onError);
}

/** All versions of a model's price, the latest first. */
export async function priceVersions(
  database: Database,
  model: string,
  limit = 200,
): Promise<readonly StoredPriceVersion[]> {
  const rows = await database.query(
    'SELECT * FROM price_versions WHERE model=$1 ORDER BY version DESC LIMIT $2',
    [model, limit],
  );
  return rows.map(versionOf);
}

/** The price that is in force, and those that wait. */
export function* presentAndComingPrices(model: string): Transaction<readonly Price[]> {
  const sql = `SELECT v.price FROM price_versions v JOIN models m ON m.id=v.model
    WHERE m.id=$1 AND v.version>=m.price_version`;
  const rows = yield { sql, params: [model] };
  return rows.map((row) => parsePrice(String(row['price'])));
}

/** The version that was published last, in force or still waiting, of a model that exists. */
export function* latestPriceVersion(model: string): Transaction<StoredPriceVersion> {
  const sql = 'SELECT * FROM price_versions WHERE model=$1 ORDER BY version DESC LIMIT 1';
  const [last] = yield { sql, params: [model] };
  assert(last !== undefined, `model ${model} has a price`);
  return versionOf(last);
}

/**
 * Whether a version has this price already and waits for the same time (`later`; undefined: it did
 * not wait). A form sent twice publishes once.
 */
export function isSameVersion(
  { price: published, publishedAt, effectiveAt }: StoredPriceVersion,
  price: Price,
  later: number | undefined,
): boolean {
  const waited = effectiveAt === publishedAt ? undefined : effectiveAt;
  return waited === later && priceText(published) === priceText(price);
}

/** The version that was in force at `at`; undefined for a model that had no price then. */
export function* priceVersionAt(
  model: string,
  at: number,
): Transaction<StoredPriceVersion | undefined> {
  const sql =
    'SELECT * FROM price_versions WHERE model=$1 AND effective_at<=$2 ORDER BY version DESC LIMIT 1';
  const [row] = yield { sql, params: [model, at] };
  return row && versionOf(row);
}

function versionOf(row: Row): StoredPriceVersion {
  const { source, actor, reason } = row;
  return {
    model: String(row['model']),
    version: Number(row['version']),
    price: parsePrice(String(row['price'])),
    source: source === 'import' || source === 'console' ? source : 'configuration',
    actor: actor === null || actor === undefined ? undefined : String(actor),
    reason: reason === null || reason === undefined ? undefined : String(reason),
    publishedAt: Number(row['published_at']),
    effectiveAt: Number(row['effective_at']),
  };
}
