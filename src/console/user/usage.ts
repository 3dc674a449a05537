import * as z from 'zod';
import { dayMs, endOfTime, zoneTimeAt } from '../../base/calendar.ts';
import type { Clock } from '../../base/clock.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { chargeRefunds } from '../../ledger/transfers.ts';
import type { Database, Row, Transaction } from '../../storage/database.ts';
import { usagePage, usageRecord, type UsagePosition, type UsageQuery } from '../../usage/page.ts';
import type { TimeRange, UsageFilter } from '../../usage/ranges.ts';
import { sortedPage, sortedPositionOf, type UsageOrder } from '../../usage/sorted-page.ts';
import { metered, recordsAmong, spending, startOfNewest } from '../../usage/spending.ts';
import type {
  ChargeDetail,
  ChargePage,
  ChargeView,
  UsageCourse,
  UsageSeries,
  UsageSummary,
} from '../contract.ts';
import type { CursorPosition, Cursors } from '../cursor.ts';
import { csvLine, csvStart, sendCsv } from '../csv.ts';
import { instant, microsText, ratioOf, yuan } from '../format.ts';
import { relativeTimeInput, moneyInput, pageInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type SignedInRequest, defineRoute } from '../route.ts';
import { chargeDetail, chargeViews, mixOf } from './charges.ts';
import { daily, daysWithin, seriesView } from './series.ts';
import { usageCourse } from './usage-course.ts';

export interface UsageContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly cursors: Cursors;
}

const usualDays = 30;
const spanDaysMax = 366;
/**
 * Only records have the values of single requests: this many are added up or put in order, the
 * latest.
 */
const addedUpMax = 12_000;

const filterInput = z.object({
  from: relativeTimeInput.optional(),
  to: relativeTimeInput.optional(),
  key: z.string().optional(),
  model: z.string().optional(),
  kind: z.string().optional(),
  status: z.enum(['ok', 'cut', 'left', 'length', 'error', 'estimated']).optional(),
  min_cost: moneyInput.optional(),
  request: z.string().optional(),
});
const orders = ['time', 'input', 'output', 'first_byte', 'total', 'cost'] as const;
const listInput = filterInput.extend({
  sort: z.enum([...orders, ...orders.map((order) => `-${order}` as const)]).default('-time'),
  ...pageInput,
});
const seriesInput = filterInput.extend({ by: z.enum(['model', 'key']).default('model') });

export type FilterInput = z.output<typeof filterInput>;

/** Every charge of the user: as list, sum and chart, in full detail, and as a file. */
export function usageRoutes(context: UsageContext): readonly ConsoleRoute[] {
  const { database } = context;
  return [
    defineRoute({
      method: 'GET',
      path: 'usage',
      role: 'user',
      input: listInput,
      handle: (request) => list(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'usage/summary',
      role: 'user',
      input: filterInput,
      handle: (request) => summary(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'usage/series',
      role: 'user',
      input: seriesInput,
      handle: (request) => series(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'usage/course',
      role: 'user',
      heavy: true,
      input: filterInput,
      handle: (request) => course(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'usage.csv',
      role: 'user',
      input: filterInput,
      perMinute: 10,
      async handle({ owner, input, at, reply }) {
        const question = { account: owner.id, ...usageRangeOf(input, at), filter: filterOf(input) };
        const { zone } = owner;
        await sendCsv(reply, 'usage', { zone, at }, usageCsv(database, question, zone));
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'usage/:id',
      role: 'user',
      async handle({ owner, params }): Promise<ChargeDetail> {
        const detail = await database.snapshot(() =>
          chargeDetail(owner, params['id'] ?? '', context.catalog()),
        );
        return detail ?? throwProblem('not_found');
      },
    }),
  ];
}

export function filterOf({
  key,
  model,
  kind,
  status,
  min_cost: costMin,
}: FilterInput): UsageFilter {
  const estimated = status === 'estimated' ? true : undefined;
  return {
    keyId: key,
    model,
    capability: kind,
    status: estimated ? undefined : status,
    estimated,
    costMin,
  };
}

/** A range ends now by default, and is not longer than a year. */
export function usageRangeOf({ from, to }: FilterInput, now: number): TimeRange {
  const end = to?.(now) ?? now + 60_000;
  const begin = from?.(now) ?? end - usualDays * dayMs;
  if (begin > end) throwProblem('invalid', { fields: { from: 'after_to' } });
  if (end - begin > spanDaysMax * dayMs) throwProblem('invalid', { fields: { from: 'too_long' } });
  return { from: begin, to: end };
}

/** The range; with a filter by cost, the part of it whose records are few enough to add up. */
function* addedUpRange(account: string, input: FilterInput, now: number): Transaction<TimeRange> {
  const range = usageRangeOf(input, now);
  if (input.min_cost === undefined) return range;
  return { from: yield* startOfNewest(account, range, addedUpMax), to: range.to };
}

async function list(
  { database, cursors }: UsageContext,
  { owner, input, at }: SignedInRequest<Listed>,
): Promise<ChargePage> {
  const { limit, after, from, to, sort, ...filter } = input;
  // The range as written: `-7d` moves on while the cursor stays valid.
  const written = [from?.(0), to?.(0)];
  const of = [
    'usage',
    owner.id,
    written,
    Object.entries(filter).map(([name, value]) => [name, String(value)]),
    ...(sort === '-time' ? [] : [sort]),
  ];
  if (filter.request !== undefined) return one(database, owner.id, filter.request, at);
  const place = cursors.read(of, after);
  const range = usageRangeOf(input, at);
  const pageQuery: ChargesPageQuery = {
    account: owner.id,
    range,
    filter: filterOf(input),
    limit,
    cursors,
    of,
    place,
  };
  return database.snapshot(function* (): Transaction<ChargePage> {
    const [order, way] = orderOf(sort);
    const page =
      order === 'time' ? yield* byTime(pageQuery, way) : yield* byValue(pageQuery, order, way);
    const { rows, ...rest } = page;
    return { items: yield* chargeViews(owner.id, rows), ...rest, as_of: instant(at) };
  });
}

type Listed = z.output<typeof listInput>;
type Way = 'falling' | 'rising';

const orderOf = (sort: Listed['sort']): readonly [(typeof orders)[number], Way] => {
  const order = orders.find((one) => one === sort);
  if (order !== undefined) return [order, 'rising'];
  return [orders.find((one) => `-${one}` === sort) ?? 'time', 'falling'];
};

interface ChargesPageQuery {
  readonly account: string;
  readonly range: TimeRange;
  readonly filter: UsageFilter;
  readonly limit: number;
  readonly cursors: Cursors;
  /** The list that the cursors belong to. */
  readonly of: readonly unknown[];
  readonly place: CursorPosition | undefined;
}

type RowPage = Omit<ChargePage, 'items' | 'as_of'> & { readonly rows: readonly Row[] };

function* byTime(
  { account, range, filter, limit, cursors, of, place }: ChargesPageQuery,
  way: Way,
): Transaction<RowPage> {
  const back = place?.towards === 'prev';
  const { rows, next } = yield* usagePage({
    account,
    ...range,
    filter,
    order: (way === 'falling') === back ? 'oldest' : 'newest',
    limit,
    ...(place && { after: { chargedAt: place.at, id: place.id } }),
  });
  const shown = back ? [...rows].reverse() : rows;
  const edge = (towards: 'next' | 'prev', record: Row | undefined): string | null =>
    record === undefined
      ? null
      : cursors.write(of, {
          towards,
          at: Number(record['finished_at']),
          id: String(record['id']),
        });
  const further =
    next && cursors.write(of, { towards: back ? 'prev' : 'next', at: next.chargedAt, id: next.id });
  return {
    rows: shown,
    next: back ? edge('next', shown.at(-1)) : (further ?? null),
    prev: back ? (further ?? null) : place === undefined ? null : edge('prev', shown[0]),
    sorted_from: null,
  };
}

/** The latest charges of the range, in the order of a value. */
function* byValue(
  { account, range, filter, limit, cursors, of, place }: ChargesPageQuery,
  order: UsageOrder,
  way: Way,
): Transaction<RowPage> {
  const from = yield* startOfNewest(account, range, addedUpMax);
  const { rows, more } = yield* sortedPage({
    account,
    from,
    to: range.to,
    filter,
    order,
    way,
    back: place?.towards === 'prev',
    limit,
    after: place && { value: place.at, id: place.id },
  });
  return {
    rows,
    ...cursors.around(of, place, { items: rows, more }, (row) => {
      const { value, id } = sortedPositionOf(row);
      return { at: value, id };
    }),
    sorted_from: from > range.from ? instant(from) : null,
  };
}

/** A page with the one request, or empty. */
async function one(
  database: Database,
  ownerId: string,
  id: string,
  at: number,
): Promise<ChargePage> {
  const items = await database.snapshot(function* () {
    const record = yield* usageRecord(ownerId, id);
    return yield* chargeViews(ownerId, record === undefined ? [] : [record]);
  });
  return { items, next: null, prev: null, sorted_from: null, as_of: instant(at) };
}

async function summary(
  { database }: UsageContext,
  { owner, input, at }: SignedInRequest<FilterInput>,
): Promise<UsageSummary> {
  return database.snapshot(function* (): Transaction<UsageSummary> {
    const range = yield* addedUpRange(owner.id, input, at);
    const { from } = range;
    const question = { account: owner.id, ...range, filter: filterOf(input) };
    const byStatus = yield* spending(question, ['status']);
    const lines = yield* metered(database, question, []);
    const refunds = yield* chargeRefunds({ from, to: endOfTime }, [owner.id]);
    const counted = yield* recordsAmong(
      question,
      refunds.map(({ charge }) => charge),
    );
    const requests = byStatus.reduce((sum, spent) => sum + spent.requests, 0);
    const cut = byStatus
      .filter(({ of }) => of.status === 'cut' || of.status === 'error')
      .reduce((sum, spent) => sum + spent.requests, 0);
    return {
      from: instant(from),
      requests,
      cost: yuan(byStatus.reduce((sum, { cost }) => sum + cost, 0n)),
      refunded: yuan(
        refunds.reduce((sum, { charge, amount }) => sum + (counted.has(charge) ? amount : 0n), 0n),
      ),
      tokens: mixOf(
        lines.map(({ measure, micros }) => ({ measure, quantity: Number(micros / 1_000_000n) })),
      ),
      quantities: lines.map(({ measure, micros, cost }) => ({
        class: measure,
        amount: microsText(micros),
        cost: yuan(cost),
      })),
      error_share: ratioOf(BigInt(cut), BigInt(requests)),
      as_of: instant(at),
    };
  });
}

function course(
  { database }: UsageContext,
  { owner, input, at }: SignedInRequest<FilterInput>,
): Promise<UsageCourse> {
  return database.snapshot(function* (): Transaction<UsageCourse> {
    const { id: account, zone } = owner;
    const range = yield* addedUpRange(account, input, at);
    return yield* usageCourse({ account, zone, filter: filterOf(input), ...range, now: at });
  });
}

async function series(
  { database }: UsageContext,
  { owner, input, at }: SignedInRequest<z.output<typeof seriesInput>>,
): Promise<UsageSeries> {
  const { by } = input;
  return database.snapshot(function* (): Transaction<UsageSeries> {
    const range = yield* addedUpRange(owner.id, input, at);
    const days = daysWithin(owner.zone, range, at);
    const all = yield* daily({ account: owner.id, days, by, filter: filterOf(input) });
    return yield* seriesView(owner.id, owner.zone, { days, by }, all);
  });
}

const pageRows = 500;

/** Charges page by page, oldest first: a page is read when the one before has been written. */
async function* chargesOf(
  database: Database,
  question: Omit<UsageQuery, 'limit' | 'after' | 'order'>,
): AsyncGenerator<readonly ChargeView[]> {
  let after: UsagePosition | undefined;
  do {
    const from = after;
    const page = await database.snapshot(function* (): Transaction<{
      rows: readonly ChargeView[];
      next: UsagePosition | undefined;
    }> {
      const { rows, next } = yield* usagePage({
        ...question,
        order: 'oldest',
        limit: pageRows,
        ...(from && { after: from }),
      });
      return { rows: yield* chargeViews(question.account, rows), next };
    });
    yield page.rows;
    after = page.next;
  } while (after !== undefined);
}

const header = [
  'time',
  'utc_offset',
  'request_id',
  'model',
  'kind',
  'key',
  'group',
  'status',
  'estimated',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'quantity',
  'unit',
  'first_byte_ms',
  'total_ms',
  'cost_yuan',
];

/**
 * The filter's charges as a table, of any length. Times are in the account's zone, with their
 * offset.
 */
async function* usageCsv(
  database: Database,
  question: Omit<UsageQuery, 'limit' | 'after' | 'order'>,
  zone: string,
): AsyncGenerator<string> {
  yield csvStart + csvLine(header);
  for await (const rows of chargesOf(database, question)) {
    if (rows.length > 0) yield rows.map((charge) => csvLine(cellsOf(charge, zone))).join('');
  }
}

function cellsOf(
  { at, tokens, quantity, ...charge }: ChargeView,
  zone: string,
): readonly (string | number | null)[] {
  const { time, offset } = zoneTimeAt(zone, Date.parse(at));
  return [
    time,
    offset,
    charge.id,
    charge.model,
    charge.kind,
    charge.key_name,
    charge.group,
    charge.status,
    charge.estimated ? 'yes' : 'no',
    tokens?.input ?? null,
    tokens?.cached_input ?? null,
    tokens?.cache_write ?? null,
    tokens?.output ?? null,
    tokens?.reasoning ?? null,
    quantity?.amount ?? null,
    quantity?.unit ?? null,
    charge.first_byte_ms,
    charge.total_ms,
    charge.cost,
  ];
}
