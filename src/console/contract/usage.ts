import type { Series } from './overview.ts';
import type {
  ChargeStatus,
  Day,
  Instant,
  PriceClass,
  TokenMix,
  UnitPrice,
  Yuan,
} from './shapes.ts';

/**
 * A charge in a list: GET `usage?from&to&key&model&kind&status&min_cost&request&limit&after`,
 * newest first (`from` and `to` are instants or `-7d`, `-24h`; default: the last 30 days; `status`
 * may be `estimated`); `last_charges` of the overview; the event `charge`.
 */
export interface ChargeRow {
  /** The request's id, or the task's. */
  readonly id: string;
  /** When it was charged; its request began `total_ms` before. */
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
  /** What is not tokens: 2 images, 5 seconds, … */
  readonly quantity: {
    readonly amount: number;
    readonly unit: 'image' | 'megapixel' | 'second' | 'character' | 'request' | 'call';
  } | null;
  readonly first_byte_ms: number | null;
  readonly total_ms: number;
  readonly cost: Yuan;
}

/** GET `usage/:request_id`. */
export interface ChargeDetail extends ChargeRow {
  readonly lines: readonly ChargeLine[];
  /**
   * Paid = the ledger's transfer of the same id. Less than the lines' sum only when the money had
   * ended: then `forgiven` is the rest.
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
  /** Which prices were in force then; null when they were recorded before versions were kept. */
  readonly price_version: PriceVersionRef | null;
  /** What the input would have cost without the cache, where there was one. */
  readonly without_cache: Yuan | null;
  readonly refunds: readonly { readonly id: string; readonly amount: Yuan; readonly at: Instant }[];
  /** For operators alone. */
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
  /** Whose price it is, where another model was called on the way. */
  readonly model: string | null;
  /** What the plain price was multiplied by, and why: `× 6 (ultrafast) × 11/10 (us)`. */
  readonly terms: string | null;
  /** Decimal: tokens, images, characters and requests are whole; seconds may have six decimals. */
  readonly quantity: string;
  /** What was paid for the unit, multiplier included. */
  readonly price: UnitPrice;
  /** Before the multiplier, where the version that was used is known. */
  readonly base_price: UnitPrice | null;
  /** As many decimals as it takes. */
  readonly exact: string;
  readonly charged: Yuan;
  readonly rounded_up: boolean;
}

/** GET `usage/summary` of a filter. */
export interface UsageSummary {
  /**
   * Since when it is summed up: later than the filter says where `min_cost` has too many records to
   * look at.
   */
  readonly from: Instant;
  readonly requests: number;
  readonly cost: Yuan;
  readonly tokens: TokenMix;
  /** What is not tokens, by unit. */
  readonly quantities: readonly {
    readonly class: PriceClass;
    readonly amount: string;
    readonly cost: Yuan;
  }[];
  /** Of all requests those that broke off (`cut`), 0 to 1; null when there were none. */
  readonly error_share: number | null;
  readonly as_of: Instant;
}

/** GET `usage/series?by=model|key` of a filter: per day, and each series' sum. */
export interface UsageSeries {
  readonly by: 'model' | 'key';
  readonly zone: string;
  readonly days: readonly Day[];
  readonly series: readonly Series[];
  readonly totals: readonly Yuan[];
}
