import type { OrderView, RefundView } from './orders.ts';
import type { AnnouncementView, WalletName } from './session.ts';
import type { Day, Instant, Yuan } from './shapes.ts';

/** GET `operator/orders`, a page. POST `…/:id/query`, `…/:id/close` answer it, too. */
export interface OperatorOrder extends OrderView {
  readonly user: { readonly id: string; readonly name: string };
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

/** GET `operator/reconciliation?date&wallet`; POST `…/run` answers it, too. */
export interface Reconciliation {
  readonly day: Day;
  readonly wallet: WalletName;
  /** Null: not run yet. */
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
  /** Null while it runs, and of one whose process ended before it. */
  readonly ok: boolean | null;
  readonly running: boolean;
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
 * GET `operator/audit?actor&action&target&account&from&to`, a page; `action=channel.` are all that
 * begin so. Secrets are told as changed, never shown.
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
  readonly target: { readonly kind: string; readonly id: string; readonly name: string | null };
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
  /** Null: everybody. */
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
