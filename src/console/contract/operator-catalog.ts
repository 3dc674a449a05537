import type { Origin } from './operator.ts';
import type { ModelRow } from './models.ts';
import type { Instant, ModelKindName, UnitPrice, Yuan } from './shapes.ts';

/**
 * GET `operator/models`, `operator/models/:id`. Prices are base prices: a group's multiplier is not
 * in them.
 */
export interface OperatorModel extends ModelRow {
  readonly active: boolean;
  readonly channels: readonly string[];
  readonly price_version: number;
  readonly durations: readonly number[] | null;
  /** After so long without a byte of a stream a second channel is asked as well; `null`: never. */
  readonly hedge_after_ms: number | null;
  readonly origin: Origin;
  readonly version: number;
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
   * As in the configuration: `{input: "2", cached_input: "0.2", output: "3"}`; of a new model.
   * Changes go by publishing.
   */
  readonly price?: WrittenPrices;
}

/**
 * Yuan per million tokens, image, second, … as text or numbers with up to nine decimals; `tiers`
 * and `by` as in the configuration.
 */
export type WrittenPrices = Readonly<Record<string, unknown>>;

/** GET `operator/models/:id/prices`: newest first. */
export interface PriceVersion {
  readonly version: number;
  /** When it takes effect: later than now of one that waits. */
  readonly since: Instant;
  readonly published_at: Instant;
  readonly prices: readonly UnitPrice[];
  readonly reason: string | null;
  /** User's id, `command` or `configuration`. */
  readonly actor: string;
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
  /** Now where it is not said. */
  readonly effective_at?: Instant;
}

/** `versions`: of each model, the number of its new version. */
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
}

/**
 * All changes are published together, or none: `published` is false of a dry run and where a line
 * is refused.
 */
export interface ImportReport {
  readonly new: readonly { readonly model: string; readonly prices: readonly UnitPrice[] }[];
  readonly changed: readonly {
    readonly model: string;
    readonly changes: readonly {
      readonly class: string;
      readonly from: string | null;
      readonly to: string | null;
      readonly percent: number | null;
    }[];
  }[];
  readonly unchanged: readonly string[];
  readonly refused: readonly {
    readonly line: number | null;
    readonly text: string;
    readonly why: string;
  }[];
  readonly published: boolean;
}

/** What decides among healthy channels of one priority. */
export type PolicyName = 'weighted' | 'latency' | 'cost' | 'sticky';

/** GET `operator/groups`, `operator/groups/:name`; POST and PATCH with the settable members. */
export interface OperatorGroup {
  readonly name: string;
  readonly multiplier: string;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly policy: PolicyName;
  readonly models: readonly { readonly id: string; readonly channels: readonly string[] }[];
  readonly keys: number;
  readonly origin: Origin;
  readonly version: number;
}

/**
 * POST `operator/groups/:name/preview` with another `multiplier`: on the usage of the last seven
 * whole days of UTC.
 */
export interface GroupPreview {
  readonly revenue: { readonly now: Yuan; readonly new: Yuan; readonly change: number | null };
  /** How many used the group in those days. */
  readonly users: number;
  /** Models of which its keys would pay less than some vendor takes. */
  readonly below_vendor_cost: readonly string[];
}

export interface GroupBody {
  readonly name?: string;
  readonly multiplier?: string;
  readonly rpm?: number | null;
  readonly tpm?: number | null;
  readonly concurrency?: number | null;
  readonly policy?: PolicyName;
}
