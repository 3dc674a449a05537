import type { AnnouncementView, BalanceView } from './session.ts';
import type { Day, Instant, Yuan } from './shapes.ts';
import type { ChargeRow } from './usage.ts';

/** GET `overview?by=model|key`: the page in one request. */
export interface OverviewView {
  readonly balance: BalanceView;
  readonly today: Spending;
  /** Yesterday up to this hour and minute. */
  readonly yesterday_so_far: Yuan;
  readonly last_7_days: Spending;
  /** The last 30 days of the account's zone, today included. */
  readonly series: SeriesView;
  /** What costs most in the same 30 days, dearest first, at most ten. */
  readonly top: readonly TopModel[];
  readonly last_charges: readonly ChargeRow[];
  readonly start: StartCard;
  readonly announcements: readonly AnnouncementView[];
  readonly zone: string;
  readonly as_of: Instant;
}

export interface Spending {
  readonly cost: Yuan;
  readonly requests: number;
}

/**
 * Stacked bars: `values[i]` of a series is what it cost on `days[i]`. Dearest series first; those
 * after the sixth are one, named `other`.
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
  /** Of all that was spent in the period, 0 to 1. */
  readonly share: number;
  readonly requests: number;
  /** Of input tokens, 0 to 1; null when there were none. */
  readonly cached_share: number | null;
}

/** Steps tick off by facts. Shown until the first charge. */
export interface StartCard {
  readonly done: boolean;
  readonly topped_up: boolean;
  readonly has_key: boolean;
  readonly charged: boolean;
  /** The first charge, to be checked. */
  readonly first_charge: ChargeRow | null;
  /** A chat model that the user's newest key can call, for the sample. */
  readonly sample_model: string | null;
}
