import type { Timers } from '../base/clock.ts';
import type { Lease, LeasingLimiter, Units } from './lease.ts';
import {
  type Allowance,
  type LimitExceeded,
  type LimitStates,
  type Pass,
  type Share,
  sharesOf,
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
  /**
   * Gives back all unused units. Ends the lease `number`, or, if that has ended, says which
   * requests have ended since.
   */
  | {
      readonly limit: 'return';
      readonly id: number;
      readonly number: number;
      readonly units: Units;
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
  /** To `lease`, with the question's id. */
  | { readonly lease: number; readonly granted: GrantedLease | undefined }
  /** The worker must return what it has left of the leases of this id. */
  | { readonly recall: number };

export interface GrantedLease extends Omit<Lease, 'end' | 'leave'> {
  /** Counts the leases of one id. */
  readonly number: number;
}

/** A worker that does not return its leases within this time is not waited for. */
export const recallTimeoutMs = 1_000;
/** Further requests are refused without a recall. */
export const heldMax = 1_000;

/** A worker process, as the keeper of the limits sees it. */
export interface LimitedWorker {
  receive(questions: readonly LimitQuestion[]): void;
  /** The process has ended: its running requests end, and count as they were estimated. */
  gone(): void;
}

/** A request that is refused unless a lease brings back what it needs. */
interface HeldRequest {
  readonly worker: KeptWorker;
  readonly question: EnterQuestion;
  awaited: readonly KeptLeases[];
}

/**
 * Keeps the limits of several worker processes. A worker asks for each request, or leases units of
 * an allowance of which much is left. No request is refused because of units that lie unused in a
 * lease: they are recalled first.
 */
export class LimitKeeper {
  readonly #limiter: LeasingLimiter;
  readonly #timers: Timers;
  readonly #workers = new Set<KeptWorker>();
  /** Leases that can be recalled, by subject. */
  readonly #leases = new Map<string, Set<KeptLeases>>();
  readonly #held = new Set<HeldRequest>();

  constructor(limiter: LeasingLimiter, timers: Timers) {
    this.#limiter = limiter;
    this.#timers = timers;
  }

  /** `send` sends to this process; answers that belong together are sent together. */
  join(send: (answers: readonly LimitAnswer[]) => void): LimitedWorker {
    const worker = new KeptWorker(send);
    this.#workers.add(worker);
    return {
      receive: (questions) => {
        // Messages of a process may still arrive after the news of its end.
        if (!this.#workers.has(worker)) return;
        for (const question of questions) this.#receive(worker, question);
        this.#decideHeld();
        this.#flush();
      },
      gone: () => {
        this.#workers.delete(worker);
        for (const held of this.#held) if (held.worker === worker) this.#held.delete(held);
        worker.end();
        for (const leases of worker.leases.values()) this.#isBack(leases);
        this.#decideHeld();
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
      case 'return':
        return this.#return(worker, question.id, question.number, question.units);
    }
  }

  #enter(worker: KeptWorker, question: EnterQuestion): void {
    const refusal = this.#admit(worker, question);
    if (refusal === undefined) return;
    const awaited = this.#held.size < heldMax ? this.#recallFor(question) : [];
    if (awaited.length > 0) this.#held.add({ worker, question, awaited });
    else worker.answer({ id: question.id, entered: refusal });
  }

  #admit(worker: KeptWorker, question: EnterQuestion): LimitExceeded | undefined {
    const { id, subject, allowance, tokens, also } = question;
    const entered = this.#limiter.enter(subject, allowance, tokens, also);
    if ('limitOf' in entered) return entered;
    worker.enter(id, entered, tokens);
    return undefined;
  }

  /** Recalls the leases with whose units this request may enter; empty: it cannot enter now. */
  #recallFor(question: EnterQuestion): readonly KeptLeases[] {
    const found: KeptLeases[] = [];
    for (const share of sharesOf(question)) {
      const room = this.#limiter.room(share, question.tokens);
      if (room === 'yes') continue;
      const leases = this.#leases.get(share.subject);
      if (room === 'no' || leases === undefined) return [];
      found.push(...leases);
    }
    for (const leases of found) this.#recall(leases);
    return found;
  }

  /** Answers the held requests that can enter, or for which no lease is out any more. */
  #decideHeld(): void {
    for (const held of this.#held) {
      const { worker, question } = held;
      const refusal = this.#admit(worker, question);
      if (refusal !== undefined) {
        if (held.awaited.some(({ canReturn }) => canReturn)) continue;
        // Another share may have no room by now.
        held.awaited = this.#recallFor(question);
        if (held.awaited.length > 0) continue;
        worker.answer({ id: question.id, entered: refusal });
      }
      this.#held.delete(held);
    }
  }

  #lease(worker: KeptWorker, id: number, shares: readonly Share[], tokens: number): void {
    const leases = worker.leases.get(id) ?? new KeptLeases(worker, id, shares);
    const isWanted = leases.stopWaiting !== undefined || this.#isAwaited(shares);
    const lease = isWanted ? undefined : this.#limiter.lease(shares, tokens);
    if (lease === undefined) return worker.answer({ lease: id, granted: undefined });
    worker.leases.set(id, leases);
    leases.canReturn = true;
    for (const { subject } of shares)
      this.#leases.set(subject, (this.#leases.get(subject) ?? new Set()).add(leases));
    const { units, requests, tokens: ofTokens } = lease;
    const number = leases.grant(lease);
    worker.answer({ lease: id, granted: { number, units, requests, tokens: ofTokens } });
  }

  /** Whether a held request waits for units of one of these shares: a new lease would take them. */
  #isAwaited(shares: readonly Share[]): boolean {
    for (const { question } of this.#held)
      for (const { subject } of sharesOf(question))
        if (shares.some((share) => share.subject === subject)) return true;
    return false;
  }

  #return(worker: KeptWorker, id: number, number: number, units: Units): void {
    const leases = worker.leases.get(id);
    // A worker returns only what it has, so there is always a lease.
    if (leases === undefined) return;
    leases.giveBack(number, units);
    if (leases.areOver) worker.leases.delete(id);
    if (leases.canReturn && !leases.haveUnits) this.#isBack(leases);
  }

  #recall(leases: KeptLeases): void {
    if (leases.stopWaiting !== undefined) return;
    leases.worker.answer({ recall: leases.id });
    const stopWaiting = this.#timers.after(recallTimeoutMs, () =>
      // A return may have arrived while this process itself stood still.
      this.#timers.soon(() => {
        if (leases.stopWaiting !== stopWaiting) return;
        this.#isBack(leases);
        this.#decideHeld();
        this.#flush();
      }),
    );
    leases.stopWaiting = stopWaiting;
  }

  /** No unused unit comes back from these leases any more. */
  #isBack(leases: KeptLeases): void {
    leases.stopWaiting?.();
    leases.stopWaiting = undefined;
    for (const { subject } of leases.shares) {
      const ofSubject = this.#leases.get(subject);
      ofSubject?.delete(leases);
      if (ofSubject?.size === 0) this.#leases.delete(subject);
    }
    leases.canReturn = false;
  }

  #flush(): void {
    for (const worker of this.#workers) worker.flush();
  }
}

/** The leases that one worker has of the same shares: one, or two while it is renewed. */
class KeptLeases {
  readonly worker: KeptWorker;
  readonly id: number;
  readonly shares: readonly Share[];
  /** Whether unused units may come back, so that a recall makes sense. */
  canReturn = false;
  /** Ends the wait for the answer to a recall; undefined: nobody waits. */
  stopWaiting: (() => void) | undefined;
  readonly #open = new Map<number, Lease>();
  #last: Lease | undefined;
  #number = 0;
  /** Of unused units and of running requests. */
  #places = 0;

  constructor(worker: KeptWorker, id: number, shares: readonly Share[]) {
    this.worker = worker;
    this.id = id;
    this.shares = shares;
  }

  get haveUnits(): boolean {
    return this.#open.size > 0;
  }

  get areOver(): boolean {
    return this.#places === 0 && this.#open.size === 0;
  }

  /** Returns the number of the lease. */
  grant(lease: Lease): number {
    this.#last = lease;
    this.#places += lease.units.places;
    this.#open.set(++this.#number, lease);
    return this.#number;
  }

  giveBack(number: number, units: Units): void {
    this.#places -= units.places;
    const lease = this.#open.get(number);
    if (lease === undefined) return this.#last?.leave(units.places, units.tokens);
    this.#open.delete(number);
    lease.end(units);
  }

  /** The process has ended. Its units count as used, and its requests end. */
  end(): void {
    for (const number of this.#open.keys())
      this.giveBack(number, { requests: 0, tokens: 0, places: 0 });
    this.#last?.leave(this.#places, 0);
  }
}

class KeptWorker {
  readonly leases = new Map<number, KeptLeases>();
  readonly #send: (answers: readonly LimitAnswer[]) => void;
  readonly #running = new Map<number, { readonly pass: Pass; readonly tokens: number }>();
  #unsent: LimitAnswer[] = [];

  constructor(send: (answers: readonly LimitAnswer[]) => void) {
    this.#send = send;
  }

  enter(id: number, pass: Pass, tokens: number): void {
    this.#running.set(id, { pass, tokens });
    this.answer({ id, entered: { requests: pass.requests, tokens: pass.tokens } });
  }

  finish(id: number, tokens: number): void {
    this.#running.get(id)?.pass.finish(tokens);
    this.#running.delete(id);
  }

  answer(answer: LimitAnswer): void {
    this.#unsent.push(answer);
  }

  flush(): void {
    if (this.#unsent.length === 0) return;
    const answers = this.#unsent;
    this.#unsent = [];
    this.#send(answers);
  }

  end(): void {
    for (const { pass, tokens } of this.#running.values()) pass.finish(tokens);
    this.#running.clear();
    for (const leases of this.leases.values()) leases.end();
  }
}
