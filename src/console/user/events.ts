import { setTimeout as wait } from 'node:timers/promises';
import { endOfTime } from '../../base/calendar.ts';
import { announcementsMark } from '../../accounts/announcements.ts';
import { keyNamesOf } from '../../accounts/user-keys.ts';
import { roleOfSession } from '../../accounts/sessions.ts';
import type { Role } from '../../accounts/users.ts';
import type { Clock } from '../../base/clock.ts';
import { tasksSince } from '../../gateway/tasks/queries.ts';
import type { Task } from '../../gateway/tasks/task.ts';
import { moneyMark } from '../../ledger/transfers.ts';
import { readVersion } from '../../storage/changes.ts';
import { catalogTopic } from '../../catalog/editing.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { Semaphore } from '../../base/semaphore.ts';
import { type Database, isAway, type Transaction } from '../../storage/database.ts';
import { usagePage } from '../../usage/page.ts';
import { balanceView } from './balance.ts';
import { chargeViews } from './charges.ts';
import {
  type EventStream,
  type Owner,
  type ConsoleRoute,
  type SignedInRequest,
  defineRoute,
} from '../route.ts';
import type { BalanceView, ChargeView, ConsoleEventName, OrderView } from '../contract.ts';
import { throwProblem } from '../problem.ts';
import { type TasksContext, taskView } from './tasks.ts';

export interface EventsContext extends TasksContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly catalog: () => Snapshot;
  /** The owner's orders that changed at `since` (wall clock, ms) or later, with when they did. */
  readonly ordersSince: (
    ownerId: string,
    since: number,
  ) => Promise<readonly { readonly changedAt: number; readonly order: OrderView }[]>;
  readonly lookEveryMs?: number;
}

const usualLookMs = 1_000;
/** A charge committed this long after its time is still sent, late, but never twice. */
const lateMs = 30_000;
const chargesMax = 100;
const sentMax = 2_000;
const retryMs = 30_000;
/**
 * Per user and process: each stream queries the database. A browser needs one for all of its pages.
 */
const streamsMax = 20;
/** Per process: other queries of the database must not wait behind a thousand open pages. */
const looksAtOnce = 4;
/** From 200 streams on each looks less often. */
const msPerStream = 5;

/**
 * Events about a user's money and work as they happen in any process: each stream queries the
 * database once a second. An event's id is the time of the query that found it: a browser that
 * reconnects with it gets everything that has happened since.
 */
export function eventRoutes(context: EventsContext): readonly ConsoleRoute[] {
  const open = new Map<string, number>();
  const looks = new Semaphore(looksAtOnce);
  let streams = 0;
  const everyMs = () => Math.max(context.lookEveryMs ?? usualLookMs, streams * msPerStream);
  return [
    defineRoute({
      method: 'GET',
      path: 'events',
      role: 'user',
      perMinute: 60,
      async handle(request): Promise<undefined> {
        const { id } = request.user;
        const before = open.get(id) ?? 0;
        if (before >= streamsMax) throwProblem('rate_limited', { retryAfterMs: retryMs });
        open.set(id, before + 1);
        streams += 1;
        try {
          await follow(context, request, { stream: request.reply.events(), looks, everyMs });
        } finally {
          streams -= 1;
          const left = (open.get(id) ?? 1) - 1;
          if (left === 0) open.delete(id);
          else open.set(id, left);
        }
        return undefined;
      },
    }),
  ];
}

interface Following {
  readonly stream: EventStream;
  readonly looks: Semaphore;
  readonly everyMs: () => number;
}

async function follow(
  context: EventsContext,
  request: SignedInRequest,
  { stream, looks, everyMs }: Following,
): Promise<void> {
  const { clock } = context;
  const { signal } = stream;
  const since = startOf(request.headers['last-event-id'], clock.now());
  const watch = new UserWatch(context, request, since ?? clock.now());
  // A browser without an event id has just loaded the page: of earlier events it gets only the
  // balance.
  let wanted: readonly ConsoleEventName[] | undefined =
    since === undefined ? ['balance'] : undefined;
  const look = () =>
    watch.look((event, data, id) => {
      if (wanted?.includes(event) !== false) stream.send({ event, id, data });
    });
  while (!signal.aborted) {
    try {
      if (!(await looks.run(signal, look))) stream.end();
      wanted = undefined;
    } catch (error) {
      // What happens while the database does not answer is sent when it is back.
      if (!signal.aborted && !isAway(error)) throw error;
    }
    await wait(everyMs(), undefined, { signal }).catch(() => undefined);
  }
}

/** The browser's last event, if it is recent. */
function startOf(lastId: string | string[] | undefined, now: number): number | undefined {
  const at = Number(lastId);
  return Number.isInteger(at) && at > now - 3_600_000 && at <= now ? at : undefined;
}

type SendEvent = (event: ConsoleEventName, data: unknown, id: string) => void;

interface Changes {
  readonly charges: readonly ChargeView[];
  readonly tasks: readonly Task[];
  readonly names: ReadonlyMap<string, string>;
  readonly ledger: string;
  readonly topics: readonly (readonly [name: ConsoleEventName, version: string])[];
}

/** Finds the news of one browser, and remembers what it has sent. */
class UserWatch {
  readonly #context: EventsContext;
  readonly #owner: Owner;
  readonly #session: string;
  readonly #host: string | undefined;
  readonly #sent = new Set<string>();
  readonly #topics = new Map<string, string>();
  #since: number;
  #balance = '';
  #ledger = '';

  constructor(context: EventsContext, { owner, session, headers }: SignedInRequest, since: number) {
    this.#context = context;
    this.#owner = owner;
    this.#session = session.id;
    this.#host = headers.host;
    this.#since = since;
  }

  /** Resolves with false when the user is not signed in any more; then nothing is sent. */
  async look(send: SendEvent): Promise<boolean> {
    const { database, clock } = this.#context;
    const now = clock.now();
    const id = String(now);
    const found = await database.snapshot(() => this.#news(now));
    if (found === undefined) return false;
    this.#sendTopics(found, send, id);
    for (const charge of found.charges)
      if (this.#isNew(`charge ${charge.id}`)) send('charge', charge, id);
    for (const task of found.tasks) {
      const view = await taskView(this.#context, task, found.names, this.#host);
      if (this.#isNew(`task ${view.id} ${view.state} ${view.progress}`)) send('task', view, id);
    }
    for (const { changedAt, order } of await this.#context.ordersSince(
      this.#owner.id,
      this.#since - lateMs,
    ))
      if (
        changedAt >= this.#since - lateMs &&
        this.#isNew(`order ${order.id} ${order.state} ${order.refunded}`)
      )
        send('order', order, id);
    await this.#sendBalance(found.ledger, send, id);
    this.#since = now;
    return true;
  }

  /** Everything at one moment, read from indexes alone. */
  *#news(now: number): Transaction<Changes | undefined> {
    const role = yield* roleOfSession(this.#session, now);
    if (role === undefined) return undefined;
    const account = this.#owner.id;
    const since = this.#since - lateMs;
    const charges = yield* chargesSince(account, since);
    const tasks = yield* tasksSince(account, since);
    const names = yield* keyNamesOf(
      account,
      tasks.map(({ keyId }) => keyId),
    );
    const ledger = yield* moneyMark(account);
    const topics = yield* topicsFor(role);
    return { charges, tasks, names, ledger, topics };
  }

  async #sendBalance(ledger: string, send: SendEvent, id: string): Promise<void> {
    if (ledger === this.#ledger) return;
    const { database, clock, catalog } = this.#context;
    const view: BalanceView = await database.snapshot(() =>
      balanceView(this.#owner, catalog(), clock.now()),
    );
    this.#ledger = ledger;
    const text = JSON.stringify(view);
    if (text !== this.#balance) send('balance', view, id);
    this.#balance = text;
  }

  #sendTopics({ topics }: Changes, send: SendEvent, id: string): void {
    for (const [name, version] of topics) {
      const known = this.#topics.get(name);
      this.#topics.set(name, version);
      if (known !== undefined && known !== version) send(name, { changed: true }, id);
    }
  }

  #isNew(what: string): boolean {
    if (this.#sent.has(what)) return false;
    const [first] = this.#sent.size >= sentMax ? this.#sent : [];
    if (first !== undefined) this.#sent.delete(first);
    this.#sent.add(what);
    return true;
  }
}

/** What tells the topics' changes: announcements for everybody, channels for operators. */
function* topicsFor(role: Role): Transaction<Changes['topics']> {
  const announcements = yield* announcementsMark();
  if (role !== 'operator') return [['announcement', announcements]];
  const [catalog] = yield readVersion(catalogTopic);
  return [
    ['announcement', announcements],
    ['channel', String(catalog?.['version'])],
  ];
}

/** Oldest first. When there are too many, only the latest. */
function* chargesSince(account: string, since: number): Transaction<readonly ChargeView[]> {
  const { rows } = yield* usagePage({ account, from: since, to: endOfTime, limit: chargesMax });
  return yield* chargeViews(account, rows.toReversed());
}
