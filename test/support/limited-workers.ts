import { type Clock, systemTimers } from '../../src/base/clock.ts';
import {
  type LimitAnswer,
  type LimitQuestion,
  LimitKeeper,
} from '../../src/limits/limit-keeper.ts';
import { LeasingLimiter } from '../../src/limits/lease.ts';
import { WorkerLimiter } from '../../src/limits/worker-limiter.ts';

/** Follows the mocked time of a test. */
export const mockedClock: Clock = { now: () => Date.now(), monotonicMs: () => Date.now() };

export interface Workers {
  worker(place: number): WorkerLimiter;
  /** Messages in both directions. */
  readonly questions: LimitQuestion[];
  readonly answers: LimitAnswer[];
  /** Ends a process: what it sent arrives, and nothing reaches it. */
  end(place: number): void;
  /** Lets a process neither read nor write from now on. */
  hang(place: number): void;
}

/** Worker processes and the keeper of their limits; each message takes `delayMs(place)`, in order. */
export function openWorkers(
  count: number,
  {
    clock = mockedClock,
    delayMs = () => 0,
  }: { clock?: Clock; delayMs?: (place: number) => number } = {},
): Workers {
  const keeper = new LimitKeeper(new LeasingLimiter(clock), systemTimers);
  const [questions, answers]: [LimitQuestion[], LimitAnswer[]] = [[], []];
  const [hanging, gone] = [new Set<number>(), [] as (() => void)[]];
  const workers = Array.from({ length: count }, (_, i) => {
    const [up, down] = [inOrder(() => delayMs(i)), inOrder(() => delayMs(i))];
    const connection = keeper.join((sent) => {
      answers.push(...sent);
      const copy = copyOf(sent);
      down(() => void (hanging.has(i) || worker.receive(copy)));
    });
    const worker: WorkerLimiter = new WorkerLimiter(
      (sent) => {
        if (hanging.has(i)) return;
        questions.push(...sent);
        const copy = copyOf(sent);
        up(() => connection.receive(copy));
      },
      clock,
      systemTimers,
    );
    gone.push(() => up(() => connection.gone()));
    return worker;
  });
  const hang = (i: number): void => void hanging.add(i);
  return {
    worker(place) {
      const worker = workers[place];
      if (worker === undefined) throw new Error(`there is no worker ${place}`);
      return worker;
    },
    questions,
    answers,
    hang,
    end(i) {
      hang(i);
      gone[i]?.();
    },
  };
}

/** A channel whose messages arrive in the order in which they were sent. */
function inOrder(delayMs: () => number): (arrive: () => void) => void {
  let last = 0;
  return (arrive) => {
    last = Math.max(last, Date.now() + delayMs());
    setTimeout(arrive, last - Date.now());
  };
}

/** As it crosses to another process, which cannot take NaN or Infinity. */
function copyOf<T>(messages: readonly T[]): T[] {
  const text = JSON.stringify(messages);
  if (text.includes('null')) throw new Error(`not plain data: ${text}`);
  return structuredClone([...messages]);
}
