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
  sharesOf,
  unlimited,
} from './limiter.ts';
import { LeaseHolder } from './lease-holder.ts';

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
  readonly #holders = new Map<string, LeaseHolder>();
  readonly #holdersById = new Map<number, LeaseHolder>();
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
    const holder = this.#holderFor(subject, allowance, tokens, also);
    const pass = holder.enter(tokens);
    if (pass !== undefined) return pass;
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#queue({ limit: 'enter', id, subject, allowance, tokens, also });
      if (holder.requests >= leaseFromRequests && holder.isShort) this.#ask(holder);
    });
  }

  receive(answers: readonly LimitAnswer[]): void {
    for (const answer of answers)
      if ('entered' in answer) this.#decided(answer.id, answer.entered);
      else if ('lease' in answer) this.#granted(answer.lease, answer.granted);
      else this.#close(this.#holdersById.get(answer.recall));
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

  #holderFor(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also: Share | undefined,
  ): LeaseHolder {
    const key = also === undefined ? subject : `${subject}\n${also.subject}`;
    const known = this.#holders.get(key);
    if (known !== undefined && known.isFor(allowance, also)) return known;
    const shares = sharesOf({ subject, allowance, also });
    const holder = new LeaseHolder(key, ++this.#lastId, shares, this.#clock, this.#giveBack);
    holder.tokensEach = tokens;
    this.#holders.set(key, holder);
    if (this.#holdersById.size === 0) this.#timers.after(leaseMs, this.#renew);
    this.#holdersById.set(holder.id, holder);
    return holder;
  }

  /** Asks for a lease in place of this one, which holds until the answer. */
  #ask(holder: LeaseHolder): void {
    if (holder.isAsked) return;
    holder.isAsked = true;
    const { id, shares, tokensEach: tokens } = holder;
    this.#queue({ limit: 'lease', id, shares, tokens });
  }

  #granted(id: number, granted: GrantedLease | undefined): void {
    const holder = this.#holdersById.get(id);
    if (holder === undefined) return;
    holder.isAsked = false;
    holder.requests = 0;
    if (granted === undefined) return this.#close(holder);
    if (holder.isOpen) this.#giveBack(holder);
    holder.open(granted);
  }

  #close(holder: LeaseHolder | undefined): void {
    if (holder === undefined || !holder.isOpen) return;
    this.#giveBack(holder);
    holder.close();
  }

  readonly #giveBack = (holder: LeaseHolder): void =>
    this.#queue({
      limit: 'return',
      id: holder.id,
      number: holder.number,
      units: holder.takeUnits(),
    });

  /** Renews the leases that are used, and closes the others. */
  readonly #renew = (): void => {
    for (const [id, holder] of this.#holdersById) {
      if (holder.isAsked) continue;
      const { requests } = holder;
      holder.requests = 0;
      if (holder.isOpen && requests >= leaseFromRequests) this.#ask(holder);
      else this.#close(holder);
      if (requests > 0) continue;
      this.#holdersById.delete(id);
      if (this.#holders.get(holder.key) === holder) this.#holders.delete(holder.key);
    }
    if (this.#holdersById.size > 0) this.#timers.after(leaseMs, this.#renew);
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
