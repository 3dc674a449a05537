import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script that the server runs in one step. It returns whole numbers. */
export interface SharedScript {
  readonly text: string;
  readonly sha: string;
}

/**
 * State that all nodes share, in Valkey or Redis: small, expired after minutes, and never money.
 * Its users need a fallback for when it is away: `run` rejects soon, and while `there` is false
 * there is no need to call it.
 */
export interface SharedState {
  readonly there: boolean;
  /** One round trip; scripts are run in the order of their calls. */
  run(
    script: SharedScript,
    keys: readonly string[],
    params: readonly (string | number)[],
  ): Promise<readonly number[]>;
  close(): Promise<void>;
}

export interface SharedStateOptions {
  /** `redis://:password@host:6379/0`; `rediss:` speaks TLS. */
  readonly url: string;
  /** Called once each time that the state goes away or comes back. */
  readonly changed: (there: boolean, why: string | undefined) => void;
  readonly times?: Partial<typeof stateTimes>;
}

/**
 * A reply takes a fraction of a millisecond, but a process that has just started may be busy for
 * longer than that. After this time the caller goes on alone.
 */
const stateTimes = { answerMs: 1_000, connectMs: 2_000, silenceMs: 5_000, lookMs: 500 };

export function sharedScript(text: string): SharedScript {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Connects in the background: a state that is away when a node starts may come back later. */
export async function openSharedState({
  url,
  changed,
  times,
}: SharedStateOptions): Promise<SharedState> {
  // Loaded on first use: a node without it starts sooner. In a bundle, a CommonJS package that is
  // loaded late has a default export and no other.
  const { default: ioredis } = await import('ioredis');
  const { answerMs, connectMs, silenceMs, lookMs } = { ...stateTimes, ...times };
  const redis = new ioredis.Redis(url, {
    lazyConnect: true,
    protocol: 2,
    commandTimeout: answerMs,
    connectTimeout: connectMs,
    socketTimeout: silenceMs,
    // No command is queued for later: by then its request has gone on without it.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * times, lookMs),
    // The server has become a replica: a new connection to its address leads to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  const state = new ValkeyState(redis, changed, lookMs);
  await state.look();
  return state;
}

class ValkeyState implements SharedState {
  there = true;
  readonly #redis: Redis;
  readonly #changed: SharedStateOptions['changed'];
  readonly #lookMs: number;
  /** Scripts that the server of this connection knows. */
  readonly #sent = new Set<SharedScript>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(redis: Redis, changed: SharedStateOptions['changed'], lookMs: number) {
    this.#redis = redis;
    this.#changed = changed;
    this.#lookMs = lookMs;
    redis.on('error', (error: Error) => this.#lost(error));
    redis.on('close', () => {
      this.#sent.clear();
      this.#lost(undefined);
    });
  }

  async run(
    script: SharedScript,
    keys: readonly string[],
    params: readonly (string | number)[],
  ): Promise<readonly number[]> {
    const rest = [keys.length, ...keys, ...params];
    try {
      const answer = await this.#send(script, rest).catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error;
        this.#sent.delete(script);
        return this.#send(script, rest);
      });
      return Array.isArray(answer) ? answer.map(Number) : [];
    } catch (error) {
      this.#lost(error);
      throw error;
    }
  }

  /**
   * Sends the whole script first on each connection, then only its hash: no call waits for a load,
   * and calls keep their order.
   */
  #send(script: SharedScript, rest: (string | number)[]): Promise<unknown> {
    if (this.#sent.has(script)) return this.#redis.call('EVALSHA', script.sha, ...rest);
    this.#sent.add(script);
    return this.#redis.call('EVAL', script.text, ...rest);
  }

  /**
   * Checks the server with a write: a server that is out of memory, or a replica, still answers
   * reads.
   */
  async look(): Promise<void> {
    try {
      if (this.#redis.status === 'wait') await this.#redis.connect();
      await this.#redis.set('tollgate:look', '1', 'EX', 60);
      if (!this.there) this.#changed(true, undefined);
      this.there = true;
    } catch (error) {
      this.#lost(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    // Earlier commands get their replies; a server that is away is not waited for.
    await this.#redis.quit().catch(() => this.#redis.disconnect());
  }

  #lost(error: unknown): void {
    if (this.#closed) return;
    if (this.there) this.#changed(false, error instanceof Error ? error.message : undefined);
    this.there = false;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.look();
    }, this.#lookMs).unref();
  }
}
