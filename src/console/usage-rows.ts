import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { zoneDayAt, zoneDays } from '../base/zone.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Database, Script } from '../storage/database.ts';
import { dayMs, type Span } from '../usage/cover.ts';
import type { Filter } from '../usage/filter.ts';
import { paging, usageRecord } from '../usage/page.ts';
import { metered, spending, withinReach } from '../usage/spending.ts';
import { chargeDetail } from './charge-detail.ts';
import { chargeRows, mixOf } from './charge-row.ts';
import type { ChargeDetail, ChargeRow, Page, UsageSeries, UsageSummary } from './contract.ts';
import type { Cursors } from './cursor.ts';
import { moment, money, pageLimit } from './input.ts';
import { fail } from './problem.ts';
import { type ConsoleRow, type ConsoleVisit, row } from './row.ts';
import { daily, seriesView } from './series.ts';
import { usageCsv } from './usage-csv.ts';
import { instant, shareOf, yuan } from './written.ts';

export interface UsageRooms {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  readonly cursors: Cursors;
}

const usualDays = 30;
const spanDaysMax = 366;
/** What single requests cost is in records alone: so many are added up, the latest. */
const addedUpMax = 12_000;

const filtered = z.object({
  from: moment.optional(),
  to: moment.optional(),
  key: z.string().optional(),
  model: z.string().optional(),
  kind: z.string().optional(),
  status: z.enum(['ok', 'cut', 'left', 'length', 'error', 'estimated']).optional(),
  min_cost: money.optional(),
  request: z.string().optional(),
});
const listed = filtered.extend({ limit: pageLimit, after: z.string().optional() });
const parted = filtered.extend({ by: z.enum(['model', 'key']).default('model') });

export type WrittenFilter = z.output<typeof filtered>;

/** Every charge of the user's: listed, summed, drawn, opened until it is arithmetic, and saved. */
export function usageRows(rooms: UsageRooms): readonly ConsoleRow[] {
  const { database } = rooms;
  return [
    row({
      method: 'GET',
      path: 'usage',
      role: 'user',
      input: listed,
      handle: (visit) => list(rooms, visit),
    }),
    row({
      method: 'GET',
      path: 'usage/summary',
      role: 'user',
      input: filtered,
      handle: (visit) => summary(rooms, visit),
    }),
    row({
      method: 'GET',
      path: 'usage/series',
      role: 'user',
      input: parted,
      handle: (visit) => series(rooms, visit),
    }),
    row({
      method: 'GET',
      path: 'usage.csv',
      role: 'user',
      input: filtered,
      perMinute: 10,
      async handle({ user, input, at, reply }) {
        const question = { account: user.id, ...spanOf(input, at), filter: filterOf(input) };
        const { day } = zoneDayAt(user.zone, at);
        await reply.file({
          name: `usage-${day}.csv`,
          type: csvType,
          text: usageCsv(database, question, user.zone),
        });
      },
    }),
    row({
      method: 'GET',
      path: 'usage/:id',
      role: 'user',
      async handle({ user, params }): Promise<ChargeDetail> {
        const detail = await database.snapshot(() =>
          chargeDetail(user, params['id'] ?? '', rooms.catalog()),
        );
        return detail ?? fail('not_found');
      },
    }),
  ];
}

export const csvType = 'text/csv; charset=utf-8';

export function filterOf({ key, model, kind, status, min_cost: costMin }: WrittenFilter): Filter {
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

/** A range ends now unless it is said, and is not longer than a year. */
export function spanOf({ from, to }: WrittenFilter, now: number): Span {
  const end = to?.(now) ?? now + 60_000;
  const begin = from?.(now) ?? end - usualDays * dayMs;
  if (begin > end) fail('invalid', { fields: { from: 'after_to' } });
  if (end - begin > spanDaysMax * dayMs) fail('invalid', { fields: { from: 'too_long' } });
  return { from: begin, to: end };
}

async function list(
  { database, cursors }: UsageRooms,
  { user, input, at }: ConsoleVisit<z.output<typeof listed>>,
): Promise<Page<ChargeRow>> {
  const { limit, after, from, to, ...filter } = input;
  // As it was written: `-7d` moves on, and the cursor stays.
  const written = [from?.(0), to?.(0)];
  const of = [
    'usage',
    user.id,
    written,
    Object.entries(filter).map(([name, value]) => [name, String(value)]),
  ];
  if (filter.request !== undefined) return one(database, user.id, filter.request, at);
  const place = after === undefined ? undefined : cursors.read(of, after);
  const back = place?.towards === 'prev';
  return database.snapshot(function* (): Script<Page<ChargeRow>> {
    const { rows, next } = yield* paging({
      account: user.id,
      ...spanOf(input, at),
      filter: filterOf(input),
      order: back ? 'oldest' : 'newest',
      limit,
      ...(place && { after: { chargedAt: place.at, id: place.id } }),
    });
    const shown = back ? [...rows].reverse() : rows;
    const edge = (
      towards: 'next' | 'prev',
      record: (typeof rows)[number] | undefined,
    ): string | null =>
      record === undefined
        ? null
        : cursors.write(of, {
            towards,
            at: Number(record['finished_at']),
            id: String(record['id']),
          });
    const further =
      next &&
      cursors.write(of, { towards: back ? 'prev' : 'next', at: next.chargedAt, id: next.id });
    return {
      items: yield* chargeRows(user.id, shown),
      next: back ? edge('next', shown.at(-1)) : (further ?? null),
      prev: back ? (further ?? null) : place === undefined ? null : edge('prev', shown[0]),
      as_of: instant(at),
    };
  });
}

/** The page that has one request, or none. */
async function one(
  database: Database,
  userId: string,
  id: string,
  at: number,
): Promise<Page<ChargeRow>> {
  const items = await database.snapshot(function* () {
    const record = yield* usageRecord(userId, id);
    return yield* chargeRows(userId, record === undefined ? [] : [record]);
  });
  return { items, next: null, prev: null, as_of: instant(at) };
}

async function summary(
  { database }: UsageRooms,
  { user, input, at }: ConsoleVisit<WrittenFilter>,
): Promise<UsageSummary> {
  const filter = filterOf(input);
  return database.snapshot(function* (): Script<UsageSummary> {
    const span = spanOf(input, at);
    const from =
      filter.costMin === undefined ? span.from : yield* withinReach(user.id, span, addedUpMax);
    const question = { account: user.id, from, to: span.to, filter };
    const byStatus = yield* spending(question, ['status']);
    const lines = yield* metered(database, question, []);
    const requests = byStatus.reduce((sum, spent) => sum + spent.requests, 0);
    const cut = byStatus
      .filter(({ of }) => of.status === 'cut' || of.status === 'error')
      .reduce((sum, spent) => sum + spent.requests, 0);
    return {
      from: instant(from),
      requests,
      cost: yuan(byStatus.reduce((sum, { cost }) => sum + cost, 0n)),
      tokens: mixOf(
        lines.map(({ measure, micros }) => ({ measure, quantity: Number(micros / 1_000_000n) })),
      ),
      quantities: lines.map(({ measure, micros, cost }) => ({
        class: measure,
        amount: microsText(micros),
        cost: yuan(cost),
      })),
      error_share: shareOf(BigInt(cut), BigInt(requests)),
      as_of: instant(at),
    };
  });
}

/** Millionths of a unit as a decimal: `1155`, `1.5`. */
export function microsText(micros: bigint): string {
  const fraction = (micros % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  const whole = (micros / 1_000_000n).toString();
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

async function series(
  { database }: UsageRooms,
  { user, input, at }: ConsoleVisit<z.output<typeof parted>>,
): Promise<UsageSeries> {
  const { by } = input;
  return database.snapshot(function* (): Script<UsageSeries> {
    const filter = filterOf(input);
    const span = spanOf(input, at);
    const from =
      filter.costMin === undefined ? span.from : yield* withinReach(user.id, span, addedUpMax);
    const [first, last] = [
      zoneDayAt(user.zone, from),
      zoneDayAt(user.zone, Math.max(from, Math.min(span.to, at + 1) - 1)),
    ];
    // The first and the last day are cut where the range is.
    const days = zoneDays(user.zone, first.day, last.day).map((one) => ({
      day: one.day,
      from: Math.max(one.from, from),
      to: Math.max(one.from, Math.min(one.to, span.to)),
    }));
    const all = yield* daily({ account: user.id, days, by, filter });
    return yield* seriesView(user.id, user.zone, { days, by }, all);
  });
}
