import {
  type Allowance,
  type Limiter,
  type LimitExceeded,
  type Pass,
  type Share,
  type SharedLimiter,
  isUnlimited,
  unlimited,
} from './limiter.ts';

/** A request of a worker process to the process that keeps all limits; plain data. */
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

/** The answer to `enter`: a limit that is exceeded, or a pass without its `finish`. */
export interface LimitAnswer {
  readonly id: number;
  readonly entered: LimitExceeded | Pick<Pass, 'requests' | 'tokens'>;
}

/**
 * The limits of one worker process among several on one machine: another process keeps them.
 * Requests that arrive together are sent together, since a message between processes costs as much
 * as a good part of a request, whatever its content.
 */
export class WorkerLimiter implements SharedLimiter {
  readonly #sendQuestions: (questions: readonly LimitQuestion[]) => void;
  readonly #waiting = new Map<number, (entered: Pass | LimitExceeded) => void>();
  #lastId = 0;
  #unsent: LimitQuestion[] = [];

  constructor(sendQuestions: (questions: readonly LimitQuestion[]) => void) {
    this.#sendQuestions = sendQuestions;
  }

  enter(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also?: Share,
  ): Pass | Promise<Pass | LimitExceeded> {
    if (isUnlimited(allowance) && (also === undefined || isUnlimited(also.allowance)))
      return unlimited;
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#queue({ limit: 'enter', id, subject, allowance, tokens, also });
    });
  }

  receive(answers: readonly LimitAnswer[]): void {
    for (const { id, entered } of answers) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      waiting?.('limitOf' in entered ? entered : { ...entered, finish: this.#finishOf(id) });
    }
  }

  #finishOf(id: number): Pass['finish'] {
    let running = true;
    return (tokens) => {
      if (running) this.#queue({ limit: 'finish', id, tokens });
      running = false;
    };
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

/** Keeps the limits for one of those processes. */
export class LimitKeeper {
  readonly #limiter: Limiter;
  readonly #answer: (answers: readonly LimitAnswer[]) => void;
  readonly #running = new Map<number, { readonly pass: Pass; readonly tokens: number }>();
  #gone = false;

  constructor(limiter: Limiter, answer: (answers: readonly LimitAnswer[]) => void) {
    this.#limiter = limiter;
    this.#answer = answer;
  }

  receive(questions: readonly LimitQuestion[]): void {
    // Messages of a process may still arrive after the news of its end.
    if (this.#gone) return;
    const answers = questions.flatMap((question) => this.#answerTo(question) ?? []);
    if (answers.length > 0) this.#answer(answers);
  }

  #answerTo(question: LimitQuestion): LimitAnswer | undefined {
    const { id, tokens } = question;
    if (question.limit === 'finish') {
      this.#running.get(id)?.pass.finish(tokens);
      this.#running.delete(id);
      return undefined;
    }
    const entered = this.#limiter.enter(
      question.subject,
      question.allowance,
      tokens,
      question.also,
    );
    if ('limitOf' in entered) return { id, entered };
    this.#running.set(id, { pass: entered, tokens });
    return { id, entered: { requests: entered.requests, tokens: entered.tokens } };
  }

  /** The process has ended: its running requests end, and count as they were estimated. */
  gone(): void {
    this.#gone = true;
    for (const { pass, tokens } of this.#running.values()) pass.finish(tokens);
    this.#running.clear();
  }
}
