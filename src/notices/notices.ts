import { randomText } from '../base/id.ts';
import type { Clock } from '../base/clock.ts';
import { recordedCatalogue } from '../catalog/recorded.ts';
import { nodeReports } from '../gateway/reports/report.ts';
import type { Database, Row } from '../storage/database.ts';
import { lookAtBalances, lookAtChannels } from './matters.ts';
import { type Outgoing, type Senders, sendersOf } from './senders.ts';
import type { NoticeSettings } from './settings.ts';

export interface NoticeRooms {
  readonly database: Database;
  readonly clock: Clock;
  readonly settings: NoticeSettings;
  /** Where the console is, for links. */
  readonly home: string | undefined;
  /** Hears what became of each attempt to say something; never whom it was for. */
  readonly said: (id: string, way: string, why: string | undefined) => void;
  readonly trouble: (error: unknown) => void;
}

const lookEveryMs = 15_000;
/** Longer than a look and its sendings take; who dies has it for so long. */
const turnMs = 60_000;
/**
 * Said at most in one look: a thousand users whose balance is low at once are told within a quarter
 * of an hour.
 */
const saidMax = 20;
/** After a failed attempt so long until the next; after the last one it is given up. */
const againAfterMs = [30_000, 120_000, 600_000, 3_600_000, 21_600_000] as const;
const keptMs = 30 * 86_400_000;

/**
 * Looks for what somebody would want to know, and says it: on one process of all, whoever has the
 * turn.
 */
export class Notices {
  readonly #rooms: NoticeRooms;
  readonly #senders: Senders;
  readonly #node = randomText(16);
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(rooms: NoticeRooms) {
    this.#rooms = rooms;
    this.#senders = sendersOf(rooms.settings);
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), lookEveryMs);
    this.#timer.unref();
  }

  /** One look at everything; what fails is tried again with the next. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#rooms.trouble(error))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
    const release = 'UPDATE notice_turn SET until=0 WHERE id=1 AND node=$1';
    await this.#rooms.database.query(release, [this.#node]).catch(() => undefined);
  }

  async #look(): Promise<void> {
    const { database, clock, settings, home } = this.#rooms;
    if (this.#closed || !(await this.#turn())) return;
    const at = clock.now();
    const [{ channels }, reports] = [
      await recordedCatalogue(database),
      await nodeReports(database, clock),
    ];
    const teller = { settings, home, at };
    await database.transact(() => lookAtChannels(channels, reports, teller));
    await database.transact(() => lookAtBalances(teller));
    for (const due of await database.query(dueSql, [at])) {
      if (this.#closed) return;
      await this.#say(due);
    }
    await database.query("DELETE FROM notice WHERE created_at<$1 AND state<>'open'", [at - keptMs]);
  }

  async #turn(): Promise<boolean> {
    const { database, clock } = this.#rooms;
    const now = clock.now();
    const sql =
      'UPDATE notice_turn SET node=$1, until=$2 WHERE id=1 AND (node=$1 OR until<=$3) RETURNING id';
    return (await database.query(sql, [this.#node, now + turnMs, now])).length > 0;
  }

  /**
   * Taken before it is said: whoever dies in between has it said again by the next, a while later.
   */
  async #say(due: Row): Promise<void> {
    const { database, clock, said } = this.#rooms;
    const [id, way] = [String(due['id']), due['way'] === 'email' ? 'email' : 'webhook'] as const;
    const attempts = Number(due['attempts']);
    const now = clock.now();
    const claim =
      "UPDATE notice SET attempts=$2, next_at=$3 WHERE id=$1 AND state='open' AND attempts=$4 RETURNING id";
    const mine = await database.query(claim, [
      id,
      attempts + 1,
      now + (againAfterMs[attempts] ?? turnMs),
      attempts,
    ]);
    if (mine.length === 0) return;
    const outgoing: Outgoing = {
      id,
      target: String(due['target']),
      content: String(due['content']),
    };
    const why = await (this.#senders[way]?.(outgoing, now) ?? 'not configured any more');
    const state =
      why === undefined ? 'sent' : attempts >= againAfterMs.length ? 'given_up' : 'open';
    await database.query('UPDATE notice SET state=$2, why=$3 WHERE id=$1', [
      id,
      state,
      why ?? null,
    ]);
    said(id, way, why);
  }
}

const dueSql = `SELECT * FROM notice WHERE state='open' AND next_at<=$1 ORDER BY next_at, id LIMIT ${saidMax}`;
