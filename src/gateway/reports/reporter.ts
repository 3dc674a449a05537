import type { Clock } from '../../base/clock.ts';
import { randomText } from '../../base/random.ts';
import { channelId, type Snapshot, withEachKey } from '../../catalog/snapshot.ts';
import type { Health } from '../../routing/candidates.ts';
import type { Database } from '../../storage/database.ts';
import { type OnError, WorkOutcomes } from '../../storage/repeat.ts';
import type { OpenChannels } from '../channels/open-channels.ts';
import type { PeriodicChecks } from '../periodic-checks.ts';
import type { ChannelCounts } from './counts.ts';
import {
  isWorse,
  type ChannelHealthState,
  type ChannelReport,
  forgetReports,
  type NewHealthChange,
  type NodeReport,
  writeReport,
} from './report.ts';

interface KeyState {
  readonly state: ChannelHealthState;
  readonly why: ChannelReport['why'];
  readonly forMs: number | undefined;
}

export interface ReporterSources {
  readonly database: Database;
  readonly clock: Clock;
  readonly counts: ChannelCounts;
  readonly health: Health;
  readonly openChannels: OpenChannels;
  readonly watch: PeriodicChecks;
  readonly catalog: () => Snapshot;
  readonly onError: OnError;
}

const everyMs = 2_000;
/** An unchanged report is rewritten this often, to show that the process is alive. */
const unchangedMsMax = 10_000;
const forgetEveryMs = 3_600_000;

/**
 * Writes the state and counts of this process every few seconds, so that an operator sees all
 * processes.
 */
export class Reporter {
  readonly #sources: ReporterSources;
  readonly #outcomes: WorkOutcomes;
  readonly #deletions: WorkOutcomes;
  readonly #node = `node_${randomText(12)}`;
  #channels: Readonly<Record<string, ChannelReport>> = {};
  #last: { readonly text: string; readonly at: number } | undefined;
  #databaseMs = 0;
  #forgotAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(sources: ReporterSources) {
    this.#sources = sources;
    this.#outcomes = new WorkOutcomes('report of this process', sources.onError);
    this.#deletions = new WorkOutcomes('deletion of old reports', sources.onError);
  }

  /** How long writing the last report took. */
  get databaseMs(): number {
    return this.#databaseMs;
  }

  /** The state of the channels in the last report. */
  get channels(): Readonly<Record<string, ChannelReport>> {
    return this.#channels;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#writing = this.report().finally(() => {
        if (this.#timer !== undefined) this.start();
      });
    }, everyMs).unref();
  }

  /** Writes the current report and counts. What cannot be written goes into the next report. */
  async report(): Promise<void> {
    const { database, clock, counts, watch } = this.#sources;
    const waiting = counts.take();
    const recent = counts.recent();
    const { channels, healthChanges } = this.#look();
    const state = {
      node: this.#node,
      openStreams: watch.open,
      recent,
      databaseMs: this.#databaseMs,
      channels,
    };
    const at = clock.now();
    const text = JSON.stringify(state);
    const nothingNew =
      waiting.length === 0 && healthChanges.length === 0 && text === this.#last?.text;
    if (nothingNew && at - (this.#last?.at ?? 0) < unchangedMsMax) return;
    const report: NodeReport = { ...state, at };
    const begun = clock.monotonicMs();
    try {
      await database.transact(() => writeReport(report, waiting, healthChanges));
      this.#channels = channels;
      this.#last = { text, at };
      this.#outcomes.succeeded();
    } catch (error) {
      counts.putBack(waiting);
      this.#outcomes.failed(error);
      return;
    } finally {
      this.#databaseMs = Math.round(clock.monotonicMs() - begun);
    }
    // Its failure says nothing about the report: the counts are written.
    await this.#deletions.of(this.#forget(at));
  }

  async #forget(at: number): Promise<void> {
    if (at - this.#forgotAt < forgetEveryMs) return;
    await this.#sources.database.transact(() => forgetReports(at));
    this.#forgotAt = at;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    await this.report();
    // A process that has ended reports nothing more.
    await this.#sources.database
      .query('DELETE FROM node_report WHERE node=$1', [this.#node])
      .catch(() => []);
  }

  /** The current state of every channel, and the changes since the last report. */
  #look(): {
    readonly channels: Readonly<Record<string, ChannelReport>>;
    readonly healthChanges: readonly NewHealthChange[];
  } {
    const { catalog, clock, openChannels, counts } = this.#sources;
    const now = clock.now();
    const channels: Record<string, ChannelReport> = {};
    const healthChanges: NewHealthChange[] = [];
    for (const channel of catalog().channels.values()) {
      const { name } = channel;
      const before = this.#channels[name];
      const states = withEachKey(channel).map((keyed) => this.#stateOf(channelId(keyed)));
      const { state, why, forMs } = bestOf(states);
      const keys =
        states.length === 1 ? undefined : states.map((key) => ({ state: key.state, why: key.why }));
      const until = forMs === undefined ? undefined : now + forMs;
      const same = (before?.state ?? 'healthy') === state && (before?.why ?? why) === why;
      // The end of a wait is recomputed from the current time: only a longer wait is news.
      const end =
        same && until !== undefined && before?.until !== undefined && until - before.until < everyMs
          ? before.until
          : until;
      channels[name] = {
        state,
        why,
        since: same ? (before?.since ?? now) : now,
        until: end,
        running: openChannels.running(channel),
        recent: counts.recentOf(name),
        ...(keys && { keys }),
      };
      if (!same) healthChanges.push({ channel: name, at: now, state, why, until });
    }
    return { channels, healthChanges };
  }

  #stateOf(id: string): KeyState {
    const { shut, breaker, lastFault } = this.#sources.health.state(
      id,
      this.#sources.clock.monotonicMs(),
    );
    if (shut !== undefined) {
      const parked = shut.because === 'credentials' || shut.because === 'quota';
      return { state: parked ? 'parked' : 'cooling', why: shut.because, forMs: shut.forMs };
    }
    if (breaker === 'closed') return { state: 'healthy', why: undefined, forMs: undefined };
    const refused = lastFault === 'credentials' || lastFault === 'quota';
    return { state: refused ? 'parked' : 'degraded', why: lastFault, forMs: undefined };
  }
}

/** A channel's state is that of its best key, since its requests go there. */
function bestOf(states: readonly KeyState[]): KeyState {
  return states.reduce((best, state) => (isWorse(best, state) ? state : best));
}
