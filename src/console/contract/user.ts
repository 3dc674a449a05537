import type {
  AnnouncementView,
  BalanceView,
  Day,
  Instant,
  Yuan,
  ChargeStatus,
  PriceClass,
  TokenMix,
  UnitPrice,
  Page,
  PayPage,
  WalletName,
  ModelKindName,
} from './shared.ts';

/** GET `overview?by=model|key`: the page in one request. */
export interface OverviewView {
  readonly balance: BalanceView;
  readonly today: Spending;
  /** Yesterday up to this hour and minute. */
  readonly yesterday_so_far: Yuan;
  readonly last_7_days: Spending;
  readonly period: OverviewPeriod;
  /** The days of the period in the account's zone; of today its hours, as `14:00`. */
  readonly series: SeriesView;
  /** The models with the highest cost in the period, highest first, at most ten. */
  readonly top: readonly TopModel[];
  readonly last_charges: readonly ChargeView[];
  readonly start: StartCard;
  readonly announcements: readonly AnnouncementView[];
  readonly zone: string;
  readonly as_of: Instant;
}

/** What a period cost, beside the one before up to the same time of its last day. */
export interface OverviewPeriod extends Spending {
  /** GET `overview?period=`; the days count today. */
  readonly name: 'today' | '7d' | '30d' | '90d';
  readonly from: Instant;
  /** Taken off `cost`; the series and the top models are without it. */
  readonly refunded: Yuan;
  readonly before: Spending & { readonly from: Instant; readonly to: Instant };
}

export interface Spending {
  /** Charges less their refunds, each at its own time: below 0 where more came back. */
  readonly cost: Yuan;
  /** All that were charged, refunded or not. */
  readonly requests: number;
}

/**
 * Stacked bars: `values[i]` of a series is its cost on `days[i]`. Highest cost first; the series
 * after the twelfth are merged into one, named `other`.
 */
export interface SeriesView {
  readonly by: 'model' | 'key';
  readonly zone: string;
  readonly days: readonly Day[];
  readonly series: readonly Series[];
  /** By day, all series together. */
  readonly totals: readonly Yuan[];
}

export interface Series {
  /** The model's name or the key's id; null for all others together. */
  readonly id: string | null;
  readonly name: string;
  readonly cost: Yuan;
  readonly values: readonly Yuan[];
  readonly requests: readonly number[];
}

export interface TopModel {
  readonly model: string;
  readonly cost: Yuan;
  /** Share of all spending in the period, 0 to 1. */
  readonly share: number;
  readonly requests: number;
  /** Share of input tokens, 0 to 1; null when there were none. */
  readonly cached_share: number | null;
}

/** The steps of the start card, each true once it has happened. Shown until the first charge. */
export interface StartCard {
  readonly done: boolean;
  readonly topped_up: boolean;
  readonly has_key: boolean;
  readonly charged: boolean;
  /** The first charge, for the user to check. */
  readonly first_charge: ChargeView | null;
  /** A well-known chat model that the user's newest working key may use, for the sample. */
  readonly sample_model: string | null;
}

/**
 * A charge in a list: GET `usage?from&to&key&model&kind&status&min_cost&request&limit&after`,
 * newest first (`from` and `to` are instants or `-7d`, `-24h`; default: the last 30 days; `status`
 * may be `estimated`); `last_charges` of the overview; the event `charge`.
 */
export interface ChargeView {
  /** The request's id, or the task's. */
  readonly id: string;
  /** The time of the charge; its request began `total_ms` before. */
  readonly at: Instant;
  readonly model: string;
  /** The capability: `chat`, `images`, `video`, … */
  readonly kind: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly group: string;
  readonly status: ChargeStatus;
  readonly estimated: boolean;
  readonly streamed: boolean;
  readonly tokens: TokenMix | null;
  /** The quantity that is not tokens: 2 images, 5 seconds, … */
  readonly quantity: {
    readonly amount: number;
    readonly unit: 'image' | 'megapixel' | 'second' | 'character' | 'request' | 'call';
  } | null;
  readonly first_byte_ms: number | null;
  readonly total_ms: number;
  readonly cost: Yuan;
  /** What came back of it, in one refund or several. */
  readonly refunded: Yuan;
}

/** How much of a charge came back. */
export type ChargeReturn = 'none' | 'part' | 'whole';

/** A page of requests that failed. */
export interface FailedPage<Request> extends Page<Request> {
  /** Failed requests before are kept no longer; null: the period does not begin before. */
  readonly kept_from: Instant | null;
}

/**
 * GET `requests?from=&to=&key=&model=&status=&code=&limit=&after=`, newest first: the user's
 * requests that got no whole answer. `status` may be a class (`4xx`); `code` is an error code or a
 * refusal's name.
 */
export interface FailedRequest {
  readonly id: string;
  /** When the request began. */
  readonly at: Instant;
  readonly key_id: string;
  readonly key_name: string;
  /** `POST /v1/chat/completions`; null for a request from the playground. */
  readonly endpoint: string | null;
  /** As the request named it; null where it named none. */
  readonly model: string | null;
  /** What the client got; 499: the client left before. */
  readonly status: number;
  /** The name of the refusal, or how the request ended: `left`, `fault:timeout`, `ok`. */
  readonly outcome: string;
  /** The error code that the client got. */
  readonly code: string | null;
  /** The error's text without the values that it had; null where it was a vendor's. */
  readonly message: string | null;
  readonly param: string | null;
  /** From its beginning until its charge, or until its end where nothing was charged. */
  readonly total_ms: number;
}

/** GET `requests/:id`: any request of the user, charged or failed. */
export interface RequestTimeline extends FailedRequest {
  /** There is a charge of this id. */
  readonly charged: boolean;
  readonly refunded: ChargeReturn;
  readonly attempts_made: number;
  /** In their order; empty when no vendor was called, or when only their number is still known. */
  readonly attempts: readonly {
    readonly began_ms: number;
    readonly ended_ms: number;
    readonly failed: boolean;
  }[];
}

/** GET `usage/:request_id`. */
export interface ChargeDetail extends ChargeView {
  readonly lines: readonly ChargeLine[];
  /**
   * The ledger's transfer of the same id. Less than the lines' sum only when the money had ended:
   * then `forgiven` is the rest.
   */
  readonly transfer: {
    readonly id: string;
    readonly amount: Yuan;
    readonly at: Instant;
    readonly equal: boolean;
  } | null;
  readonly forgiven: Yuan;
  /** `0.85`; null when the group is gone or its multiplier has changed since. */
  readonly multiplier: string | null;
  /** The price version in force then; null when the charge is older than price versions. */
  readonly price_version: PriceVersionRef | null;
  /** The cost of the input without the cache, when some of it was cached. */
  readonly without_cache: Yuan | null;
  readonly refunds: readonly { readonly id: string; readonly amount: Yuan; readonly at: Instant }[];
  /** Only for operators. */
  readonly attempts: {
    readonly count: number;
    readonly channel: string | null;
    readonly upstream_id: string | null;
  } | null;
}

export interface PriceVersionRef {
  readonly version: number;
  readonly since: Instant;
}

/** quantity × price = exact, rounded up once to the nano = charged. */
export interface ChargeLine {
  readonly class: PriceClass;
  readonly variant: string | null;
  /** The model whose price applies, where another model was called on the way. */
  readonly model: string | null;
  /** The factors on the plain price, with their reasons: `× 6 (ultrafast) × 11/10 (us)`. */
  readonly terms: string | null;
  /** Decimal: tokens, images, characters and requests are whole; seconds may have six decimals. */
  readonly quantity: string;
  /** The price per unit that was paid, multiplier included. */
  readonly price: UnitPrice;
  /** The price before the multiplier, where the version is known. */
  readonly base_price: UnitPrice | null;
  /** All decimals. */
  readonly exact: string;
  readonly charged: Yuan;
  readonly rounded_up: boolean;
}

/** GET `usage/summary` of a filter. */
export interface UsageSummary {
  /** The start of the sum: later than the filter's when `min_cost` has too many records to read. */
  readonly from: Instant;
  readonly requests: number;
  /** Before refunds. */
  readonly cost: Yuan;
  /** What came back of it until now. */
  readonly refunded: Yuan;
  readonly tokens: TokenMix;
  /** Quantities that are not tokens, by unit. */
  readonly quantities: readonly {
    readonly class: PriceClass;
    readonly amount: string;
    readonly cost: Yuan;
  }[];
  /** The share of all requests that broke off (`cut`), 0 to 1; null when there were none. */
  readonly error_share: number | null;
  readonly as_of: Instant;
}

/**
 * GET `usage?…&sort=`: `time` (oldest first), or `input`, `output`, `first_byte`, `total` or `cost`,
 * with `-` before it for the greatest first. Without `sort`: newest first.
 */
export interface ChargePage extends Page<ChargeView> {
  /** Too many charges to put in order: those since then are; `null`: all are. */
  readonly sorted_from: Instant | null;
}

/** GET `usage/course` of a filter: how long requests took, and how many failed. */
export interface UsageCourse {
  /** Up to two days are shown by hours. */
  readonly unit: 'hour' | 'day';
  readonly zone: string;
  readonly points: readonly {
    readonly at: Instant;
    /** Charged requests, interrupted ones included. */
    readonly requests: number;
    readonly interrupted: number;
    /**
     * Requests that got an error instead of an answer; `null` where they are not recorded any more,
     * and with a filter that only charges have.
     */
    readonly failed: number | null;
    readonly first_byte: LatencyView | null;
    readonly total: LatencyView | null;
  }[];
  /** The beginning of the record of failed requests; `null` when the filter leaves them out. */
  readonly failed_since: Instant | null;
  readonly as_of: Instant;
}

export interface LatencyView {
  readonly median_ms: number;
  readonly p95_ms: number;
}

/** GET `usage/series?by=model|key` of a filter: cost per day, and each series' sum. */
export interface UsageSeries {
  readonly by: 'model' | 'key';
  readonly zone: string;
  readonly days: readonly Day[];
  readonly series: readonly Series[];
  readonly totals: readonly Yuan[];
}

export type KeyState = 'active' | 'disabled' | 'expired' | 'limit_reached';

/** The restrictions of a key, beside its group and its money; null = none. */
export interface KeyTermsView {
  /** A subset of its group's models. */
  readonly only_models: readonly string[] | null;
  /** Addresses and networks, `10.0.0.0/8`, that may use the key. The playground ignores them. */
  readonly addresses: readonly string[] | null;
  /** Requests and tokens per minute, requests at once; its group's limits apply as well. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}

/**
 * The same in a body: absent members stay as they are, null or an empty list removes a restriction.
 */
export type KeyTermsBody = Partial<KeyTermsView>;

/** What is spent of a daily or monthly limit, and the time from which it counts anew. */
export interface LimitWindowView {
  readonly spent: Yuan;
  readonly resets_at: Instant;
}

/**
 * GET `keys?q=ci&sort=created|name|used|spent` is a page of these: those with `q` in their name, or
 * as their id or last four characters; the newest, first named, last used or dearest first. POST
 * `keys/:id/disable` and `/enable` return one.
 */
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
   * The most that it may spend in all, in a day, in a month; null = no limit. The operator's zone
   * decides the days and months of limits.
   */
  readonly limit: Yuan | null;
  readonly daily_limit: Yuan | null;
  readonly monthly_limit: Yuan | null;
  /** Null without such a limit. */
  readonly daily: LimitWindowView | null;
  readonly monthly: LimitWindowView | null;
  /** Since the first of the month in the account's zone. */
  readonly spent_this_month: Yuan;
  readonly created_at: Instant;
  readonly expires_at: Instant | null;
  readonly last_used_at: Instant | null;
  /** The secret before the last rotation, while it works. */
  readonly old_secret: { readonly last4: string; readonly works_until: Instant } | null;
  /** For `if-match`. */
  readonly version: number;
}

/** GET `keys/:id`. DELETE, with `if-match`: it works no more, and its records keep its name. */
export interface KeyDetail extends KeyView {
  readonly series: SeriesView;
  readonly top: readonly TopModel[];
  /** The models that it can call. */
  readonly models: readonly string[];
  /** Requests in the last hour: what disabling it would stop. */
  readonly requests_last_hour: number;
  /** Its latest changes, newest first, at most twenty. */
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
 * `secret` is in this response only. Repeating the idempotency key returns the key with `secret:
 * null`.
 */
export interface CreatedKey {
  readonly key: KeyView;
  readonly secret: string | null;
}

/**
 * PATCH `keys/:id`, with `if-match`: absent members stay, a limit of null is taken away. A limit
 * that is added counts what the key has spent in its total, day or month; requests that run at that
 * moment do not count in it.
 */
export interface KeyChange extends KeyTermsBody {
  readonly name?: string;
  readonly group?: string;
  readonly limit?: Yuan | null;
  readonly daily_limit?: Yuan | null;
  readonly monthly_limit?: Yuan | null;
  readonly expires_at?: Instant | null;
}

/**
 * POST `keys/:id/rotate`, with `if-match`: the key gets a new secret, and the one that it has works
 * on for the grace. An older one ends at once. POST `keys/:id/end-old-secret` ends the grace.
 */
export interface KeyRotation {
  readonly grace: 'now' | '1h' | '24h' | '7d';
}

/** `secret` is in this response only. */
export interface RotatedKey {
  readonly key: KeyView;
  readonly secret: string;
}

/** GET `groups`: the groups that a key can be made for. */
export interface GroupView {
  readonly name: string;
  /** `0.85`. */
  readonly multiplier: string;
  readonly models: number;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}

/**
 * GET `statement?from=2026-11-01&to=2026-11-21`: days of the account's zone, both included; at most
 * 366. Default: this month.
 */
export interface StatementView {
  readonly from: Day;
  readonly to: Day;
  readonly zone: string;
  readonly opening: { readonly at: Instant; readonly balance: Yuan };
  readonly top_ups: { readonly count: number; readonly amount: Yuan };
  /** A negative amount. */
  readonly charges: { readonly count: number; readonly amount: Yuan };
  /** Charges paid back. */
  readonly refunds: { readonly count: number; readonly amount: Yuan };
  /**
   * Everything else: the operator's credits (+) and debits (−), top-ups paid back to the wallet
   * (−).
   */
  readonly adjustments: { readonly count: number; readonly amount: Yuan };
  readonly closing: { readonly at: Instant; readonly balance: Yuan };
  /** opening + all of the above = closing, and closing equals the ledger's counters. */
  readonly adds_up: boolean;
  readonly held: Yuan;
  readonly available: Yuan;
  readonly rows: readonly StatementRow[];
  readonly as_of: Instant;
}

/**
 * Oldest first, in the ledger's order; a top-up between charges splits a day's charges into two
 * rows, so that every balance was once true.
 */
export type StatementRow = ChargesRow | MoveRow;

export interface ChargesRow {
  readonly kind: 'charges';
  readonly day: Day;
  /** `[from, to)`: for `statement/:date?from&to`. */
  readonly from: Instant;
  readonly to: Instant;
  readonly requests: number;
  /** Negative. */
  readonly amount: Yuan;
  readonly balance: Yuan;
}

export interface MoveRow {
  readonly kind: 'top_up' | 'refund' | 'credit' | 'debit' | 'withdrawal';
  readonly day: Day;
  readonly at: Instant;
  /** The transfer's id. */
  readonly id: string;
  /** The order, or the refunded request. */
  readonly ref: string | null;
  readonly wallet: string | null;
  /** The operator's reason. */
  readonly reason: string | null;
  readonly amount: Yuan;
  readonly balance: Yuan;
}

/**
 * GET `statement/:date?from&to&limit&after`: the charges of a day, oldest first, and the holds
 * released without a charge.
 */
export interface StatementDay extends Page<StatementLine> {
  readonly day: Day;
  readonly zone: string;
}

export type StatementLine =
  | ({ readonly what: 'charge'; readonly amount: Yuan; readonly balance: Yuan } & ChargeView)
  | {
      readonly what: 'not_charged';
      readonly id: string;
      readonly at: Instant;
      readonly model: string;
      readonly kind: string;
      readonly key_name: string;
      readonly held: Yuan;
      readonly held_at: Instant;
      readonly released_at: Instant;
      readonly error: string | null;
    };

/** POST `statement/verify` with `{from, to}`: the sum of the ledger's transfers. */
export interface StatementProof {
  readonly ok: boolean;
  /** Number of transfers read. */
  readonly lines: number;
  readonly opening: Yuan;
  readonly closing: Yuan;
  readonly took_ms: number;
  /** The first charge that differs. */
  readonly differs: {
    readonly id: string;
    readonly recorded: Yuan | null;
    readonly transferred: Yuan | null;
  } | null;
  readonly as_of: Instant;
}

/**
 * `waiting` → `scanned` → `credited`, or `expired` (its code), `closed` (at the wallet), `failed`
 * (the wallet refused it). A payment that arrives after closing is credited, with `late: true`.
 */
export type OrderStateName = 'waiting' | 'scanned' | 'credited' | 'expired' | 'closed' | 'failed';

/** GET `orders`, `orders/:id`; the event `order`. */
export interface OrderView {
  readonly id: string;
  readonly amount: Yuan;
  readonly wallet: WalletName;
  readonly page: PayPage;
  readonly state: OrderStateName;
  readonly late: boolean;
  /** The content of the QR code, while the order waits. */
  readonly qr: string | null;
  /** The wallet's page, while the order waits; on a phone `orders/:id/pay` gives a new one. */
  readonly pay_url: string | null;
  readonly expires_at: Instant;
  readonly created_at: Instant;
  readonly credited_at: Instant | null;
  /** The wallet's own number. */
  readonly wallet_no: string | null;
  readonly transfer: string | null;
  readonly refunded: Yuan;
  readonly refunds: readonly RefundView[];
}

export interface RefundView {
  readonly id: string;
  readonly amount: Yuan;
  readonly state: 'held' | 'asked' | 'refunded' | 'failed';
  readonly reason: string;
  readonly at: Instant;
}

/** POST `orders`, with `idempotency-key`. `amount`: from 1.00, at most two decimals. */
export interface NewOrderBody {
  readonly amount: Yuan;
  readonly wallet: WalletName;
  readonly page?: PayPage;
}

/** POST `orders`, `orders/:id/check`, `orders/:id/close`. */
export interface OrderAnswer {
  readonly order: OrderView;
  readonly balance: BalanceView;
}

/** POST `orders/:id/pay`: the page of an open order, good for some minutes; null: see its state. */
export interface OrderPayAnswer extends OrderAnswer {
  readonly pay_url: string | null;
}

/**
 * GET `models?group=`: the models that the group can call, at its prices. Default group: that of
 * the key used last. Small enough for the client to search. GET `market` and `market/:id` are the
 * same for visitors without a session, at the prices of the group that `public_models` names.
 */
export interface ModelsView {
  readonly group: string;
  readonly groups: readonly string[];
  readonly items: readonly ModelRow[];
  /** The chat model that a first request is for. */
  readonly sample_model: string | null;
}

/** A model on sale, at a price. */
export interface PricedModel {
  readonly id: string;
  readonly vendor: string;
  readonly kind: ModelKindName;
  readonly context: number | null;
  readonly output_tokens_max: number | null;
  readonly modalities: { readonly in: readonly string[]; readonly out: readonly string[] } | null;
  /** At the group's multiplier. */
  readonly prices: readonly UnitPrice[];
  readonly shutdown_date: string | null;
}

export interface ModelRow extends PricedModel {
  /** Takes functions that it may call. */
  readonly tools: boolean;
  /** Thinks before it answers, or can be asked to. */
  readonly reasoning: boolean;
  /** Over all users' requests in the last 24 hours; null when there were none. */
  readonly speed: ModelSpeed | null;
}

/** The speed of a model over some hours. */
export interface ModelSpeed {
  /** Null for visitors without a session. */
  readonly requests: number | null;
  readonly first_byte_median_ms: number | null;
  readonly total_median_ms: number | null;
  /** Output tokens in a second, from the request to the last byte; null where none are counted. */
  readonly output_per_second: number | null;
  /**
   * The share of requests that were answered in full, of all that were not the client's own
   * mistake.
   */
  readonly success_share: number;
}

/** GET `models/:id?group=`; the id may contain `/`. */
export interface ModelDetail extends ModelRow {
  readonly by_group: readonly ModelPrices[];
  readonly created_at: Instant;
  readonly price_version: { readonly version: number; readonly since: Instant } | null;
  /** For image models. */
  readonly image: {
    readonly sizes: readonly string[] | null;
    readonly qualities: readonly string[] | null;
    readonly images_max: number | null;
    /**
     * The size that a request without one gets; null: its vendor decides. `usual_quality` is the
     * same for quality.
     */
    readonly usual_size: string | null;
    readonly usual_quality: string | null;
    readonly price_names: ImagePriceNames;
  } | null;
  /** The durations of its videos, in seconds. */
  readonly durations: readonly number[] | null;
  /** The speed over the last seven days, the oldest first; null where there were no requests. */
  readonly history: {
    readonly hours: number;
    readonly points: readonly { readonly at: Instant; readonly speed: ModelSpeed | null }[];
  };
}

/** Further names under which a charge looks for the price of a size or quality. */
export interface ImagePriceNames {
  /** By quality. */
  readonly also_called: Readonly<Record<string, string>>;
  /** By size, the smallest first; null: all larger ones. */
  readonly resolutions: readonly { readonly name: string; readonly pixels_max: number | null }[];
}

export interface ModelPrices {
  readonly group: string;
  readonly multiplier: string;
  readonly prices: readonly UnitPrice[];
}

export type TaskStateName = 'pending' | 'processing' | 'completed' | 'failed';

/**
 * GET `tasks` (newest first), `tasks/:id`; the event `task`. Prompts are not stored. Kept for 24
 * hours.
 */
export interface TaskView {
  readonly id: string;
  readonly model: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly seconds: number;
  readonly size: string | null;
  readonly state: TaskStateName;
  /** 0 to 100; null when its vendor reports none. */
  readonly progress: number | null;
  /** While it runs. */
  readonly held: Yuan;
  /** When it is done. */
  readonly charged: Yuan;
  readonly submitted_at: Instant;
  readonly ended_at: Instant | null;
  readonly expires_at: Instant;
  readonly video_url: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface TaskDetail extends TaskView {
  readonly lines: readonly ChargeLine[];
  /** The usual duration of such a task, from our own last ones; null when there were too few. */
  readonly usual_ms: number | null;
}

/**
 * GET `events`, server-sent: `event:` is the name, `data:` the JSON, `id:` resumes by
 * `Last-Event-ID`. `announcement` and `channel` only say that something changed: the client reads
 * it again.
 */
export interface ConsoleEvents {
  readonly balance: BalanceView;
  readonly order: OrderView;
  readonly task: TaskView;
  readonly charge: ChargeView;
  readonly announcement: { readonly changed: true };
  /** Only for operators. */
  readonly channel: { readonly changed: true };
}

export type ConsoleEventName = keyof ConsoleEvents;
