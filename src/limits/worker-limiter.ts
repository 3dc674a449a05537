import type { Clock } from '../base/clock.ts';
import type { GrantedLease, LimitAnswer, LimitQuestion } from './limit-keeper.ts';
import {
  type Allowance,
  type LimitExceeded,
  type Pass,
  type Share,
  type SharedLimiter,
  isUnlimited,
  unlimited,
} from './limiter.ts';
import { WorkerLease } from './worker-lease.ts';

/** A lease ends, or is replaced by a new one, after this time. */
export const leaseMs = 100;
/** From this many requests in that time on, a worker leases instead of asking for each. */
export const leasedFrom = 8;

/**
 * The limits of one worker process among several on one machine; another process keeps them.
 * Requests that arrive together ask together, since a message between processes costs as much as a
 * good part of a request, whatever its content. Where many come, this process leases units of the
 * allowance and lets them in without asking.
 */
export class WorkerLimiter implements SharedLimiter {
  readonly #sendQuestions: (questions: readonly LimitQuestion[]) => void;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, (entered: Pass | LimitExceeded) => void>();
  /** By the shares of a request, and by id. */
  readonly #leases = new Map<string, WorkerLease>();
  readonly #leasesById = new Map<number, WorkerLease>();
  #timer: NodeJS.Timeout | undefined;
  #lastId = 0;
  #unsent: LimitQuestion[] = [];

  constructor(sendQuestions: (questions: readonly LimitQuestion[]) => void, clock: Clock) {
    this.#sendQuestions = sendQuestions;
    this.#clock = clock;
  }

  enter(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also?: Share,
  ): Pass | Promise<Pass | LimitExceeded> {
    if (isUnlimited(allowance) && (also === undefined || isUnlimited(also.allowance)))
      return unlimited;
    const lease = this.#leaseFor(subject, allowance, also);
    lease.entered += 1;
    const pass = lease.enter(tokens);
    if (pass !== undefined) return pass;
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#queue({ limit: 'enter', id, subject, allowance, tokens, also });
      if (lease.entered >= leasedFrom) this.#ask(lease, tokens);
    });
  }

  receive(answers: readonly LimitAnswer[]): void {
    for (const answer of answers)
      if ('entered' in answer) this.#entered(answer.id, answer.entered);
      else if ('lease' in answer) this.#granted(answer.lease, answer.granted);
      else this.#end(this.#leasesById.get(answer.recall));
  }

  #entered(id: number, entered: Extract<LimitAnswer, { readonly id: number }>['entered']): void {
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

  #leaseFor(subject: string, allowance: Allowance, also: Share | undefined): WorkerLease {
    const key = also === undefined ? subject : `${subject}\n${also.subject}`;
    const known = this.#leases.get(key);
    if (known !== undefined && known.isFor(allowance, also)) return known;
    const shares = [{ subject, allowance }, ...(also === undefined ? [] : [also])];
    const lease = new WorkerLease(key, ++this.#lastId, shares, this.#clock, this.#giveBack);
    this.#leases.set(key, lease);
    this.#leasesById.set(lease.id, lease);
    this.#timer ??= setInterval(() => this.renew(), leaseMs).unref();
    return lease;
  }

  /** Asks for a lease in place of this one, which holds until the answer. */
  #ask(lease: WorkerLease, tokens: number): void {
    if (lease.asked) return;
    lease.asked = true;
    lease.tokensAsked = tokens;
    this.#queue({ limit: 'lease', id: lease.id, shares: lease.shares, tokens });
  }

  #granted(id: number, granted: GrantedLease | undefined): void {
    const lease = this.#leasesById.get(id);
    if (lease === undefined) return;
    lease.asked = false;
    if (granted === undefined) {
      lease.entered = 0;
      return this.#end(lease);
    }
    if (lease.isOpen) this.#giveBack(lease);
    lease.open(granted);
  }

  #end(lease: WorkerLease | undefined): void {
    if (lease === undefined || !lease.isOpen) return;
    lease.close();
    this.#giveBack(lease);
  }

  readonly #giveBack = (lease: WorkerLease): void =>
    this.#queue({ limit: 'return', id: lease.id, units: lease.takeUnits(), ended: !lease.isOpen });

  /** Renews the leases that are used, and ends the others. A timer calls it. */
  renew(): void {
    for (const [id, lease] of this.#leasesById) {
      const used = lease.entered;
      lease.entered = 0;
      if (lease.asked) continue;
      if (lease.isOpen && used >= leasedFrom) this.#ask(lease, lease.tokensAsked);
      else this.#end(lease);
      if (used > 0) continue;
      this.#leasesById.delete(id);
      if (this.#leases.get(lease.key) === lease) this.#leases.delete(lease.key);
    }
    if (this.#leasesById.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #queue(question: LimitQuestion): void {
    if (this.#unsent.push(question) === 1) setImmediate(this.#send);
  }

  readonly #send = (): void => {
    const questions = this.#unsent;
    this.#unsent = [];
    this.#sendQuestions(questions);
  };
}
