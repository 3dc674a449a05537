/** Runs at most `places` tasks at a time; the others wait in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** Runs `work` once a place is free. Rejects when the signal comes before. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.enter(signal);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Gives the place back that `enter` took. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** Takes a place, for work that `run` cannot enclose. */
  enter(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(new Error('aborted while waiting for a place'));
      };
      this.#waiting.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}

/** A semaphore in which one account has at most `ownMax` places at a time. */
export class AccountSemaphore {
  readonly #all: Semaphore;
  readonly #ownMax: number;
  readonly #own = new Map<string, { readonly places: Semaphore; tasks: number }>();

  constructor(places: number, ownMax: number) {
    this.#all = new Semaphore(places);
    this.#ownMax = ownMax;
  }

  /** As `Semaphore.run`. What waits for the account's own places holds no other one. */
  async run<T>(account: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const own = this.#own.get(account) ?? { places: new Semaphore(this.#ownMax), tasks: 0 };
    this.#own.set(account, own);
    own.tasks += 1;
    try {
      return await own.places.run(signal, () => this.#all.run(signal, work));
    } finally {
      own.tasks -= 1;
      if (own.tasks === 0) this.#own.delete(account);
    }
  }
}
