import { dayMs } from '../../base/calendar.ts';
import type { Measure } from '../../base/quantities.ts';
import { type ListFees, withListFees } from '../../catalog/build-snapshot.ts';
import type { Price, Rates } from '../../catalog/price.ts';
import { priceDifferences } from '../../catalog/price-differences.ts';
import { latestPriceVersion } from '../../catalog/price-versions.ts';
import type { StoredCatalog, StoredModel } from '../../catalog/stored-catalog.ts';
import type { Database } from '../../storage/database.ts';
import { channelShares, type SoldToAccount, soldTo } from '../../usage/totals.ts';
import { recentOf, startOfHour } from '../../usage/ranges.ts';
import type { PreviewLine, PricePreview, PriceWarning } from '../contract.ts';
import { costOfQuantities } from './vendor-costs.ts';
import { multiplierText, wholePpm, pricesOf, unitPrice } from '../prices.ts';
import { microsText, ratioOf, yuan } from '../format.ts';

const weekMs = 7 * dayMs;
const largePercent = 50;

/**
 * Classes that cost the same as the plain class when they have no price of their own, which is
 * seldom intended.
 */
const classes: readonly Measure[] = [
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'audio_input',
  'audio_output',
  'image_input',
  'image_output',
];

/** A model's price with the list fees of the channels that sell it. */
export function chargedBy(
  { channels }: StoredCatalog,
  { id, kind }: StoredModel,
  price: Price,
  listFees: ListFees,
): Price {
  const fees = channels.flatMap(({ state, vendor, models }) => {
    const upstream = models.get(id);
    return state !== 'active' || upstream === undefined ? [] : [listFees(vendor, upstream)];
  });
  return withListFees(kind, price, fees);
}

/** The revenue that another price would have brought with the last seven days' usage. */
export async function pricePreview(
  database: Database,
  catalog: StoredCatalog,
  { model, price }: { readonly model: StoredModel; readonly price: Price },
  listFees: ListFees,
  now: number,
): Promise<PricePreview> {
  const old = chargedBy(catalog, model, model.price, listFees);
  const wanted = chargedBy(catalog, model, price, listFees);
  const span = { from: startOfHour(now) - weekMs, to: now };
  const [sold, { version }] = await database.snapshot(function* () {
    const { tail } = yield* recentOf(span, now);
    const lines = yield* soldTo(database, model.id, { ...span, tail });
    return [lines, yield* latestPriceVersion(model.id)] as const;
  });
  const multipliers = new Map(
    catalog.groups.map(({ name, multiplierPpm }) => [name, multiplierPpm]),
  );
  const of = (some: Price, lines: readonly SoldToAccount[]): bigint =>
    lines.reduce(
      (sum, line) => sum + costOfQuantities(some, [line], multipliers.get(line.group) ?? wholePpm),
      0n,
    );
  const [before, after] = [of(old, sold), of(wanted, sold)];
  const cost = await vendorCost(database, catalog, model.id, sold, span);
  const warnings = warningsOf(catalog, model, price, sold);
  return {
    model: model.id,
    from_version: version,
    to_version: version + 1,
    lines: linesOf(old, wanted, sold, of),
    groups: catalog.groups.map(({ name, multiplierPpm }) => ({
      group: name,
      multiplier: multiplierText(multiplierPpm),
      prices: pricesOf(wanted, multiplierPpm),
    })),
    revenue: {
      now: yuan(before),
      new: yuan(after),
      change: ratioOf(after - before, before),
    },
    vendor_cost: cost === undefined ? null : yuan(cost),
    margin:
      cost === undefined
        ? null
        : { now: ratioOf(before - cost, before), new: ratioOf(after - cost, after) },
    users: usersOf(sold, (lines) => of(wanted, lines) - of(old, lines)),
    warnings,
    publishable: !warnings.some(({ code }) => code === 'class_without_price'),
  };
}

function linesOf(
  now: Price,
  then: Price,
  sold: readonly SoldToAccount[],
  of: (price: Price, lines: readonly SoldToAccount[]) => bigint,
) {
  const measures = [
    ...new Set([
      ...Object.keys(now.rates),
      ...Object.keys(then.rates),
      ...sold.map(({ measure }) => measure),
    ]),
  ] as Measure[];
  const unit = (rates: Rates, measure: Measure) => {
    const rate = rates[measure];
    return rate === undefined ? null : unitPrice(measure, rate);
  };
  return measures.map((measure): PreviewLine => {
    const lines = sold.filter((line) => line.measure === measure);
    const micros = lines.reduce((sum, line) => sum + line.micros, 0n);
    return {
      now: unit(now.rates, measure),
      new: unit(then.rates, measure),
      quantity: microsText(micros),
      cost_now: yuan(of(now, lines)),
      cost_new: yuan(of(then, lines)),
    };
  });
}

function usersOf(
  sold: readonly SoldToAccount[],
  more: (lines: readonly SoldToAccount[]) => bigint,
): PricePreview['users'] {
  const accounts = new Map<string, SoldToAccount[]>();
  for (const line of sold)
    accounts.set(line.account, [...(accounts.get(line.account) ?? []), line]);
  const users = { pay_more: 0, pay_less: 0, same: 0 };
  for (const lines of accounts.values()) {
    const difference = more(lines);
    users[difference > 0n ? 'pay_more' : difference < 0n ? 'pay_less' : 'same'] += 1;
  }
  return users;
}

/** Undefined unless every channel that served the model has its costs entered. */
async function vendorCost(
  database: Database,
  { channels }: StoredCatalog,
  model: string,
  sold: readonly SoldToAccount[],
  span: { readonly from: number; readonly to: number },
): Promise<bigint | undefined> {
  const shares = (await database.snapshot(() => channelShares(span))).filter(
    (share) => share.model === model,
  );
  let sum = 0n;
  for (const { channel, share } of shares) {
    const price = channels.find(({ name }) => name === channel)?.costs.get(model);
    if (price === undefined) return undefined;
    sum += (costOfQuantities(price, sold) * BigInt(Math.round(share * 1e6))) / wholePpm;
  }
  return shares.length === 0 ? undefined : sum;
}

function warningsOf(
  catalog: StoredCatalog,
  model: StoredModel,
  price: Price,
  sold: readonly SoldToAccount[],
): readonly PriceWarning[] {
  const large = priceDifferences(model.price, price).filter(
    ({ percent }) => percent !== undefined && Math.abs(percent) > largePercent,
  );
  const reported = new Set(sold.map(({ measure }) => measure));
  const unpriced = classes.filter(
    (measure) =>
      reported.has(measure) && price.rates[measure] === undefined && price.by?.measure !== measure,
  );
  return [
    ...belowCost(catalog, model.id, price),
    ...large.map(({ member, percent = 0 }) => ({
      code: 'large_change' as const,
      values: { class: member, percent: String(percent) },
    })),
    ...unpriced.map((measure) => ({
      code: 'class_without_price' as const,
      values: { class: measure },
    })),
    ...(model.origin === 'configuration'
      ? [{ code: 'until_the_configuration_changes' as const, values: {} }]
      : []),
  ];
}

/** A warning for every class that some group would pay less for than a channel's vendor takes. */
export function belowCost(
  { groups, channels }: StoredCatalog,
  model: string,
  price: Price,
): readonly PriceWarning[] {
  return channels.flatMap((channel) => {
    const cost = channel.costs.get(model);
    if (cost === undefined || channel.state !== 'active') return [];
    const buying = groups.filter(({ name }) => channel.groups.includes(name));
    const measures = (Object.keys(cost.rates) as Measure[]).filter(
      (measure) => price.rates[measure] !== undefined,
    );
    return buying.flatMap(({ name: group, multiplierPpm }) =>
      measures
        .filter(
          (measure) =>
            (price.rates[measure] ?? 0n) * multiplierPpm < (cost.rates[measure] ?? 0n) * wholePpm,
        )
        .map((measure) => ({
          code: 'below_vendor_cost' as const,
          values: { class: measure, group, channel: channel.name },
        })),
    );
  });
}
