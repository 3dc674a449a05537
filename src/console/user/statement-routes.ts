import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { Nano } from '../../base/money.ts';
import { isDay, zoneDay, zoneDayAt, zoneDays } from '../../base/calendar.ts';
import { compareCharges } from '../../ledger/check.ts';
import type { Database } from '../../storage/database.ts';
import { rebuildHours } from '../../usage/rollup.ts';
import type { StatementDay, StatementLine, StatementProof, StatementView } from '../contract.ts';
import type { Cursors } from '../cursor.ts';
import { dayInput, pageInput, timeInput } from '../input.ts';
import { throwProblem } from '../problem.ts';
import { type ConsoleRoute, type Owner, type SignedInRequest, defineRoute } from '../route.ts';
import { daysBetween, monthSoFar, statement, statementCsv } from './statement.ts';
import { chargesOfDay, type StatementQuery } from './statement-queries.ts';
import { csvType } from '../csv.ts';
import { instant, nanoOf, yuan, yuanOrNull } from '../format.ts';

export interface StatementContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /**
   * The user's tasks that ended without a charge between two moments, with their released holds.
   */
  readonly released: (
    ownerId: string,
    from: number,
    to: number,
  ) => Promise<readonly ReleasedTask[]>;
}

/** A task that failed. Times are wall clock, ms. */
export interface ReleasedTask {
  readonly id: string;
  readonly model: string;
  readonly capability: string;
  readonly keyName: string;
  readonly held: Nano;
  readonly heldAt: number;
  readonly releasedAt: number;
  readonly error: string | undefined;
}

const daysMax = 366;
const rebuildEveryMs = 600_000;
const rebuiltMax = 10_000;
const rangeInput = z.object({ from: dayInput.optional(), to: dayInput.optional() });
const fileInput = rangeInput.extend({ level: z.enum(['day', 'request', 'line']).default('day') });
const dayPageInput = z.object({
  from: timeInput.optional(),
  to: timeInput.optional(),
  ...pageInput,
});

/** Every movement of money, down to each price line, and the proof that it adds up. */
export function statementRoutes(context: StatementContext): readonly ConsoleRoute[] {
  const { database, clock } = context;
  const rebuiltAt = new Map<string, number>();
  return [
    defineRoute({
      method: 'GET',
      path: 'statement',
      role: 'user',
      input: rangeInput,
      handle: ({ owner, input }): Promise<StatementView> =>
        addedUp(context, rebuiltAt, questionOf(owner, input, clock.now())),
    }),
    defineRoute({
      method: 'POST',
      path: 'statement/verify',
      role: 'user',
      input: rangeInput,
      perMinute: 6,
      handle: (request) => verify(context, request),
    }),
    defineRoute({
      method: 'GET',
      path: 'statement.csv',
      role: 'user',
      input: fileInput,
      perMinute: 10,
      async handle({ owner, input, reply }) {
        const question = questionOf(owner, input, clock.now());
        const name = `statement-${question.first}-${question.last}-${input.level}.csv`;
        await reply.file({
          name,
          type: csvType,
          text: statementCsv(database, question, input.level),
        });
      },
    }),
    defineRoute({
      method: 'GET',
      path: 'statement/:date',
      role: 'user',
      input: dayPageInput,
      handle: (request) => dayOf(context, request),
    }),
  ];
}

function questionOf(owner: Owner, input: z.output<typeof rangeInput>, now: number): StatementQuery {
  const today = zoneDayAt(owner.zone, now).day;
  const month = monthSoFar(input.to ?? today);
  const [first, last] = [input.from ?? month.first, input.to ?? month.last];
  if (first > last) throwProblem('invalid', { fields: { from: 'after_to' } });
  if (daysBetween(first, last) > daysMax) throwProblem('invalid', { fields: { from: 'too_long' } });
  return { account: owner.id, zone: owner.zone, first, last, now };
}

/** When figures lack a late record they are made again, but not too often, and are then right. */
async function addedUp(
  { database, clock }: StatementContext,
  rebuiltAt: Map<string, number>,
  question: StatementQuery,
): Promise<StatementView> {
  const view = await statement(database, question);
  const { account } = question;
  const now = clock.monotonicMs();
  if (view.adds_up || now - (rebuiltAt.get(account) ?? -Infinity) < rebuildEveryMs) return view;
  if (rebuiltAt.size >= rebuiltMax) rebuiltAt.clear();
  rebuiltAt.set(account, now);
  return (await rebuildHours(database, account)) === 0 ? view : statement(database, question);
}

/** The charges of a day, oldest first; each with the balance after it. */
async function dayOf(
  context: StatementContext,
  request: SignedInRequest<z.output<typeof dayPageInput>>,
): Promise<StatementDay> {
  const { database, cursors } = context;
  const { owner, params, input, at } = request;
  const date = params['date'] ?? '';
  if (!isDay(date)) return throwProblem('not_found');
  const whole = zoneDay(owner.zone, date);
  const span = {
    from: Math.max(whole.from, input.from ?? whole.from),
    to: Math.min(whole.to, input.to ?? whole.to),
  };
  const of = ['statement', owner.id, owner.zone, date, span.from, span.to];
  const place = cursors.read(of, input.after);
  const query = {
    account: owner.id,
    ...span,
    after: place && { chargedAt: place.at, id: place.id },
    limit: input.limit,
  };
  const page = await database.snapshot(() => chargesOfDay(query));
  let balance = page.before;
  let moved = 0;
  const items = page.charges.map((charge): StatementLine => {
    const cost = nanoOf(charge.cost);
    for (; (page.moves[moved]?.at ?? Infinity) <= Date.parse(charge.at); moved++)
      balance += page.moves[moved]?.amount ?? 0n;
    balance -= cost;
    return { what: 'charge', ...charge, amount: yuan(-cost), balance: yuan(balance) };
  });
  return {
    day: date,
    zone: owner.zone,
    items:
      place === undefined
        ? withReleased(items, await context.released(owner.id, span.from, span.to))
        : items,
    next:
      page.next === undefined
        ? null
        : cursors.write(of, { towards: 'next', at: page.next.chargedAt, id: page.next.id }),
    prev: null,
    as_of: instant(at),
  };
}

/**
 * Adds holds that were released without a charge to the first page, in its order: information, no
 * amount.
 */
function withReleased(
  items: readonly StatementLine[],
  released: readonly ReleasedTask[],
): readonly StatementLine[] {
  const lines = released.map(
    ({ id, model, capability, keyName, held, heldAt, releasedAt, error }): StatementLine => ({
      what: 'not_charged',
      id,
      at: instant(releasedAt),
      model,
      kind: capability,
      key_name: keyName,
      held: yuan(held),
      held_at: instant(heldAt),
      released_at: instant(releasedAt),
      error: error ?? null,
    }),
  );
  return [...items, ...lines].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/**
 * Adds up a range again from the ledger's transfers, day by day, so that no query is long enough to
 * hold up others.
 */
async function verify(
  { database, clock }: StatementContext,
  { owner, input }: SignedInRequest<z.output<typeof rangeInput>>,
): Promise<StatementProof> {
  const started = clock.monotonicMs();
  const question = questionOf(owner, input, clock.now());
  const view = await statement(database, question);
  const asOf = Date.parse(view.as_of);
  let lines = view.rows.filter(({ kind }) => kind !== 'charges').length;
  let amount = 0n;
  let differs: StatementProof['differs'] = null;
  for (const { from, to } of zoneDays(owner.zone, question.first, question.last)) {
    for (let begin = from; begin < Math.min(to, asOf + 1); begin += stepMs) {
      const some = await database.snapshot(() =>
        compareCharges(owner.id, { from: begin, to: Math.min(begin + stepMs, to, asOf + 1) }),
      );
      lines += some.lines;
      amount += some.amount;
      if (some.differs !== undefined)
        differs ??= {
          id: some.differs.id,
          recorded: yuanOrNull(some.differs.recorded),
          transferred: yuanOrNull(some.differs.transferred),
        };
    }
  }
  const again = view.charges.amount === yuan(-amount) ? view : await statement(database, question);
  return {
    ok: differs === null && again.adds_up && again.charges.amount === yuan(-amount),
    lines,
    opening: view.opening.balance,
    closing: view.closing.balance,
    took_ms: Math.round(clock.monotonicMs() - started),
    differs,
    as_of: view.as_of,
  };
}

const stepMs = 6 * 3_600_000;
