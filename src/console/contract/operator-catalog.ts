/** What operators read and write of channels, models, prices and groups. */
import type { Instant, PriceUnit, UnitPrice, Yuan, ModelKindName } from './shared.ts';
import type { PricedModel, PriceVersionRef } from './user.ts';

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
  /** Whether one of `channels` takes requests for it. */
  readonly served: boolean;
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
  /** The latest version, where it waits for its time; null where it is in force. */
  readonly waiting_price: PriceVersionRef | null;
  /**
   * What is charged beside `prices`: by mode, place, hours and output length, and for calls of
   * tools. The console does not change them.
   */
  readonly further_prices: readonly UnitPrice[];
}

/**
 * POST `operator/models`, PATCH `operator/models/:id`. A new model of its id alone is one of the
 * bundled list; a delisted one is sold again as it was, at the price that it had.
 */
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
   * empty catalog.
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
  /**
   * The latest version that the author read, in force or waiting; a later one is a
   * `version_conflict`.
   */
  readonly from_version?: number;
  /** The version in force that the author read; a later one is a `version_conflict`, too. */
  readonly price_version?: number;
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
  /** The latest version, in force or waiting. */
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
  /** Those that channels of the group list, with these channels. */
  readonly models: readonly { readonly id: string; readonly channels: readonly string[] }[];
  /** Its channels that take no new requests, and why. */
  readonly not_serving: Readonly<Partial<Record<string, NotServingName>>>;
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
