import type { Day, Instant, Page, Yuan } from './shapes.ts';
import type { ChargeRow } from './usage.ts';

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
  /** As a negative amount. */
  readonly charges: { readonly count: number; readonly amount: Yuan };
  /** Charges paid back. */
  readonly refunds: { readonly count: number; readonly amount: Yuan };
  /**
   * Everything else: the operator's credits (+) and debits (−), top-ups paid back to the wallet
   * (−).
   */
  readonly adjustments: { readonly count: number; readonly amount: Yuan };
  readonly closing: { readonly at: Instant; readonly balance: Yuan };
  /** opening + all of the above = closing, and closing is what the ledger's counters say. */
  readonly adds_up: boolean;
  readonly held: Yuan;
  readonly available: Yuan;
  readonly rows: readonly StatementRow[];
  readonly as_of: Instant;
}

/**
 * Oldest first, in the ledger's order; a top-up between charges splits a day's charges in two rows,
 * so that every balance was once true.
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
  /** The transfer's. */
  readonly id: string;
  /** The order, or the request that was paid back. */
  readonly ref: string | null;
  readonly wallet: string | null;
  /** Why an operator gave or took it. */
  readonly reason: string | null;
  readonly amount: Yuan;
  readonly balance: Yuan;
}

/**
 * GET `statement/:date?from&to&limit&after`: the charges of a day, oldest first, and what was held
 * and let go without a charge.
 */
export interface StatementDay extends Page<StatementLine> {
  readonly day: Day;
  readonly zone: string;
}

export type StatementLine =
  | ({ readonly what: 'charge'; readonly amount: Yuan; readonly balance: Yuan } & ChargeRow)
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

/** POST `statement/verify` with `{from, to}`: added up again from the ledger's transfers. */
export interface StatementProof {
  readonly ok: boolean;
  /** Transfers that were read. */
  readonly lines: number;
  readonly opening: Yuan;
  readonly closing: Yuan;
  readonly took_ms: number;
  /** The first that differs. */
  readonly differs: {
    readonly id: string;
    readonly recorded: Yuan | null;
    readonly transferred: Yuan | null;
  } | null;
  readonly as_of: Instant;
}
