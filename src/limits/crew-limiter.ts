import type { Allowance, Limiter, Overrun, Pass, Share, SharedLimiter } from './contract.ts';
import { isUnlimited, unlimited } from './limiter.ts';

/** What a process asks of the one that keeps the limits of all; plain data. */
export type LimitQuestion =
  | {
      readonly limit: 'enter';
      readonly id: number;
      readonly subject: string;
      readonly allowance: Allowance;
      readonly tokens: number;
      readonly also: Share | undefined;
    }
  | { readonly limit: 'finish'; readonly id: number; readonly tokens: number };

/** Its answer to `enter`: an overrun, or a pass without its `finish`. */
export interface LimitAnswer {
  readonly limited: number;
  readonly entered: Overrun | Pick<Pass, 'requests' | 'tokens'>;
}

/** The limits of one process of several on one machine: they are kept in another, which is asked. */
export class CrewLimiter implements SharedLimiter {
  readonly #ask: (question: LimitQuestion) => void;
  readonly #waiting = new Map<number, (entered: Pass | Overrun) => void>();
  #asked = 0;

  constructor(ask: (question: LimitQuestion) => void) {
    this.#ask = ask;
  }

  enter(subject: string, allowance: Allowance, tokens: number, also?: Share): Pass | Promise<Pass | Overrun> {
    if (isUnlimited(allowance) && (also === undefined || isUnlimited(also.allowance))) return unlimited;
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#ask({ limit: 'enter', id, subject, allowance, tokens, also });
    });
  }

  heard({ limited, entered }: LimitAnswer): void {
    const waiting = this.#waiting.get(limited);
    this.#waiting.delete(limited);
    if ('over' in entered) return waiting?.(entered);
    let running = true;
    const finish = (tokens: number): void => {
      if (running) this.#ask({ limit: 'finish', id: limited, tokens });
      running = false;
    };
    waiting?.({ ...entered, finish });
  }
}

/** Keeps the limits for one of those processes. */
export class LimitKeeper {
  readonly #limiter: Limiter;
  readonly #answer: (answer: LimitAnswer) => void;
  readonly #running = new Map<number, { readonly pass: Pass; readonly tokens: number }>();
  #gone = false;

  constructor(limiter: Limiter, answer: (answer: LimitAnswer) => void) {
    this.#limiter = limiter;
    this.#answer = answer;
  }

  asked(question: LimitQuestion): void {
    // Its last questions may be read after its end has been heard of.
    if (this.#gone) return;
    if (question.limit === 'finish') {
      this.#running.get(question.id)?.pass.finish(question.tokens);
      this.#running.delete(question.id);
      return;
    }
    const { id, subject, allowance, tokens, also } = question;
    const entered = this.#limiter.enter(subject, allowance, tokens, also);
    if ('over' in entered) return this.#answer({ limited: id, entered });
    this.#running.set(id, { pass: entered, tokens });
    this.#answer({ limited: id, entered: { requests: entered.requests, tokens: entered.tokens } });
  }

  /** The process has ended: what it ran runs no more, and counts as it was estimated. */
  gone(): void {
    this.#gone = true;
    for (const { pass, tokens } of this.#running.values()) pass.finish(tokens);
    this.#running.clear();
  }
}
