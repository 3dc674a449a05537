import { keyNamesOf } from '../../accounts/user-keys.ts';
import { ceiling, ofMillionths, product, readFraction } from '../../base/fraction.ts';
import { decimalText, divideUp, type Nano } from '../../base/money.ts';
import { inputMeasures, type Measure, outputMeasures } from '../../base/quantities.ts';
import { type Price, rateOf } from '../../catalog/price.ts';
import { type StoredPriceVersion, priceVersionAt } from '../../catalog/price-versions.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { chargeOf, refundedOf } from '../../ledger/transfers.ts';
import type { Row, Transaction } from '../../storage/database.ts';
import { integerColumn } from '../../storage/sql.ts';
import { usageRecord } from '../../usage/page.ts';
import { linesOf, paidFor, type RecordLine } from '../../usage/record.ts';
import type { ChargeDetail, ChargeLine, ChargeView, ChargeStatus, TokenMix } from '../contract.ts';
import { instant, yuan } from '../format.ts';
import { multiplierText, unitPrice, unitOf } from '../prices.ts';
import type { Owner } from '../route.ts';

const million = 1_000_000n;

/**
 * One charge with all its arithmetic; undefined when this owner has no such charge. Run it in a
 * snapshot.
 */
export function* chargeDetail(
  owner: Owner,
  id: string,
  snapshot: Snapshot,
): Transaction<ChargeDetail | undefined> {
  const record = yield* usageRecord(owner.id, id);
  if (record === undefined) return undefined;
  const price = yield* priceVersionAt(String(record['model']), Number(record['reserved_at']));
  const names = yield* keyNamesOf(owner.id, [String(record['key_id'])]);
  const { charge, refunds } = yield* chargeOf(owner.id, id);
  const refunded = refunds.reduce((sum, { amount }) => sum + amount, 0n);
  const shown = chargeView(record, names, refunded);
  const lines = linesOf(String(record['lines']));
  const multiplier = multiplierOf(lines, price, snapshot, shown.group);
  return {
    ...shown,
    lines: lines.map((line) =>
      lineView(
        line,
        price === undefined || multiplier === undefined || line.model !== undefined
          ? undefined
          : basisOf(line, price.price, multiplier),
      ),
    ),
    transfer:
      charge === undefined
        ? null
        : {
            id: charge.id,
            amount: yuan(charge.amount),
            at: instant(charge.at),
            equal: charge.amount === paidFor(record),
          },
    forgiven: yuan(integerColumn(record, 'shortfall')),
    multiplier: multiplier === undefined ? null : multiplierText(multiplier),
    price_version:
      price === undefined ? null : { version: price.version, since: instant(price.effectiveAt) },
    without_cache: withoutCache(lines),
    refunds: refunds.map(({ id: refund, amount, at }) => ({
      id: refund,
      amount: yuan(amount),
      at: instant(at),
    })),
    attempts: owner.role === 'operator' ? attemptsOf(record) : null,
  };
}

const attemptsOf = (record: Row): ChargeDetail['attempts'] => ({
  count: Number(record['attempts']),
  channel: record['channel'] === null ? null : String(record['channel']),
  upstream_id: record['upstream_id'] === null ? null : String(record['upstream_id']),
});

/**
 * quantity × rate, in nanos of a millionth: the exact value before it is rounded up to a charge.
 */
export function exactOf({ quantity, rate }: Pick<RecordLine, 'quantity' | 'rate'>): bigint {
  // Seconds have fractions, to the microsecond.
  return Number.isInteger(quantity)
    ? BigInt(quantity) * rate * million
    : BigInt(Math.round(quantity * 1e6)) * rate;
}

/** One line, for checking by hand. `basis`: the model's own price, where it is known. */
export function lineView(line: RecordLine, basis?: Basis): ChargeLine {
  const { measure, quantity, rate, cost, model = null, terms = null } = line;
  const exact = exactOf(line);
  return {
    class: measure,
    variant: basis?.variant ?? null,
    model,
    terms,
    quantity: String(quantity),
    price: unitPrice(measure, rate),
    base_price: basis === undefined ? null : unitPrice(measure, basis.rate),
    // In nanos of a millionth of a millionth.
    exact: decimalText(exact, 21, 9),
    charged: yuan(cost),
    rounded_up: exact % (million * million) !== 0n,
  };
}

/** The rate in the model's price that a line was charged at, and its variant. */
interface Basis {
  readonly rate: Nano;
  readonly variant: string | undefined;
}

/** The rate of a price that gives this line's rate at the multiplier; undefined: none. */
function basisOf(
  { measure, rate, terms }: RecordLine,
  price: Price,
  multiplier: bigint,
): Basis | undefined {
  const { rates, tiers, by } = price;
  const plain = [rates, ...tiers.map((tier) => ({ ...rates, ...tier.rates }))].map((some) => ({
    rate: rateOf(some, measure),
    variant: undefined,
  }));
  const listed =
    by?.measure === measure
      ? Object.entries(by.rates).map(([variant, base]) => ({ rate: base, variant }))
      : [];
  for (const { rate: base, variant } of [...listed, ...plain])
    if (base !== undefined && multipliedRate(base, terms, multiplier) === rate)
      return { rate: base, variant };
  return undefined;
}

/**
 * A base rate times the group's multiplier and the factors of the line's terms: `× 6 (ultrafast) ×
 * 11/10 (us)`.
 */
function multipliedRate(base: Nano, terms: string | undefined, multiplier: bigint): Nano {
  if (terms === undefined) return divideUp(base * multiplier, million);
  let factor = product({ numerator: base, denominator: 1n }, ofMillionths(multiplier));
  for (const [, written = ''] of terms.matchAll(/× (\d+(?:\/\d+)?)/g)) {
    const by = readFraction(written);
    if ('numerator' in by) factor = product(factor, by);
  }
  return ceiling(factor);
}

/** The group's multiplier, if it explains all recorded rates by the price that was in force. */
function multiplierOf(
  lines: readonly RecordLine[],
  price: StoredPriceVersion | undefined,
  snapshot: Snapshot,
  group: string,
): bigint | undefined {
  const now = snapshot.groups.get(group)?.multiplierPpm;
  if (price === undefined || now === undefined) return undefined;
  const own = lines.filter(({ model }) => model === undefined);
  return own.every((line) => basisOf(line, price.price, now) !== undefined) ? now : undefined;
}

/** The cost of the same input without the cache; null when nothing was cached. */
function withoutCache(lines: readonly RecordLine[]): string | null {
  const plain = lines.find(({ measure }) => measure === 'input');
  const cached = lines.find(({ measure }) => measure === 'cached_input');
  if (plain === undefined || cached === undefined) return null;
  const quantity = plain.quantity + cached.quantity;
  return yuan(divideUp(BigInt(quantity) * plain.rate, million));
}

/** Tokens by class, from any list of metered quantities. */
export function mixOf(
  lines: readonly { readonly measure: Measure; readonly quantity: number }[],
): TokenMix {
  const sum = (...of: readonly Measure[]): number =>
    lines.reduce(
      (total, { measure, quantity }) => (of.includes(measure) ? total + quantity : total),
      0,
    );
  return {
    input: sum(...inputMeasures),
    cached_input: sum('cached_input'),
    cache_write: sum('cache_write_5m', 'cache_write_1h'),
    output: sum(...outputMeasures),
    reasoning: sum('reasoning'),
  };
}

const statuses: readonly ChargeStatus[] = ['ok', 'cut', 'left', 'length', 'error'];

/** A usage record as its owner sees it: without channel and vendor. */
function chargeView(
  row: Row,
  keyNames: ReadonlyMap<string, string>,
  refunded: Nano = 0n,
): ChargeView {
  const lines = linesOf(String(row['lines']));
  const keyId = String(row['key_id']);
  // Without tokens in its lines (a request sold by the piece) the record's own count may still have
  // some.
  const mix = mixOf(lines);
  const recorded = { input: Number(row['input_tokens']), output: Number(row['output_tokens']) };
  const tokens = mix.input + mix.output > 0 ? mix : { ...mix, ...recorded };
  return {
    id: String(row['id']),
    at: instant(Number(row['finished_at'])),
    model: String(row['model']),
    kind: String(row['capability']),
    key_id: keyId,
    key_name: keyNames.get(keyId) ?? keyId,
    group: String(row['group_name']),
    status: statuses.find((status) => status === row['status']) ?? 'error',
    estimated: row['estimated'] === 1n,
    streamed: row['stream'] === 1n,
    tokens: tokens.input + tokens.output > 0 ? tokens : null,
    quantity: piecesOf(lines),
    first_byte_ms: row['first_byte_ms'] === null ? null : Number(row['first_byte_ms']),
    total_ms: Number(row['duration_ms']),
    cost: yuan(paidFor(row)),
    refunded: yuan(refunded),
  };
}

/** The quantity shown beside or instead of tokens; the request itself needs no mention. */
function piecesOf(lines: readonly RecordLine[]): ChargeView['quantity'] {
  for (const { measure, quantity } of lines) {
    const unit = unitOf(measure);
    if (unit !== 'token' && unit !== 'request') return { amount: quantity, unit };
  }
  return null;
}

/** Usage records with the names of their keys, and what was refunded of them. */
export function* chargeViews(
  ownerId: string,
  rows: readonly Row[],
): Transaction<readonly ChargeView[]> {
  const names = yield* keyNamesOf(
    ownerId,
    rows.map((row) => String(row['key_id'])),
  );
  const refunded = yield* refundedOf(
    ownerId,
    rows.map((row) => String(row['id'])),
  );
  return rows.map((row) => chargeView(row, names, refunded.get(String(row['id']))));
}
