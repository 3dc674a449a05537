import * as z from 'zod';
import { writeAudit } from '../../accounts/audit.ts';
import { userNames } from '../../accounts/names.ts';
import { reportWithoutLines } from '../../catalog/config-report.ts';
import { priceSchema } from '../../catalog/config-schema.ts';
import { asWritten, catalogTopic, lockCatalogVersion } from '../../catalog/editing.ts';
import { importing, type PriceImport, readPriceList } from '../../catalog/import-prices.ts';
import type { Price } from '../../catalog/price.ts';
import { isFarOffNew } from '../../catalog/price-differences.ts';
import {
  isSameVersion,
  latestPriceVersion,
  priceVersionAt,
  priceVersions,
  publishPrice,
  type StoredPriceVersion,
} from '../../catalog/price-versions.ts';
import {
  readStoredCatalog,
  storedCatalog,
  type StoredCatalog,
} from '../../catalog/stored-catalog.ts';
import { checkImageVariants, readPrice } from '../../catalog/config-price.ts';
import { bump } from '../../storage/changes.ts';
import type { Transaction } from '../../storage/database.ts';
import type {
  PriceImportReport,
  List,
  PricePreview,
  PriceVersionView,
  PublishAnswer,
} from '../contract.ts';
import { instant } from '../format.ts';
import { idempotencyKeyIn, reasonInput, timeInput } from '../input.ts';
import { pricePreview } from './price-preview.ts';
import { type PriceTable, problemsOfTable, readPriceTable } from './price-table.ts';
import { auditedPrice } from './audited-price.ts';
import { type OperatorContext, byOperator } from './context.ts';
import { isSimpleTier, wholePpm, allPricesOf, pricesOf, unitOf } from '../prices.ts';
import { throwProblem, throwWrong } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';

const changeInput = z.strictObject({
  model: z.string(),
  price: z.unknown(),
  reason: z.string().optional(),
  from_version: z.int().optional(),
  price_version: z.int().optional(),
});
const publishInput = z.strictObject({
  changes: z.array(changeInput).min(1, 'empty').max(100, 'too_many'),
  reason: reasonInput,
  effective_at: timeInput.optional(),
});
const importInput = z.strictObject({
  text: z.string(),
  dry_run: z.boolean(),
  reason: reasonInput.optional(),
  accept_far_off: z.boolean().optional(),
});
const listBytesMax = 4 * 1024 * 1024;

/** Who published a price that no user published. */
const programs = { import: 'command', configuration: 'configuration', console: 'start' } as const;

/** Prices are published in versions: previewed before, never changed after. */
export function priceRoutes(context: OperatorContext): readonly ConsoleRoute[] {
  const { database, clock, listFees } = context;
  const role = 'operator';
  return [
    defineRoute({
      method: 'GET',
      path: 'operator/models/:id/prices',
      role,
      async handle({ params }): Promise<List<PriceVersionView>> {
        const versions = await priceVersions(database, params['id'] ?? '');
        const names = await userNames(
          database,
          versions.flatMap(({ actor }) => actor ?? []),
        );
        return {
          items: versions.map(
            ({ version, effectiveAt, publishedAt, price, reason: why, source, actor }) => ({
              version,
              since: instant(effectiveAt),
              published_at: instant(publishedAt),
              prices: allPricesOf(price, wholePpm),
              reason: why ?? null,
              actor: actor ?? programs[source],
              actor_name: names.get(actor ?? '') ?? null,
            }),
          ),
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/prices/preview',
      role,
      input: changeInput,
      async handle({ input }): Promise<PricePreview> {
        const catalog = await storedCatalog(database);
        return pricePreview(database, catalog, priced(catalog, input, ''), listFees, clock.now());
      },
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/prices/publish',
      role,
      input: publishInput,
      handle: (request) => publish(context, request),
    }),
    defineRoute({
      method: 'POST',
      path: 'operator/prices/import',
      role,
      input: importInput,
      bodyBytesMax: listBytesMax,
      handle: (request) => importList(context, request),
    }),
  ];
}

/**
 * The price as it would be charged; throws a problem for a wrong member, with its path below `at`.
 */
function priced(
  { models }: StoredCatalog,
  { model: id, price: written }: z.output<typeof changeInput>,
  at: string,
) {
  const model = models.find((some) => some.id === id && some.active);
  if (model === undefined)
    return throwProblem('invalid', { fields: { [`${at}model`]: 'unknown' } });
  const report = reportWithoutLines();
  const parsed = report.parse(priceSchema, asWritten(written), []);
  const price =
    parsed && withTerms(readPrice(model.kind, parsed, report, []), model.price, written);
  if (price !== undefined) checkImageVariants({ ...model, price }, report, []);
  if (price !== undefined && report.clean) return { model, price };
  return throwWrong(report.problems, `${at}price`);
}

/**
 * The form holds amounts alone. Modes, places, windows and tiers by output, which it lacks, are
 * kept.
 */
function withTerms(price: Price, now: Price, written: unknown): Price {
  const named = (member: string): boolean =>
    typeof written === 'object' && written !== null && Object.hasOwn(written, member);
  const { modes, places, windows, listFees } = now;
  const tiers = price.tiers.every(isSimpleTier)
    ? [...price.tiers, ...now.tiers.filter((tier) => !isSimpleTier(tier))]
    : price.tiers;
  return {
    ...price,
    tiers,
    ...(modes === undefined || named('modes') ? {} : { modes }),
    ...(places === undefined || named('places') ? {} : { places }),
    ...(windows === undefined || named('windows') ? {} : { windows }),
    ...(listFees === undefined || named('list_fees') ? {} : { listFees }),
  };
}

async function publish(
  { database, clock, listFees }: OperatorContext,
  request: SignedInRequest<z.output<typeof publishInput>>,
): Promise<PublishAnswer> {
  const { input, user, at, headers } = request;
  idempotencyKeyIn(headers);
  const { effective_at: effectiveAt = at } = input;
  if (effectiveAt < at - 60_000)
    throwProblem('invalid', { fields: { effective_at: 'in_the_past' } });
  const catalog = await storedCatalog(database);
  for (const [index, some] of input.changes.entries()) {
    const wanted = priced(catalog, some, `changes.${index}.`);
    const preview = await pricePreview(database, catalog, wanted, listFees, clock.now());
    if (!preview.publishable)
      throwProblem('invalid', {
        message: 'A price line that is in use has no price.',
        current: preview,
        fields: { price: 'class_without_price' },
      });
  }
  return database.transact(function* (): Transaction<PublishAnswer> {
    yield* lockCatalogVersion();
    const locked = yield* readStoredCatalog();
    const versions = [];
    for (const [index, some] of input.changes.entries()) {
      const { model, price } = priced(locked, some, `changes.${index}.`);
      const later = effectiveAt > at ? effectiveAt : undefined;
      const latest = yield* latestPriceVersion(model.id);
      const again = isSameVersion(latest, price, later);
      if (!again) yield* throwIfChanged(latest, some, at);
      const why = some.reason ?? input.reason;
      const author = {
        source: 'console',
        actor: user.id,
        reason: why,
        at,
        effectiveAt: Math.max(at, effectiveAt),
      } as const;
      const version = again ? latest.version : yield* publishPrice(model.id, price, author);
      if (!again)
        yield* writeAudit(at, {
          ...byOperator(request),
          action: 'price.publish',
          target: `model:${model.id}`,
          ...auditedPrice(model.price, price),
          reason: why,
        });
      versions.push({ model: model.id, version });
    }
    yield bump(catalogTopic);
    return { versions };
  });
}

/**
 * Refuses a change where the latest version, which may wait, or the one in force is not the one that
 * its author read: a form begins with the price in force.
 */
function* throwIfChanged(
  latest: StoredPriceVersion,
  read: z.output<typeof changeInput>,
  at: number,
): Transaction<void> {
  const inForce = (yield* priceVersionAt(latest.model, at)) ?? latest;
  const { from_version: last = latest.version, price_version: base = inForce.version } = read;
  const unread = last !== latest.version ? latest : inForce.version > base ? inForce : undefined;
  if (unread === undefined) return;
  const { model, version, effectiveAt, price } = unread;
  throwProblem('version_conflict', {
    current: { model, version, since: instant(effectiveAt), prices: pricesOf(price, wholePpm) },
  });
}

async function importList(
  { database, bundled }: OperatorContext,
  request: SignedInRequest<z.output<typeof importInput>>,
): Promise<PriceImportReport> {
  const { input, user, at } = request;
  const { dry_run: dry, reason: why } = input;
  const table = readPriceTable(input.text);
  const list = await readPriceList(table?.list ?? input.text);
  const brings = await bundled();
  if (dry || (table !== undefined && table.problems.length > 0)) {
    const compared = await database.snapshot(() => importing(list, { brings }));
    return reported(table === undefined ? compared : comparedTable(table, compared), input.text);
  }
  if (why === undefined) return throwProblem('invalid', { fields: { reason: 'empty' } });
  const done = await database.transact(function* () {
    const by = { source: 'import', actor: user.id, reason: why, at } as const;
    const taken = yield* importing(list, { by, brings, acceptFarOff: input.accept_far_off });
    if (!taken.applied && taken.refused.length === 0 && taken.farOff.length > 0)
      return throwProblem('invalid', { fields: { accept_far_off: 'required' } });
    const facts = {
      models: taken.changed.map(({ id }) => id),
      added: taken.added.map(({ id }) => id),
    };
    if (taken.applied)
      yield* writeAudit(at, {
        ...byOperator(request),
        action: 'price.import',
        target: 'prices',
        after: facts,
        reason: why,
      });
    return taken;
  });
  return reported(done, input.text);
}

const comparedTable = (table: PriceTable, compared: PriceImport): PriceImport => ({
  ...compared,
  refused: problemsOfTable(table, compared.refused),
});

function reported(
  { applied, added, changed, unchanged, refused }: PriceImport,
  text: string,
): PriceImportReport {
  const lines = text.split('\n');
  return {
    new: added.map(({ id, price }) => ({
      model: id,
      prices: pricesOf(price, wholePpm),
      far_off: isFarOffNew(price),
    })),
    changed: changed.map(({ id, differences }) => ({
      model: id,
      changes: differences.map(({ member, measure, from, to, percent, farOff }) => ({
        class: member,
        unit: measure === undefined ? null : unitOf(measure),
        far_off: farOff,
        from: from ?? null,
        to: to ?? null,
        percent: percent ?? null,
      })),
    })),
    unchanged,
    refused: refused.map(({ line, path, message, code = null, values = {} }) => ({
      line: line === 0 ? null : line,
      text: line === 0 ? path : (lines[line - 1] ?? '').trim().slice(0, 200),
      why: message,
      code,
      values,
    })),
    published: applied,
  };
}
