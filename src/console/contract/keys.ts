import type { SeriesView, TopModel } from './overview.ts';
import type { Instant, Yuan } from './shapes.ts';

export type KeyState = 'active' | 'disabled' | 'expired' | 'limit_reached';

/** What confines a key, beside its group and its money; null = nothing does. */
export interface KeyTermsView {
  /** Of its group's models. */
  readonly only_models: readonly string[] | null;
  /**
   * Addresses and networks, `10.0.0.0/8`, from which it may be used. The playground asks nobody
   * where he is.
   */
  readonly addresses: readonly string[] | null;
  /** Requests and tokens in a minute, requests at once; its group's limits hold as well. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}

/**
 * The same, to be written: what is left out stays as it is, null or an empty list takes it away.
 */
export type KeyTermsBody = Partial<KeyTermsView>;

/** GET `keys` is a page of these, in the order in which they were made, newest first. */
export interface KeyView extends KeyTermsView {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  /** `sk-ab`. */
  readonly prefix: string;
  readonly last4: string;
  readonly state: KeyState;
  readonly spent: Yuan;
  /**
   * All that it may ever spend, in a day, in a month; null = no limit. Days and months of limits
   * are the operator's.
   */
  readonly limit: Yuan | null;
  readonly daily_limit: Yuan | null;
  readonly monthly_limit: Yuan | null;
  /** Since the first of the month in the account's zone. */
  readonly spent_this_month: Yuan;
  readonly created_at: Instant;
  readonly expires_at: Instant | null;
  readonly last_used_at: Instant | null;
  /** For `if-match`. */
  readonly version: number;
}

/** GET `keys/:id`. */
export interface KeyDetail extends KeyView {
  readonly series: SeriesView;
  readonly top: readonly TopModel[];
  /** Those that it reaches. */
  readonly models: readonly string[];
  /** Requests in the last hour: what disabling it would stop. */
  readonly requests_last_hour: number;
  /** What was done with it, newest first, at most twenty. */
  readonly history: readonly KeyAct[];
}

/** `by`: the user, an operator, a command on the server or the program itself. */
export interface KeyAct {
  readonly at: Instant;
  readonly action: string;
  readonly by: 'user' | 'operator' | 'command' | 'system';
  readonly changes: readonly {
    readonly member: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

/** POST `keys`, with `idempotency-key`. */
export interface NewKeyBody extends KeyTermsBody {
  readonly name: string;
  readonly group: string;
  readonly limit?: Yuan | null;
  readonly daily_limit?: Yuan | null;
  readonly monthly_limit?: Yuan | null;
  readonly expires_at?: Instant | null;
}

/**
 * `secret` is here once and nowhere else. Repeating the idempotency key answers the key with
 * `secret: null`.
 */
export interface CreatedKey {
  readonly key: KeyView;
  readonly secret: string | null;
}

/**
 * PATCH `keys/:id`, with `if-match`: what is left out stays. A limit that the key was made with may
 * change and not go; another it does not get (400, field `limit_fixed`). The group never changes.
 */
export interface KeyChange extends KeyTermsBody {
  readonly name?: string;
  readonly limit?: Yuan;
  readonly daily_limit?: Yuan;
  readonly monthly_limit?: Yuan;
  readonly expires_at?: Instant | null;
}

/** GET `groups`: those that a key can be made for. */
export interface GroupView {
  readonly name: string;
  /** `0.85`. */
  readonly multiplier: string;
  readonly models: number;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}
