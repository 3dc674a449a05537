import { randomText } from '../base/random.ts';
import { type SharedState, sharedScript } from '../storage/shared-state.ts';
import {
  type Allowance,
  type Limiter,
  type LimitState,
  type LimitExceeded,
  type Pass,
  type Share,
  type SharedLimiter,
  isUnlimited,
  sharesOf,
  tightest,
  debtMaxMs,
  roundingMs,
  windowMs,
  concurrencyRetryMs,
} from './limiter.ts';

/** A concurrent request keeps its place this long without a renewal from its node. */
export const concurrencyLeaseMs = 15_000;
const renewalsPerLease = 3;
/** Ids in one renewal. */
const renewedMax = 500;
const numbersPerShare = 5;
const numbersBefore = 3;

export interface NodesLimiterOptions {
  readonly state: SharedState;
  /**
   * The limiter while the shared state is away: each node by itself, so that no request is refused
   * because of the outage.
   */
  readonly own: Limiter;
  /** Microseconds; undefined: the state's own clock, which all nodes share. */
  readonly nowMicros?: () => number;
}

/**
 * Limits that hold over all nodes together. Each request costs one call of the shared state, which
 * decides in one step.
 */
export class NodesLimiter implements SharedLimiter {
  readonly #state: SharedState;
  readonly #own: Limiter;
  readonly #nowMicros: () => number | '';
  /** Keeps the ids of two nodes apart. */
  readonly #node = randomText(10);
  /** Ids of the requests that run here, by the key of the set that counts them. */
  readonly #running = new Map<string, Set<string>>();
  readonly #timer: NodeJS.Timeout;
  #last = 0;
  /** Requests that only this process has limited. */
  alone = 0;

  constructor({ state, own, nowMicros }: NodesLimiterOptions) {
    this.#state = state;
    this.#own = own;
    this.#nowMicros = nowMicros ?? (() => '');
    this.#timer = setInterval(() => this.renew(), concurrencyLeaseMs / renewalsPerLease);
    this.#timer.unref();
  }

  enter(
    subject: string,
    allowance: Allowance,
    tokens: number,
    also?: Share,
  ): Pass | LimitExceeded | Promise<Pass | LimitExceeded> {
    const shares = sharesOf({ subject, allowance, also }).filter(
      (share) => !isUnlimited(share.allowance),
    );
    if (shares.length > 0 && this.#state.there)
      return this.#enterShared(shares, tokens, () =>
        this.#own.enter(subject, allowance, tokens, also),
      );
    if (shares.length > 0) this.alone += 1;
    return this.#own.enter(subject, allowance, tokens, also);
  }

  async #enterShared(
    shares: readonly Share[],
    tokens: number,
    byMyself: () => Pass | LimitExceeded,
  ): Promise<Pass | LimitExceeded> {
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
        concurrencyLeaseMs,
        ...allowances,
      ]);
      const read = shares.map(({ allowance }, i) => readShare(answer, i, allowance));
      const states = tightest(read);
      const limitOf = overs[answer[0] ?? 0];
      if (limitOf !== undefined) {
        const retryAfterMs = limitOf === 'concurrency' ? concurrencyRetryMs : (answer[2] ?? 0);
        return { limitOf, limit: answer[1] ?? 0, retryAfterMs, ...states };
      }
      const paid = shares.flatMap(({ allowance: { tpm } }, i) => [
        tpm ?? '',
        Math.min(tokens, tpm ?? 0),
        read[i]?.paidUntil ?? 0,
      ]);
      return {
        ...states,
        finish: this.#runs(shares, id, (used) => this.#leave(keys, id, used, paid)),
      };
    } catch {
      // The state may have got the call all the same; this ends it. A leave that does not arrive
      // ends with the lease.
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

  /** Keeps the request's places until the returned function is called, which works once. */
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
   * Renews the leases of running requests, even if the state has lost everything. A timer calls it
   * three times per lease.
   */
  renew(): void {
    for (const [place, running] of this.#running) {
      const ids = [...running];
      for (let i = 0; i < ids.length && this.#state.there; i += renewedMax)
        this.#state
          .run(
            renewScript,
            [place],
            [this.#nowMicros(), concurrencyLeaseMs, ...ids.slice(i, i + renewedMax)],
          )
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

interface ShareAnswer {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
  /** Microseconds of the clock that the script used. */
  readonly paidUntil: number;
}

function readShare(answer: readonly number[], share: number, { rpm, tpm }: Allowance): ShareAnswer {
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

/**
 * The algorithm of limiter.ts in the shared state, by one clock: the server's, unless a time is
 * given. A level is how far beyond `a` (microseconds) use is paid for, in ms: time minus time keeps
 * more digits than either, and a clock that is set back makes no request wait. `run` holds the
 * running requests, each until its lease ends: those of a dead node end by themselves.
 */
const begin = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local function levels(key)
  local held = redis.call('HMGET', key, 'r', 't', 'a')
  if not held[3] then return -1e9, -1e9, false end
  local passed = math.max(0, now - held[3]) / 1000
  return held[1] - passed, held[2] - passed, true
end
local function keep(key, requests, tokens)
  redis.call('HSET', key, 'r', string.format('%.17g', requests), 't', string.format('%.17g', tokens), 'a', string.format('%.0f', now))
  redis.call('PEXPIRE', key, ${windowMs + debtMaxMs + 10_000})
end
local function cost(amount, limit) return amount * ${windowMs} / limit end
`;

/**
 * Keys: for each share its levels and its running requests. Params: now or '', id, tokens, lease;
 * for each share rpm, tpm, concurrency or ''. Answer: 0, or 1 to 3 (requests, tokens, concurrency)
 * with limit and wait; then for each share remaining and reset of both, and the end of what is
 * paid.
 */
const enterScript = sharedScript(`${begin}
local id, amount, lease = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local shares, over, worst, at = {}, 0, -1, 0
local function refuse(why, limit, wait)
  if wait > worst then over, worst, at = why, wait, limit end
end
local function wait(level, amount, limit)
  local ms = math.max(0, level) + cost(math.min(amount, limit), limit) - ${windowMs}
  return ms < ${roundingMs} and 0 or ms
end
for i = 1, #KEYS / 2 do
  local share = { key = KEYS[2 * i - 1], run = KEYS[2 * i], rpm = tonumber(ARGV[3 * i + 2]), tpm = tonumber(ARGV[3 * i + 3]), many = tonumber(ARGV[3 * i + 4]) }
  share.r, share.t = levels(share.key)
  shares[i] = share
  local r = share.rpm and wait(share.r, 1, share.rpm) or 0
  local t = share.tpm and wait(share.t, amount, share.tpm) or 0
  if r > 0 and r >= t then refuse(1, share.rpm, r) elseif t > 0 then refuse(2, share.tpm, t) end
end
for _, share in ipairs(shares) do
  if share.many then
    redis.call('ZREMRANGEBYSCORE', share.run, '-inf', now / 1000)
    if redis.call('ZCARD', share.run) >= share.many then over, worst, at = 3, 0, share.many end
  end
end
local answer = { over, at, math.max(0, math.ceil(worst - ${roundingMs})) }
local function tell(level, limit)
  local held = math.max(0, level)
  table.insert(answer, limit and math.max(0, math.floor((${windowMs} - held + ${roundingMs}) * limit / ${windowMs})) or 0)
  table.insert(answer, math.max(0, math.ceil(held - ${roundingMs})))
end
for _, share in ipairs(shares) do
  if over == 0 then
    if share.rpm then share.r = math.max(0, share.r) + cost(1, share.rpm) end
    if share.tpm then share.t = math.max(0, share.t) + cost(math.min(amount, share.tpm), share.tpm) end
    if share.rpm or share.tpm then keep(share.key, share.r, share.t) end
    if share.many then
      redis.call('ZADD', share.run, now / 1000 + lease, id)
      redis.call('PEXPIRE', share.run, lease)
    end
  end
  tell(share.r, share.rpm)
  tell(share.t, share.tpm)
  table.insert(answer, math.floor(now + share.t * 1000))
end
return answer
`);

/**
 * Keys: as above. Params: now or '', id, tokens used; for each share tpm or '', tokens set aside,
 * the end of what was paid.
 */
const leaveScript = sharedScript(`${begin}
for i = 1, #KEYS / 2 do
  redis.call('ZREM', KEYS[2 * i], ARGV[2])
  local tpm, aside, paid = tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2]), tonumber(ARGV[3 * i + 3])
  local r, t, known = levels(KEYS[2 * i - 1])
  if tpm and known then
    local change = math.max(cost(ARGV[3] - aside, tpm), -math.max(0, paid - now) / 1000)
    keep(KEYS[2 * i - 1], r, math.min(t + change, ${windowMs + debtMaxMs}))
  end
end
return {}
`);

/**
 * Key: running requests of one share. Params: now or '', lease, and the ids of those that run here.
 */
const renewScript = sharedScript(`${begin}
local lease = tonumber(ARGV[2])
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], now / 1000 + lease, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], lease)
return {}
`);
