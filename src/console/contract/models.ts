import type { Instant, ModelKindName, UnitPrice } from './shapes.ts';

/**
 * GET `models?group=`: what the group can call, at its prices. Default group: that of the key used
 * last. Small enough to be searched by the client.
 */
export interface ModelsView {
  readonly group: string;
  readonly groups: readonly string[];
  readonly items: readonly ModelRow[];
}

export interface ModelRow {
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

/** GET `models/:id?group=`; the id may hold `/`. */
export interface ModelDetail extends ModelRow {
  readonly by_group: readonly ModelPrices[];
  readonly created_at: Instant;
  readonly price_version: { readonly version: number; readonly since: Instant } | null;
  /** Of models of pictures. */
  readonly image: {
    readonly sizes: readonly string[] | null;
    readonly qualities: readonly string[] | null;
    readonly images_max: number | null;
    /** What an unsaid size or quality stands for; null: its vendor decides. */
    readonly usual_size: string | null;
    readonly usual_quality: string | null;
    readonly price_names: ImagePriceNames;
  } | null;
  /** Of films, in seconds. */
  readonly durations: readonly number[] | null;
  /** Of all users' requests in the last 24 hours; null when there were none. */
  readonly speed: {
    readonly requests: number;
    readonly first_byte_median_ms: number | null;
    readonly total_mean_ms: number | null;
    readonly success_share: number;
  } | null;
}

/** Under which names besides its own a charge looks for the price of a size or quality. */
export interface ImagePriceNames {
  /** By quality. */
  readonly also_called: Readonly<Record<string, string>>;
  /** Of sizes, the smallest first; null: all larger ones. */
  readonly resolutions: readonly { readonly name: string; readonly pixels_max: number | null }[];
}

export interface ModelPrices {
  readonly group: string;
  readonly multiplier: string;
  readonly prices: readonly UnitPrice[];
}
