import type { Clock, Timers } from '../base/clock.ts';
import type { GrantedLease, LimitAnswer, LimitQuestion } from './limit-keeper.ts';
import {
  type Allowance,
  type LimitExceeded,
  type LimitStates,
  type Pass,
  type Share,
  type SharedLimiter,
  isUnlimited,
  unlimited,
} from './limiter.ts';
import { WorkerLease } from './worker-lease.ts';

/** A lease ends, or is replaced by a new one, after this time. */
export const leaseMs = 250;
/** From this many requests in that time on, a worker leases instead of asking for each. */
export const leaseFromRequests = 8;

/**
 * The limits of one worker process among several on one machine; another process keeps them.
 * Requests that arrive together ask together, since a message between processes costs as much as a
 * good part of a request, whatever its content. Where many come, this process leases units of the
 * allowance and lets them in without asking.
 */
export class WorkerLimiter implements SharedLimiter {
  readonly #sendQuestions: (questions: readonly LimitQuestion[]) => void;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #waiting = new Map<number, (entered: Pass | LimitExceeded) => void>();
  /** By the shares of a request, and by id. */
  readonly #leases = new Map<string, WorkerLease>();
  readonly #leasesById = new Map<number, WorkerLease>();
  #lastId = 0;
  #unsent: LimitQuestion[] = [];

  constructor(
    sendQuestions: (questions: readonly LimitQuestion[]) => void,
    clock: Clock,
    timers: Timers,
  ) {
    this.#sendQuestions = sendQuestions;
    this.#clock = clock;
    this.#timers = timers;
  }

  enter(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also?: Share,
  ): Pass | Promise<Pass | LimitExceeded> {
    if (isUnlimited(allowance) && (also === undefined || isUnlimited(also.allowance)))
      return unlimited;
    const lease = this.#leaseFor(subject, allowance, tokens, also);
    const pass = lease.enter(tokens);
    if (pass !== undefined) return pass;
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#queue({ limit: 'enter', id, subject, allowance, tokens, also });
      if (lease.requests >= leaseFromRequests && lease.isShort) this.#ask(lease);
    });
  }

  receive(answers: readonly LimitAnswer[]): void {
    for (const answer of answers)
      if ('entered' in answer) this.#decided(answer.id, answer.entered);
      else if ('lease' in answer) this.#granted(answer.lease, answer.granted);
      else this.#close(this.#leasesById.get(answer.recall));
  }

  #decided(id: number, entered: LimitExceeded | LimitStates): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.('limitOf' in entered ? entered : { ...entered, finish: this.#finishOf(id) });
  }

  #finishOf(id: number): Pass['finish'] {
    let running = true;
    return (tokens) => {
      if (running) this.#queue({ limit: 'finish', id, tokens });
      running = false;
    };
  }

  #leaseFor(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also: Share | undefined,
  ): WorkerLease {
    const key = also === undefined ? subject : `${subject}\n${also.subject}`;
    const known = this.#leases.get(key);
    if (known !== undefined && known.isFor(allowance, also)) return known;
    const shares = [{ subject, allowance }, ...(also === undefined ? [] : [also])];
    const lease = new WorkerLease(key, ++this.#lastId, shares, this.#clock, this.#giveBack);
    lease.tokensEach = tokens;
    this.#leases.set(key, lease);
    if (this.#leasesById.size === 0) this.#timers.after(leaseMs, this.#renew);
    this.#leasesById.set(lease.id, lease);
    return lease;
  }

  /** Asks for a lease in place of this one, which holds until the answer. */
  #ask(lease: WorkerLease): void {
    if (lease.isAsked) return;
    lease.isAsked = true;
    const { id, shares, tokensEach: tokens } = lease;
    this.#queue({ limit: 'lease', id, shares, tokens });
  }

  #granted(id: number, granted: GrantedLease | undefined): void {
    const lease = this.#leasesById.get(id);
    if (lease === undefined) return;
    lease.isAsked = false;
    lease.requests = 0;
    if (granted === undefined) return this.#close(lease);
    if (lease.isOpen) this.#giveBack(lease);
    lease.open(granted);
  }

  #close(lease: WorkerLease | undefined): void {
    if (lease === undefined || !lease.isOpen) return;
    this.#giveBack(lease);
    lease.close();
  }

  readonly #giveBack = (lease: WorkerLease): void =>
    this.#queue({ limit: 'return', id: lease.id, number: lease.number, units: lease.takeUnits() });

  /** Renews the leases that are used, and closes the others. */
  readonly #renew = (): void => {
    for (const [id, lease] of this.#leasesById) {
      if (lease.isAsked) continue;
      const { requests } = lease;
      lease.requests = 0;
      if (lease.isOpen && requests >= leaseFromRequests) this.#ask(lease);
      else this.#close(lease);
      if (requests > 0) continue;
      this.#leasesById.delete(id);
      if (this.#leases.get(lease.key) === lease) this.#leases.delete(lease.key);
    }
    if (this.#leasesById.size > 0) this.#timers.after(leaseMs, this.#renew);
  };

  #queue(question: LimitQuestion): void {
    if (this.#unsent.push(question) === 1) this.#timers.soon(this.#send);
  }

  readonly #send = (): void => {
    const questions = this.#unsent;
    this.#unsent = [];
    this.#sendQuestions(questions);
  };
}
