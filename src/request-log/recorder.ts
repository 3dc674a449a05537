import type { Clock } from '../base/clock.ts';
import type { Refusal } from '../base/refusal.ts';
import { type Database, isFinal } from '../storage/database.ts';
import { type OnError, WorkOutcomes } from '../storage/repeat.ts';
import type { AccessLine } from '../telemetry/request-metrics.ts';
import {
  type LoggedAttempt,
  type LoggedRequest,
  type RequestLogLimits,
  requestLogLimits,
} from './entry.ts';
import { writeRequests } from './queries.ts';

/** A request of a known key that was refused. */
export interface RefusedRequest {
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly account: string;
  readonly keyId: string;
  readonly endpoint: string;
  /** Called only when the request is recorded. */
  readonly model: () => string | undefined;
}

/** `refused` adds the endpoint, which `finished` does not know. */
type ReportedRequest = LoggedRequest & { endpoint: string | undefined };

/**
 * Collects requests that were refused, failed, or needed more than one attempt, and writes them in
 * batches. Recording never waits and never fails: what exceeds a limit, or what the database will
 * never take, is counted in `dropped`.
 */
export class RequestRecorder {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #outcomes: WorkOutcomes;
  readonly #limits: RequestLogLimits;
  /** The failed attempts of requests that are under way, by request id. */
  readonly #open = new Map<string, LoggedAttempt[]>();
  /** The rows of refusals that `finished` has recorded and `refused` is about to see. */
  readonly #reported = new WeakMap<Refusal, ReportedRequest>();
  /** Requests recorded in the minute, by account. */
  readonly #recorded = new Map<string, number>();
  #minute = 0;
  #waiting: LoggedRequest[] = [];
  /** The rows that are being written. */
  #batch: readonly LoggedRequest[] = [];
  #dropped = 0;
  /** So many rows are written one by one: the database will never take one of them. */
  #oneByOne = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(
    database: Database,
    clock: Clock,
    onError: OnError,
    limits: Partial<RequestLogLimits> = {},
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#outcomes = new WorkOutcomes('request log', onError);
    this.#limits = { ...requestLogLimits, ...limits };
  }

  /** Requests that were not recorded: a limit was reached, or the database refused them. */
  get dropped(): number {
    return this.#dropped;
  }

  attemptFailed(id: string, attempt: LoggedAttempt): void {
    const attempts = this.#open.get(id);
    if (attempts !== undefined) return void attempts.push(attempt);
    // A request that ends by a bug is never finished: the oldest goes.
    const [oldest] = this.#open.size >= this.#limits.openMax ? this.#open.keys() : [];
    if (oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(id, [attempt]);
  }

  /** An admitted request is over. `why`: what the client is told instead of an answer. */
  finished(line: AccessLine, why: Refusal | undefined): void {
    const attempts = this.#open.get(line.id);
    if (attempts !== undefined) this.#open.delete(line.id);
    else if (why === undefined && line.status < 400) return;
    const at = this.#clock.now() - line.durationMs;
    if (!this.#admits(line.userId)) return;
    const row: ReportedRequest = {
      id: line.id,
      at: Math.round(at),
      account: line.userId,
      keyId: line.keyId,
      endpoint: undefined,
      model: this.#text(line.model),
      channel: line.channel,
      status: line.status,
      outcome: why?.refusal ?? line.outcome,
      param: this.#text(why?.param ?? undefined),
      durationMs: Math.round(line.durationMs),
      attempts: attempts ?? [],
    };
    if (why !== undefined) this.#reported.set(why, row);
    this.#add(row);
  }

  /** A request was refused, before or after it was admitted. */
  refused(request: RefusedRequest, why: Refusal): void {
    const endpoint = this.#text(request.endpoint);
    const reported = this.#reported.get(why);
    if (reported !== undefined) {
      reported.endpoint = endpoint;
      return;
    }
    if (!this.#admits(request.account)) return;
    this.#add({
      id: request.id,
      at: request.at,
      account: request.account,
      keyId: request.keyId,
      endpoint,
      model: this.#text(request.model()),
      channel: undefined,
      status: why.status,
      outcome: why.refusal,
      param: this.#text(why.param ?? undefined),
      durationMs: Math.max(0, this.#clock.now() - request.at),
      attempts: [],
    });
  }

  /** Writes what waits. Resolves when it is written, or cannot be written now. */
  async flush(): Promise<void> {
    this.#cancel();
    await (this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    }));
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.flush();
    this.#cancel();
  }

  /** Whether the account may record one more request in this minute. */
  #admits(account: string): boolean {
    const minute = Math.floor(this.#clock.now() / 60_000);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#recorded.clear();
    }
    const recorded = this.#recorded.get(account) ?? 0;
    if (recorded < this.#limits.accountPerMinuteMax) {
      this.#recorded.set(account, recorded + 1);
      return true;
    }
    this.#dropped += 1;
    return false;
  }

  #add(row: LoggedRequest): void {
    this.#waiting.push(row);
    if (this.#waiting.length + this.#batch.length > this.#limits.waitingMax) this.#dropOne();
    this.#schedule();
  }

  /** The account with the most waiting rows loses its latest: a small one loses none to it. */
  #dropOne(): void {
    const counts = new Map<string, number>();
    let [largest, most] = ['', 0];
    for (const { account } of this.#waiting) {
      const count = (counts.get(account) ?? 0) + 1;
      counts.set(account, count);
      if (count > most) [largest, most] = [account, count];
    }
    this.#waiting.splice(
      this.#waiting.findLastIndex(({ account }) => account === largest),
      1,
    );
    this.#dropped += 1;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#limits.writeEveryMs).unref();
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const isOneByOne = this.#oneByOne > 0;
      const batch = this.#waiting.splice(0, isOneByOne ? 1 : this.#limits.batchMax);
      this.#batch = batch;
      try {
        await this.#database.transact(() => writeRequests(batch));
        this.#outcomes.succeeded();
      } catch (error) {
        const final = isFinal(error);
        if (!final || batch.length === 1) this.#outcomes.failed(error);
        if (!final || batch.length > 1) {
          this.#waiting.unshift(...batch);
          if (!final) return this.#schedule();
          this.#oneByOne = batch.length;
          continue;
        }
        this.#dropped += 1;
      } finally {
        this.#batch = [];
      }
      if (isOneByOne) this.#oneByOne -= 1;
    }
  }

  #text(value: string | undefined): string | undefined {
    return value?.slice(0, this.#limits.textCharsMax).replace(/[\0\p{Surrogate}]/gu, '');
  }
}
