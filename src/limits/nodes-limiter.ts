import { randomText } from '../base/id.ts';
import type { SharedState } from '../storage/shared-state.ts';
import type {
  Allowance,
  Limiter,
  LimitState,
  Overrun,
  Pass,
  Share,
  SharedLimiter,
} from './contract.ts';
import { concurrencyRetryMs, isUnlimited, tighter } from './limiter.ts';
import { enterScript, leaveScript, renewScript } from './scripts.ts';

/** A place among the concurrent requests is kept for so long without a word from its node. */
export const leaseMs = 15_000;
const renewalsPerLease = 3;
/** Ids in one renewal. */
const renewedMax = 500;
const numbersPerShare = 5;
const numbersBefore = 3;

export interface NodesLimiterOptions {
  readonly state: SharedState;
  /**
   * What holds while the state is away: each node by itself, so that nobody is refused for that.
   */
  readonly own: Limiter;
  /** Microseconds; undefined: the state's own clock, which all nodes share. */
  readonly nowMicros?: () => number;
}

/**
 * Limits that hold over all nodes together. Each request asks once, and is answered in one step
 * where all meet.
 */
export class NodesLimiter implements SharedLimiter {
  readonly #state: SharedState;
  readonly #own: Limiter;
  readonly #nowMicros: () => number | '';
  /** So that ids of two nodes differ. */
  readonly #node = randomText(10);
  /** Ids of the requests that run here, by the key that counts them. */
  readonly #running = new Map<string, Set<string>>();
  readonly #timer: NodeJS.Timeout;
  #last = 0;
  /** Requests that only this process has limited. */
  alone = 0;

  constructor({ state, own, nowMicros }: NodesLimiterOptions) {
    this.#state = state;
    this.#own = own;
    this.#nowMicros = nowMicros ?? (() => '');
    this.#timer = setInterval(() => this.renew(), leaseMs / renewalsPerLease);
    this.#timer.unref();
  }

  enter(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also?: Share,
  ): Pass | Overrun | Promise<Pass | Overrun> {
    const shares = [{ subject, allowance }, ...(also === undefined ? [] : [also])].filter(
      (share) => !isUnlimited(share.allowance),
    );
    if (shares.length > 0 && this.#state.there)
      return this.#ask(shares, tokens, () => this.#own.enter(subject, allowance, tokens, also));
    if (shares.length > 0) this.alone += 1;
    return this.#own.enter(subject, allowance, tokens, also);
  }

  async #ask(
    shares: readonly Share[],
    tokens: number,
    byMyself: () => Pass | Overrun,
  ): Promise<Pass | Overrun> {
    this.#last += 1;
    const id = `${this.#node}${this.#last.toString(36)}`;
    const keys = shares.flatMap(({ subject }) => keysOf(subject));
    const allowances = shares.flatMap(({ allowance: { rpm, tpm, concurrency } }) => [
      rpm ?? '',
      tpm ?? '',
      concurrency ?? '',
    ]);
    try {
      const answer = await this.#state.run(enterScript, keys, [
        this.#nowMicros(),
        id,
        tokens,
        leaseMs,
        ...allowances,
      ]);
      const told = shares.map(({ allowance }, i) => toldOf(answer, i, allowance));
      const states = {
        requests: told.map(({ requests }) => requests).reduce(tighter),
        tokens: told.map((each) => each.tokens).reduce(tighter),
      };
      const over = overs[answer[0] ?? 0];
      if (over !== undefined) {
        const retryAfterMs = over === 'concurrency' ? concurrencyRetryMs : (answer[2] ?? 0);
        return { over, limit: answer[1] ?? 0, retryAfterMs, ...states };
      }
      const paid = shares.flatMap(({ allowance: { tpm } }, i) => [
        tpm ?? '',
        Math.min(tokens, tpm ?? 0),
        told[i]?.paidUntil ?? 0,
      ]);
      return {
        ...states,
        finish: this.#runs(shares, id, (used) => this.#leave(keys, id, used, paid)),
      };
    } catch {
      // It may have been heard all the same, and then it is over. What did not arrive ends with its
      // lease.
      this.#leave(
        keys,
        id,
        0,
        shares.flatMap(() => ['', 0, 0]),
      );
      this.alone += 1;
      return byMyself();
    }
  }

  /** Keeps the request's places until the function that it gives is called, which works once. */
  #runs(shares: readonly Share[], id: string, leave: (used: number) => void): Pass['finish'] {
    const places = shares
      .filter(({ allowance }) => allowance.concurrency !== undefined)
      .map(({ subject }) => keysOf(subject)[1]);
    for (const place of places) {
      const running = this.#running.get(place) ?? new Set();
      this.#running.set(place, running.add(id));
    }
    let finished = false;
    return (used) => {
      if (finished) return;
      finished = true;
      for (const place of places) {
        const running = this.#running.get(place);
        running?.delete(id);
        if (running?.size === 0) this.#running.delete(place);
      }
      leave(used);
    };
  }

  #leave(
    keys: readonly string[],
    id: string,
    used: number,
    paid: readonly (string | number)[],
  ): void {
    if (this.#state.there)
      this.#state
        .run(leaveScript, keys, [this.#nowMicros(), id, used, ...paid])
        .catch(() => undefined);
  }

  /**
   * Says that they still run, also to a state that has lost everything. Happens by itself, thrice
   * in a lease.
   */
  renew(): void {
    for (const [place, running] of this.#running) {
      const ids = [...running];
      for (let i = 0; i < ids.length && this.#state.there; i += renewedMax)
        this.#state
          .run(renewScript, [place], [this.#nowMicros(), leaseMs, ...ids.slice(i, i + renewedMax)])
          .catch(() => undefined);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

const overs = [undefined, 'requests', 'tokens', 'concurrency'] as const;

const keysOf = (subject: string): readonly [levels: string, running: string] => [
  `tollgate:limit:${subject}`,
  `tollgate:running:${subject}`,
];

interface Told {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
  /** Microseconds, of the clock that was asked. */
  readonly paidUntil: number;
}

function toldOf(answer: readonly number[], share: number, { rpm, tpm }: Allowance): Told {
  const at = numbersBefore + share * numbersPerShare;
  const [requests = 0, requestsMs = 0, tokens = 0, tokensMs = 0, paidUntil = 0] = answer.slice(
    at,
    at + numbersPerShare,
  );
  return {
    requests:
      rpm === undefined ? undefined : { limit: rpm, remaining: requests, resetMs: requestsMs },
    tokens: tpm === undefined ? undefined : { limit: tpm, remaining: tokens, resetMs: tokensMs },
    paidUntil,
  };
}
