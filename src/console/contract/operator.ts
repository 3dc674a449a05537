import type { RoleName, Instant, Yuan, AnnouncementView, WalletName, Day, Page } from './shared.ts';
import type { ChargeReturn, FailedRequest, OrderView, RefundView } from './user.ts';

/** GET `operator/overview`: attention comes first. */
export interface OperatorOverview {
  readonly attention: readonly Attention[];
  /** The time of the last check. */
  readonly checked_at: Instant;
  /** Over the last five minutes; `null` when there was no traffic. */
  readonly now: {
    readonly requests_per_minute: number;
    /** Failed requests ÷ all requests. */
    readonly error_share: number | null;
    readonly first_byte_median_ms: number | null;
    readonly first_byte_p95_ms: number | null;
    readonly open_streams: number;
    readonly open_tasks: number;
  };
  /** The last proof of the ledger that has ended; null: none has. */
  readonly ledger_check: Pick<LedgerCheckView, 'ok' | 'nightly' | 'started_at'> | null;
  /** By channel and hour, the last 24. */
  readonly errors: readonly { readonly channel: string; readonly hours: readonly ErrorHour[] }[];
  readonly as_of: Instant;
}

/**
 * GET `operator/trend?period=today|7d|30d|90d|month`, or `?from&to` as days, both included. Days
 * are those of the operator's zone.
 */
export interface OperatorTrend {
  readonly period: TrendFigures;
  /**
   * The period before of the same length. While the period has not ended, to the full hour nearest
   * to the same time.
   */
  readonly before: TrendFigures;
  readonly unit: 'hour' | 'day';
  /** To the current hour or day. */
  readonly series: readonly {
    readonly at: Instant;
    readonly revenue: Yuan;
    readonly requests: number;
  }[];
  /** Ten at most, the highest revenue first. */
  readonly models: readonly TrendRank[];
  readonly users: readonly (TrendRank & { readonly name: string | null })[];
  /** Ten at most, most requests first. */
  readonly channels: readonly TrendChannel[];
  readonly zone: string;
  /** The end of the figures: now, unless hourly figures are far behind. */
  readonly as_of: Instant;
}

export interface TrendFigures {
  readonly from: Instant;
  readonly to: Instant;
  /** Charges less their refunds, each at its own time: below 0 where more came back. */
  readonly revenue: Yuan;
  /** Where costs are entered; null: nowhere. */
  readonly vendor_cost: Yuan | null;
  readonly margin: number | null;
  readonly requests: number;
  /** Failed attempts of channels ÷ all attempts, since `failed_since`; null: unknown. */
  readonly failed_share: number | null;
  readonly failed_attempts: number;
  readonly attempts: number;
  /** Counts of attempts are kept for days only; null: there are none of this period. */
  readonly failed_since: Instant | null;
  /** Users with a charged request. */
  readonly active_users: number;
  /** Operators apart. */
  readonly new_users: number;
}

export interface TrendRank {
  readonly id: string;
  readonly revenue: Yuan;
  readonly requests: number;
}

export interface TrendChannel {
  readonly name: string;
  /** Charged requests, as in `TrendFigures`. */
  readonly requests: number;
  /** Null: no costs are entered for it. */
  readonly vendor_cost: Yuan | null;
  /** Since `period.failed_since`; 0: no counts are kept. */
  readonly attempts: number;
  readonly failed_attempts: number;
}

export interface ErrorHour {
  readonly hour: Instant;
  readonly requests: number;
  readonly errors: number;
}

/**
 * The client makes a sentence from `code` and `values`; `path` is the page behind its one button.
 */
export interface Attention {
  readonly code:
    | 'channel_parked'
    | 'credentials_refused'
    | 'unmatched_payment'
    | 'unmatched_payments'
    | 'refund_not_ended'
    | 'ledger_check_failed'
    | 'model_retiring'
    | 'models_retiring'
    | 'model_without_channel'
    | 'models_without_channel'
    | 'model_without_channel_in_group'
    | 'models_without_channel_in_group'
    | 'database_slow'
    | 'vendor_overran'
    | 'disk_full'
    | 'requests_failing'
    | 'requests_failing_now';
  readonly values: Readonly<Record<string, string>>;
  readonly since: Instant;
  readonly path: string;
}

/**
 * GET `operator/users`, a page; `operator/users/:id`. Below it: what users read about themselves
 * (`…/keys`), and POST `…/keys/:key/disable` and `/enable`, which return a `KeyView`.
 */
export interface UserView {
  readonly id: string;
  /** Not the user's alone, as `email` is not: `id` tells users apart. */
  readonly name: string;
  /** For notifications, as the user wrote it; `null`: none. */
  readonly email: string | null;
  readonly sign_ins: readonly string[];
  readonly role: RoleName;
  readonly state: 'active' | 'suspended';
  readonly balance: Yuan;
  readonly held: Yuan;
  /** Charges less their refunds, each at its own time. */
  readonly spent_30_days: Yuan;
  /** Those that are enabled. */
  readonly keys: number;
  /** All that are not deleted. */
  readonly keys_all: number;
  readonly created_at: Instant;
  /** The latest sign-in; `null`: never. */
  readonly signed_in_at: Instant | null;
  readonly last_seen_at: Instant | null;
  readonly version: number;
}

/** GET `operator/users`. */
export interface UserPage extends Page<UserView> {
  /** Only this many users, the newest, are in the order that was asked for; `null`: all are. */
  readonly ordered_newest: number | null;
}

/** POST `operator/users`, with `idempotency-key`. */
export interface NewUserBody {
  readonly name: string;
  readonly role?: RoleName;
}

/**
 * The new user with the path of a one-time link; also the answer of POST `operator/users/:id/link`,
 * for a user who never signed in.
 */
export interface Invitation {
  readonly user: UserView;
  readonly path: string;
  readonly expires_at: Instant;
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

/** GET `operator/orders`, a page. POST `…/:id/query`, `…/:id/close` return it too. */
export interface OperatorOrder extends OrderView {
  readonly user: { readonly id: string; readonly name: string };
  /** The latest problem with the wallet, in English; `null`: none. Users do not see it. */
  readonly trouble: string | null;
  readonly refunds: readonly (RefundView & { readonly trouble: string | null })[];
}

/** GET `operator/order-totals`, with the filter of `operator/orders`: the sums of all its pages. */
export interface OperatorOrderTotals {
  readonly orders: number;
  readonly credited: { readonly orders: number; readonly amount: Yuan };
  readonly refunded: Yuan;
  /** Credited less refunded. */
  readonly kept: Yuan;
  readonly as_of: Instant;
}

/** POST `operator/orders/:id/refund`, with `idempotency-key`. */
export interface RefundBody {
  readonly amount: Yuan;
  readonly reason: string;
}

export interface RefundAnswer {
  readonly order: OperatorOrder;
  readonly refund: RefundView;
}

/** GET `operator/reconciliation?date&wallet`; POST `…/run` returns it too. */
export interface Reconciliation {
  readonly day: Day;
  readonly wallet: WalletName;
  /** Null: not compared yet. */
  readonly run_at: Instant | null;
  readonly bill_lines: number;
  readonly our_lines: number;
  readonly sums: readonly ReconciliationSum[];
  readonly differences: readonly ReconciliationDifference[];
}

export interface ReconciliationSum {
  readonly what: 'matched' | 'paid_not_credited' | 'credited_not_in_bill' | 'amount_differs';
  readonly count: number;
  readonly wallet: Yuan;
  readonly ours: Yuan;
  readonly difference: Yuan;
}

export interface ReconciliationDifference {
  readonly what: Exclude<ReconciliationSum['what'], 'matched'>;
  readonly order: string | null;
  readonly wallet_no: string | null;
  readonly wallet: Yuan | null;
  readonly ours: Yuan | null;
  readonly at: Instant;
  /** It belongs to the next day's bill. */
  readonly next_day: boolean;
}

/**
 * GET `operator/ledger/checks`, newest first; POST `operator/ledger/check` sends `rule` events
 * while it runs, then `done` with this.
 */
export interface LedgerCheckView {
  readonly id: string;
  /** Null while it runs, and for a check whose process died. */
  readonly ok: boolean | null;
  readonly running: boolean;
  /** The gateway begins one each night; others are begun by operators. */
  readonly nightly: boolean;
  readonly started_at: Instant;
  readonly took_ms: number | null;
  readonly accounts: number;
  readonly transfers: number;
  readonly holds: number;
  readonly rules: readonly LedgerRule[];
  readonly customers: {
    readonly balance: Yuan;
    readonly top_ups: Yuan;
    readonly credits: Yuan;
    readonly refunds: Yuan;
    readonly charges: Yuan;
  } | null;
}

export interface LedgerRule {
  readonly rule: string;
  readonly state: 'waiting' | 'running' | 'ok' | 'failed';
  readonly problems: readonly { readonly id: string; readonly text: string }[];
}

export interface LedgerCheckEvents {
  readonly rule: LedgerRule;
  readonly done: LedgerCheckView;
}

/**
 * GET `operator/audit?actor&action&target&account&from&to`, a page; `action=channel.` matches all
 * actions that begin so. Of secrets only the change is recorded.
 */
export interface AuditEntry {
  readonly id: string;
  readonly at: Instant;
  readonly actor: {
    readonly kind: 'user' | 'operator' | 'command' | 'system';
    readonly id: string | null;
    readonly name: string;
  };
  readonly action: string;
  readonly target: {
    readonly kind: string;
    readonly id: string;
    readonly name: string | null;
    /** Of an announcement. */
    readonly title: { readonly zh: string; readonly en: string } | null;
  };
  /** The user that the action concerns. */
  readonly account: { readonly id: string; readonly name: string | null } | null;
  readonly reason: string | null;
  readonly ip: string | null;
  readonly changes: readonly {
    readonly member: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

/** GET `operator/announcements`; POST, PATCH with the settable members. */
export interface OperatorAnnouncement extends AnnouncementView {
  /** Null: for everybody. */
  readonly group: string | null;
  readonly state: 'planned' | 'shown' | 'over';
  readonly version: number;
}

export interface AnnouncementBody {
  readonly title?: { readonly zh: string; readonly en: string };
  readonly text?: { readonly zh: string; readonly en: string };
  readonly level?: AnnouncementView['level'];
  readonly from?: Instant;
  readonly to?: Instant | null;
  readonly group?: string | null;
}

/**
 * GET `operator/requests?user=&key=&model=&channel=&status=&code=&id=&all=&from=&to=&limit=&after=`,
 * newest first, and as `operator/requests.csv`: requests of all users that got no whole answer;
 * `all=1`: also those that were answered, without the tasks that were charged (videos). A page may
 * have fewer than its limit and yet not be the last one.
 */
export interface OperatorRequest extends FailedRequest {
  readonly user: { readonly id: string; readonly name: string | null };
  /** The channel of the last attempt; null: none was called. */
  readonly channel: string | null;
  readonly attempts_made: number;
  /** Empty also when only their number is still known. */
  readonly attempts: readonly RequestAttempt[];
}

/** One call of a channel. */
export interface RequestAttempt {
  readonly channel: string;
  /** The number of the channel's key, from 1, where it has several. */
  readonly key: number | null;
  readonly began_ms: number;
  readonly ended_ms: number;
  /** Null: the vendor answered. */
  readonly fault: {
    /** `rate_limited`, `timeout`, … */
    readonly kind: string;
    /** How far it had come: `connecting`, `waiting` or `streaming`. */
    readonly stage: string;
    /** The status of the vendor's response; null: none came. */
    readonly status: number | null;
    /** The connection's error. */
    readonly why: string | null;
    /** The fault allows another attempt. */
    readonly may_retry: boolean;
  } | null;
}

/** GET `operator/requests/:id`: any request of any user, charged or failed. */
export interface OperatorRequestDetail extends OperatorRequest {
  readonly charged: boolean;
  readonly refunded: ChargeReturn;
  /** The most attempts that a request makes for one model. */
  readonly attempts_max: number;
}
