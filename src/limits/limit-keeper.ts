import type { Timers } from '../base/clock.ts';
import type {
  Allowance,
  Lease,
  LimitExceeded,
  LimitStates,
  MemoryLimiter,
  Share,
  Units,
} from './limiter.ts';

/** A request of a worker process to the process that keeps all limits; plain data. */
export type LimitQuestion =
  | EnterQuestion
  | { readonly limit: 'finish'; readonly id: number; readonly tokens: number }
  /** Asks for units of these shares, for requests of about `tokens`. The worker chooses the id. */
  | {
      readonly limit: 'lease';
      readonly id: number;
      readonly shares: readonly Share[];
      readonly tokens: number;
    }
  /** Gives units of a lease back. `ended`: the worker has none left but those of running requests. */
  | {
      readonly limit: 'return';
      readonly id: number;
      readonly units: Units;
      readonly ended: boolean;
    };

interface EnterQuestion {
  readonly limit: 'enter';
  readonly id: number;
  readonly subject: string;
  readonly allowance: Allowance;
  readonly tokens: number;
  readonly also: Share | undefined;
}

export type LimitAnswer =
  /** To `enter`: a limit that is exceeded, or a pass without its `finish`. */
  | { readonly id: number; readonly entered: LimitExceeded | LimitStates }
  /** To `lease`. */
  | { readonly lease: number; readonly granted: GrantedLease | undefined }
  /** The worker must return what it has left of this lease. */
  | { readonly recall: number };

export interface GrantedLease extends LimitStates {
  readonly units: Units;
}

/** A worker that does not return a lease within this time is not waited for. */
export const recallMs = 1_000;

/** A worker process, as the keeper of the limits sees it. */
export interface LimitedWorker {
  receive(questions: readonly LimitQuestion[]): void;
  /** The process has ended: its running requests end, and count as they were estimated. */
  gone(): void;
}

/** A request that is refused unless a lease brings back what it needs. */
interface Held {
  readonly worker: KeptWorker;
  readonly question: EnterQuestion;
  readonly awaited: Set<KeptLease>;
}

/**
 * Keeps the limits of several worker processes. A worker asks for each request, or leases units of
 * an allowance of which much is left. No request is refused because of units that lie unused in a
 * lease: they are recalled first.
 */
export class LimitKeeper {
  readonly #limiter: MemoryLimiter;
  readonly #timers: Timers;
  readonly #workers = new Set<KeptWorker>();
  /** Leases with unused units, by subject. */
  readonly #leases = new Map<string, Set<KeptLease>>();
  readonly #held = new Set<Held>();

  constructor(limiter: MemoryLimiter, timers: Timers) {
    this.#limiter = limiter;
    this.#timers = timers;
  }

  /** `answer` sends to this process; answers that belong together are sent together. */
  join(answer: (answers: readonly LimitAnswer[]) => void): LimitedWorker {
    const worker = new KeptWorker(answer);
    this.#workers.add(worker);
    return {
      receive: (questions) => {
        // Messages of a process may still arrive after the news of its end.
        if (!this.#workers.has(worker)) return;
        for (const question of questions) this.#receive(worker, question);
        this.#flush();
      },
      gone: () => {
        this.#workers.delete(worker);
        for (const held of this.#held) if (held.worker === worker) this.#held.delete(held);
        worker.end();
        for (const lease of worker.leases.values()) this.#ended(lease);
        this.#flush();
      },
    };
  }

  #receive(worker: KeptWorker, question: LimitQuestion): void {
    switch (question.limit) {
      case 'enter':
        return this.#enter(worker, question);
      case 'finish':
        return worker.finish(question.id, question.tokens);
      case 'lease':
        return this.#lease(worker, question.id, question.shares, question.tokens);
      case 'return': {
        const lease = worker.leases.get(question.id);
        if (lease === undefined) return;
        lease.giveBack(question.units);
        if (question.ended) this.#ended(lease);
        if (lease.over) worker.leases.delete(question.id);
      }
    }
  }

  #enter(worker: KeptWorker, question: EnterQuestion): void {
    const { id, subject, allowance, tokens, also } = question;
    const entered = this.#limiter.enter(subject, allowance, tokens, also);
    if (!('limitOf' in entered)) return worker.enters(id, entered, tokens);
    const awaited = this.#leasesThatHelp(question);
    if (awaited.size === 0) return worker.tell({ id, entered });
    this.#held.add({ worker, question, awaited });
    for (const lease of awaited) this.#recall(lease);
  }

  /** The leases of the shares that refuse this request. Empty where one of them has no lease. */
  #leasesThatHelp({ subject, allowance, tokens, also }: EnterQuestion): Set<KeptLease> {
    const found = new Set<KeptLease>();
    for (const share of [{ subject, allowance }, ...(also === undefined ? [] : [also])]) {
      if (!this.#limiter.refuses(share, tokens)) continue;
      const leases = this.#leases.get(share.subject);
      if (leases === undefined) return new Set();
      for (const lease of leases) found.add(lease);
    }
    return found;
  }

  #lease(worker: KeptWorker, id: number, shares: readonly Share[], tokens: number): void {
    const known = worker.leases.get(id);
    const granted = known?.recalled === true ? undefined : this.#limiter.lease(shares, tokens);
    if (granted === undefined) return worker.tell({ lease: id, granted });
    const lease = known ?? new KeptLease(worker, id, shares);
    lease.grant(granted);
    worker.leases.set(id, lease);
    for (const { subject } of shares)
      this.#leases.set(subject, (this.#leases.get(subject) ?? new Set()).add(lease));
    const { units, requests, tokens: ofTokens } = granted;
    worker.tell({ lease: id, granted: { units, requests, tokens: ofTokens } });
  }

  #recall(lease: KeptLease): void {
    if (lease.recalled) return;
    const { worker, id } = lease;
    worker.tell({ recall: id });
    lease.stopWaiting = this.#timers.after(recallMs, () => {
      this.#ended(lease);
      this.#flush();
    });
  }

  /** Nothing more comes back from this lease but what running requests hold. */
  #ended(lease: KeptLease): void {
    lease.stopWaiting?.();
    lease.stopWaiting = undefined;
    for (const { subject } of lease.shares) {
      const leases = this.#leases.get(subject);
      leases?.delete(lease);
      if (leases?.size === 0) this.#leases.delete(subject);
    }
    for (const held of this.#held) {
      if (!held.awaited.delete(lease) || held.awaited.size > 0) continue;
      this.#held.delete(held);
      this.#enter(held.worker, held.question);
    }
  }

  #flush(): void {
    for (const worker of this.#workers) worker.flush();
  }
}

class KeptLease {
  readonly worker: KeptWorker;
  readonly id: number;
  readonly shares: readonly Share[];
  /** Ends the wait for the answer to a recall; undefined: nobody waits. */
  stopWaiting: (() => void) | undefined;
  #granted: Lease | undefined;
  #places = 0;

  constructor(worker: KeptWorker, id: number, shares: readonly Share[]) {
    this.worker = worker;
    this.id = id;
    this.shares = shares;
  }

  get recalled(): boolean {
    return this.stopWaiting !== undefined;
  }

  /** No place is taken any more. */
  get over(): boolean {
    return this.#places === 0;
  }

  grant(lease: Lease): void {
    this.#granted = lease;
    this.#places += lease.units.places;
  }

  giveBack(units: Units): void {
    this.#granted?.giveBack(units);
    this.#places -= units.places;
  }

  /** Its process has ended: only places come back. */
  giveUp(): void {
    this.giveBack({ requests: 0, tokens: 0, places: this.#places });
  }
}

class KeptWorker {
  readonly leases = new Map<number, KeptLease>();
  readonly #answer: (answers: readonly LimitAnswer[]) => void;
  readonly #running = new Map<
    number,
    { readonly pass: { finish(tokens: number): void }; readonly tokens: number }
  >();
  #unsent: LimitAnswer[] = [];

  constructor(answer: (answers: readonly LimitAnswer[]) => void) {
    this.#answer = answer;
  }

  enters(id: number, pass: LimitStates & { finish(tokens: number): void }, tokens: number): void {
    this.#running.set(id, { pass, tokens });
    this.tell({ id, entered: { requests: pass.requests, tokens: pass.tokens } });
  }

  finish(id: number, tokens: number): void {
    this.#running.get(id)?.pass.finish(tokens);
    this.#running.delete(id);
  }

  tell(answer: LimitAnswer): void {
    this.#unsent.push(answer);
  }

  flush(): void {
    if (this.#unsent.length === 0) return;
    const answers = this.#unsent;
    this.#unsent = [];
    this.#answer(answers);
  }

  end(): void {
    for (const { pass, tokens } of this.#running.values()) pass.finish(tokens);
    this.#running.clear();
    for (const lease of this.leases.values()) lease.giveUp();
  }
}
