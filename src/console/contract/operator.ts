import type { RoleName } from './session.ts';
import type { WrittenPrices } from './operator-catalog.ts';
import type { Instant, UnitPrice, Yuan } from './shapes.ts';

/** GET `operator/overview`: needs attention first. */
export interface OperatorOverview {
  readonly attention: readonly Attention[];
  /** When was last looked. */
  readonly checked_at: Instant;
  /** Of the last five minutes; `null` where there was no traffic. */
  readonly now: {
    readonly requests_per_minute: number;
    readonly error_share: number | null;
    readonly first_byte_median_ms: number | null;
    readonly first_byte_p95_ms: number | null;
    readonly open_streams: number;
    readonly open_tasks: number;
  };
  readonly today: {
    readonly revenue: Yuan;
    readonly vendor_cost: Yuan | null;
    readonly margin: number | null;
    readonly requests: number;
    /** Up to when: now, but where hourly figures are far behind. */
    readonly as_of: Instant;
  };
  /** By channel and hour, the last 24. */
  readonly errors: readonly { readonly channel: string; readonly hours: readonly ErrorHour[] }[];
  readonly as_of: Instant;
}

export interface ErrorHour {
  readonly hour: Instant;
  readonly requests: number;
  readonly errors: number;
}

/** A sentence is made by `code` and `values` from the dictionary; `action` is its one button. */
export interface Attention {
  readonly code:
    | 'channel_parked'
    | 'credentials_refused'
    | 'unmatched_payment'
    | 'ledger_check_failed'
    | 'model_retiring'
    | 'model_without_channel'
    | 'database_slow'
    | 'vendor_overran'
    | 'disk_full';
  readonly values: Readonly<Record<string, string>>;
  readonly since: Instant;
  readonly path: string;
}

export type ChannelState =
  | 'healthy'
  | 'degraded'
  | 'cooling'
  | 'parked'
  | 'draining'
  | 'drained'
  | 'disabled';

/** GET `operator/channels`, `operator/channels/:name`. The key is never shown again. */
export interface ChannelView {
  readonly name: string;
  readonly vendor: string;
  readonly base_url: string | null;
  readonly secret: {
    readonly set: boolean;
    readonly last4: string | null;
    readonly set_at: Instant | null;
  };
  readonly keys: readonly ChannelKey[];
  readonly groups: readonly string[];
  readonly models: readonly ChannelModel[];
  readonly priority: number;
  readonly weight: number;
  /**
   * The vendor bills the input of requests that are cancelled before the first byte, and users pay
   * for it.
   */
  readonly bills_cancelled_input: boolean;
  readonly state: ChannelState;
  /** Why, by code (`rate_limited`, `credentials_refused`, …); `until` of a cooling one. */
  readonly why: {
    readonly code: string;
    readonly since: Instant;
    readonly until: Instant | null;
  } | null;
  readonly running: number;
  readonly last_hour: {
    readonly requests: number;
    readonly error_share: number | null;
    readonly first_byte_median_ms: number | null;
    readonly first_byte_p95_ms: number | null;
  };
  readonly vendor_cost_24h: Yuan | null;
  /**
   * Answers beyond what their requests can have cost, and what the house lost by what was reported
   * for them.
   */
  readonly overruns_24h: { readonly answers: number; readonly loss: Yuan };
  /** What the vendor takes, by model, where it has been entered. */
  readonly costs: readonly { readonly model: string; readonly prices: readonly UnitPrice[] }[];
  /**
   * What the configuration names is changed there: here it can be switched off and on, and its
   * costs entered.
   */
  readonly origin: Origin;
  readonly version: number;
}

/** One of a channel's keys, by its number from 1 on: what it ends with, and how it does. */
export interface ChannelKey {
  readonly number: number;
  readonly last4: string | null;
  readonly state: 'healthy' | 'degraded' | 'cooling' | 'parked';
  /** Why it is not well, by code. */
  readonly why: string | null;
}

/** Whose an object is. */
export type Origin = 'configuration' | 'console';

export interface ChannelModel {
  readonly id: string;
  readonly upstream: string;
  readonly priced: boolean;
  readonly capabilities: readonly string[];
}

/**
 * POST `operator/channels` (with `idempotency-key`), PATCH `operator/channels/:name` (with
 * `if-match`): what is left out stays.
 */
export interface ChannelBody {
  readonly name?: string;
  readonly vendor?: string;
  readonly base_url?: string | null;
  /** Write-only. */
  readonly secret?: string;
  /** All of its keys, in the place of `secret`: a number is one that it has. Write-only. */
  readonly secrets?: readonly (string | number)[];
  readonly groups?: readonly string[];
  readonly models?: readonly {
    readonly id: string;
    readonly upstream?: string;
    readonly durations?: readonly number[];
  }[];
  readonly priority?: number;
  readonly weight?: number;
  readonly bills_cancelled_input?: boolean;
  readonly disabled?: boolean;
  /** By model, as prices are written; replaces all that were entered. */
  readonly costs?: Readonly<Record<string, WrittenPrices>>;
  /** Nothing is changed: the answer is a ChannelEffect. */
  readonly dry_run?: boolean;
  /** That models lose their last channel has been said and accepted. */
  readonly accept_unserved?: boolean;
}

/** What a change would do (`dry_run`), and beside `would_unserve` as `current`. */
export interface ChannelEffect {
  readonly unserved_models: readonly string[];
}

/** POST `operator/channels/:name/test`: server-sent, one `stage` after the other, then `done`. */
export interface ChannelTestBody {
  readonly capability: string;
  readonly model: string;
  readonly prompt?: string;
}

export interface ChannelTestEvents {
  readonly stage: {
    readonly stage: 'resolve' | 'connect' | 'first_byte' | 'done';
    readonly ms: number;
  };
  readonly done: {
    readonly ok: boolean;
    readonly status: number | null;
    readonly usage: Readonly<Record<string, number>> | null;
    readonly estimated_cost: Yuan | null;
    readonly said: string | null;
    readonly answer: string | null;
  };
}

/** GET `operator/channels/:name/health`. */
export interface ChannelHealth {
  readonly hours: readonly {
    readonly hour: Instant;
    readonly requests: number;
    readonly errors: Readonly<Record<string, number>>;
    readonly first_byte_median_ms: number | null;
    readonly first_byte_p95_ms: number | null;
  }[];
  readonly story: readonly {
    readonly at: Instant;
    readonly code: string;
    readonly values: Readonly<Record<string, string>>;
  }[];
}

/** GET `operator/vendors`. */
export interface VendorView {
  readonly name: string;
  readonly default_base_url: string | null;
  readonly capabilities: readonly string[];
  readonly needs_secret: boolean;
  readonly console_url: string | null;
}

/** GET `operator/users`, a page; `operator/users/:id`. */
export interface UserView {
  readonly id: string;
  readonly name: string;
  readonly sign_ins: readonly string[];
  readonly role: RoleName;
  readonly state: 'active' | 'suspended';
  readonly balance: Yuan;
  readonly held: Yuan;
  readonly spent_30_days: Yuan;
  readonly keys: number;
  readonly created_at: Instant;
  readonly last_seen_at: Instant | null;
  readonly version: number;
}

/** POST `operator/users/:id/credit`, `/debit`, with `idempotency-key`. */
export interface CreditBody {
  readonly amount: Yuan;
  readonly reason: string;
}

/** POST `…/suspend`, `…/restore`. */
export interface ReasonBody {
  readonly reason: string;
}

/** POST `…/role`. */
export interface RoleBody {
  readonly role: RoleName;
  readonly reason: string;
}

export interface UserAnswer {
  readonly user: UserView;
  readonly transfer: string | null;
}
