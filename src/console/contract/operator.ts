import type {
  RoleName,
  Instant,
  PriceUnit,
  UnitPrice,
  Yuan,
  ModelKindName,
  AnnouncementView,
  WalletName,
  Day,
  Page,
} from './shared.ts';
import type { ChargeReturn, FailedRequest, OrderView, PricedModel, RefundView } from './user.ts';

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
    | 'ledger_check_failed'
    | 'model_retiring'
    | 'models_retiring'
    | 'model_without_channel'
    | 'models_without_channel'
    | 'database_slow'
    | 'vendor_overran'
    | 'disk_full'
    | 'requests_failing'
    | 'requests_failing_now';
  readonly values: Readonly<Record<string, string>>;
  readonly since: Instant;
  readonly path: string;
}

export type ChannelStateName =
  /** No request was sent to it within the last 24 hours. */
  'untried' | 'healthy' | 'failing' | 'degraded' | 'cooling' | NotServingName;

/** The states of a channel that takes no new requests. */
export type NotServingName = 'parked' | 'draining' | 'drained' | 'disabled';

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
   * The vendor charges the input of requests that are cancelled before the first byte, and users
   * pay for it.
   */
  readonly bills_cancelled_input: boolean;
  readonly state: ChannelStateName;
  /**
   * The reason as a code (`rate_limited`, `credentials_refused`, …); `until` only for a cooling
   * one.
   */
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
   * Answers beyond what their requests can have cost, and the operator's loss by what was reported
   * for them.
   */
  readonly overruns_24h: { readonly answers: number; readonly loss: Yuan };
  /** The vendor's prices by model, where they have been entered. */
  readonly costs: readonly { readonly model: string; readonly prices: readonly UnitPrice[] }[];
  /**
   * A channel of the configuration is changed there: here it can only be switched off and on, and
   * its costs entered.
   */
  readonly origin: OriginName;
  readonly version: number;
}

/** One of a channel's keys, by its number from 1 on: its last characters and its state. */
export interface ChannelKey {
  readonly number: number;
  readonly last4: string | null;
  readonly state: 'healthy' | 'degraded' | 'cooling' | 'parked';
  /** The reason for its state, as a code. */
  readonly why: string | null;
}

/** Where an object is managed. */
export type OriginName = 'configuration' | 'console';

export interface ChannelModel {
  readonly id: string;
  readonly upstream: string;
  readonly priced: boolean;
  readonly capabilities: readonly string[];
}

/**
 * POST `operator/channels` (with `idempotency-key`), PATCH `operator/channels/:name` (with
 * `if-match`): absent members stay.
 */
export interface ChannelBody {
  readonly name?: string;
  readonly vendor?: string;
  readonly base_url?: string | null;
  /** Write-only. */
  readonly secret?: string;
  /** All of its keys, instead of `secret`: a number stands for a key that it has. Write-only. */
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
  /**
   * Models that nobody sells yet, written as in the configuration, each with its price. A model that
   * is sold already keeps its own price.
   */
  readonly new_models?: readonly ModelBody[];
  /** By model, in the format of prices; replaces all that were entered. */
  readonly costs?: Readonly<Record<string, WrittenPrices>>;
  /** Changes nothing: the response is a `ChannelEffect`. */
  readonly dry_run?: boolean;
  /** The operator accepts that models lose their last channel. */
  readonly accept_unserved?: boolean;
}

/** The effect of a change: for `dry_run`, and as `current` of a `would_unserve` problem. */
export interface ChannelEffect {
  readonly unserved_models: readonly string[];
}

/** POST `operator/channels/:name/test`: server-sent, one `stage` after the other, then `done`. */
export interface ChannelTestBody {
  readonly capability: string;
  readonly model: string;
  readonly prompt?: string;
}

/**
 * POST `operator/channel-test`: the same for a channel that is not saved. `upstream`: the model's
 * name at the vendor.
 */
export interface UnsavedTestBody extends ChannelTestBody {
  readonly vendor: string;
  readonly base_url?: string;
  readonly secret?: string;
  readonly upstream?: string;
}

/**
 * POST `operator/vendor-models`: the vendor's own list, asked for with a key that is not saved, or
 * with that of `channel`.
 */
export interface VendorModelsBody {
  readonly vendor: string;
  readonly base_url?: string;
  readonly secret?: string;
  readonly channel?: string;
}

export interface VendorModelsView {
  readonly models: readonly VendorModel[];
  /** Why there is no list; the vendor's status, where it answered. */
  readonly failure: {
    readonly code: 'key' | 'address' | 'silence' | 'not_a_list' | 'refused';
    readonly status: number | null;
  } | null;
}

export interface VendorModel {
  /** The name that clients would use. */
  readonly id: string;
  readonly upstream: string;
  readonly kind: ModelKindName | null;
  /** It is sold already: this channel would serve it, too. */
  readonly sold: boolean;
  /** Its price where it is sold, else that of the bundled list; `null`: neither is known. */
  readonly prices: readonly UnitPrice[] | null;
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

/**
 * GET `operator/models`, `operator/models/:id`. Prices are base prices, without a group's
 * multiplier.
 */
export interface OperatorModel extends PricedModel {
  readonly active: boolean;
  /** All that list it. */
  readonly channels: readonly string[];
  /** Those of `channels` that take no new requests at this moment, and why. */
  readonly not_serving: Readonly<Partial<Record<string, NotServingName>>>;
  readonly price_version: number;
  readonly durations: readonly number[] | null;
  /**
   * After this time without a byte of a stream a second channel gets the request as well; `null`:
   * never.
   */
  readonly hedge_after_ms: number | null;
  readonly origin: OriginName;
  readonly version: number;
}

/** GET `operator/models/:id`. */
export interface OperatorModelDetail extends OperatorModel {
  /**
   * What is charged beside `prices`: by mode, place, hours and output length, and for calls of
   * tools. The console does not change them.
   */
  readonly further_prices: readonly UnitPrice[];
}

/** POST `operator/models`, PATCH `operator/models/:id`. */
export interface ModelBody {
  readonly id?: string;
  readonly owned_by?: string;
  readonly kind?: ModelKindName;
  readonly context?: number | null;
  readonly max_output?: number | null;
  readonly durations?: readonly number[] | null;
  readonly hedge_after_ms?: number | null;
  readonly shutdown_date?: string | null;
  readonly active?: boolean;
  /**
   * As in the configuration: `{input: "2", cached_input: "0.2", output: "3"}`; only for a new
   * model. Price changes are published.
   */
  readonly price?: WrittenPrices;
}

/**
 * Yuan per million tokens, image, second, … as text or numbers with up to nine decimals; `tiers`
 * and `by` as in the configuration.
 */
export type WrittenPrices = Readonly<Record<string, unknown>>;

/** GET `operator/models/:id/prices`: newest first. */
export interface PriceVersionView {
  readonly version: number;
  /** When it takes effect: in the future for a version that waits. */
  readonly since: Instant;
  readonly published_at: Instant;
  readonly prices: readonly UnitPrice[];
  readonly reason: string | null;
  /**
   * A user's id, `command`, `configuration`, or `start`: the start of the gateway that filled an
   * empty catalogue.
   */
  readonly actor: string;
  /** The user's name; null where the actor is no user. */
  readonly actor_name: string | null;
}

/** POST `operator/prices/preview`, `/publish` (with `idempotency-key`). */
export interface PriceChange {
  readonly model: string;
  readonly price: WrittenPrices;
  readonly reason?: string;
}

export interface PublishBody {
  readonly changes: readonly PriceChange[];
  readonly reason: string;
  /** Default: now. */
  readonly effective_at?: Instant;
}

/** `versions`: the number of each model's new version. */
export interface PublishAnswer {
  readonly versions: readonly { readonly model: string; readonly version: number }[];
}

export interface PricePreview {
  readonly model: string;
  readonly from_version: number;
  readonly to_version: number;
  /** On the last seven days' usage, at each group's multiplier. */
  readonly lines: readonly PreviewLine[];
  readonly groups: readonly {
    readonly group: string;
    readonly multiplier: string;
    readonly prices: readonly UnitPrice[];
  }[];
  readonly revenue: { readonly now: Yuan; readonly new: Yuan; readonly change: number | null };
  readonly vendor_cost: Yuan | null;
  readonly margin: { readonly now: number | null; readonly new: number | null } | null;
  readonly users: { readonly pay_more: number; readonly pay_less: number; readonly same: number };
  readonly warnings: readonly PriceWarning[];
  /** False: a class that its vendor reports has no price. */
  readonly publishable: boolean;
}

export interface PreviewLine {
  readonly now: UnitPrice | null;
  readonly new: UnitPrice | null;
  readonly quantity: string;
  readonly cost_now: Yuan;
  readonly cost_new: Yuan;
}

export interface PriceWarning {
  readonly code:
    | 'below_vendor_cost'
    | 'large_change'
    | 'class_without_price'
    | 'until_the_configuration_changes';
  readonly values: Readonly<Record<string, string>>;
}

/**
 * POST `operator/prices/import`: the file as text, YAML, JSON or CSV
 * (`id,input,cached_input,output,…`).
 */
export interface ImportBody {
  readonly text: string;
  readonly dry_run: boolean;
  readonly reason?: string;
  /** The operator has seen the prices that are `far_off`, and means them. */
  readonly accept_far_off?: boolean;
}

/**
 * All changes are published together, or none: `published` is false for a dry run and when a line
 * is refused.
 */
export interface PriceImportReport {
  /** `far_off`: probably a mistake in the unit; it is published only if that is accepted. */
  readonly new: readonly {
    readonly model: string;
    readonly prices: readonly UnitPrice[];
    readonly far_off: boolean;
  }[];
  readonly changed: readonly {
    readonly model: string;
    readonly changes: readonly {
      readonly class: string;
      /** What `from` and `to` are for: one of it, or a million tokens. Null: they are no amounts. */
      readonly unit: PriceUnit | null;
      readonly far_off: boolean;
      readonly from: string | null;
      readonly to: string | null;
      readonly percent: number | null;
    }[];
  }[];
  readonly unchanged: readonly string[];
  readonly refused: readonly {
    readonly line: number | null;
    readonly text: string;
    /** A sentence in English. `code` and `values` are for other languages; null: no code. */
    readonly why: string;
    readonly code: string | null;
    readonly values: Readonly<Record<string, string>>;
  }[];
  readonly published: boolean;
}

/** The choice among healthy channels of one priority. */
export type PolicyName = 'weighted' | 'latency' | 'cost' | 'sticky';

/** GET `operator/groups`, `operator/groups/:name`; POST and PATCH with the settable members. */
export interface OperatorGroup {
  readonly name: string;
  readonly multiplier: string;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly policy: PolicyName;
  /** Asked in this order when the model of a request cannot answer. */
  readonly fallback_models: readonly string[];
  readonly models: readonly { readonly id: string; readonly channels: readonly string[] }[];
  readonly keys: number;
  readonly origin: OriginName;
  readonly version: number;
}

/**
 * POST `operator/groups/:name/preview` with another `multiplier`: on the usage of the last seven
 * whole days (UTC).
 */
export interface GroupPreview {
  readonly revenue: { readonly now: Yuan; readonly new: Yuan; readonly change: number | null };
  /** Number of users of the group in those days. */
  readonly users: number;
  /** Models that its keys would pay less for than some vendor takes. */
  readonly below_vendor_cost: readonly string[];
}

export interface GroupBody {
  readonly name?: string;
  readonly multiplier?: string;
  readonly rpm?: number | null;
  readonly tpm?: number | null;
  readonly concurrency?: number | null;
  readonly policy?: PolicyName;
  readonly fallback_models?: readonly string[];
}

/** GET `operator/orders`, a page. POST `…/:id/query`, `…/:id/close` return it too. */
export interface OperatorOrder extends OrderView {
  readonly user: { readonly id: string; readonly name: string };
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
  /** Empty also when only their number is known still. */
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
