/**
 * Yuan as a decimal string with nine decimals, minus sign ASCII: `-0.013577263`. No number is ever
 * money.
 */
export type Yuan = string;
/** ISO 8601 in UTC with milliseconds: `2026-11-21T06:03:22.000Z`. */
export type Instant = string;
/** A day of the account's zone: `2026-11-21`. */
export type Day = string;

/**
 * One page of a keyset: cursors are opaque and belong to the filter they were made with. No totals:
 * those are the summary's of the same filter.
 */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Older ones: `?after=`. */
  readonly next: string | null;
  /** Newer ones: `?after=` as well. */
  readonly prev: string | null;
  readonly as_of: Instant;
}

/** Answers of small lists that have no pages. */
export interface List<Item> {
  readonly items: readonly Item[];
}

/**
 * Every answer that says no. `fields`: which member of the body is wrong, and how, by code
 * (`below_minimum`).
 */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
    readonly fields?: Readonly<Record<string, string>>;
    readonly request_id: string;
  };
  /** With 409 `version_conflict`: the object as it is now. */
  readonly current?: unknown;
}

/** What can be sold by the unit. Of tokens, `class` says which. */
export type PriceUnit =
  | 'token'
  | 'image'
  | 'megapixel'
  | 'second'
  | 'character'
  | 'request'
  | 'call';

/** Classes of quantity are disjoint: `input` has no cached tokens in it, `output` no reasoning. */
export type PriceClass =
  | 'input'
  | 'cached_input'
  | 'cache_write_5m'
  | 'cache_write_1h'
  | 'output'
  | 'reasoning'
  | 'audio_input'
  | 'audio_output'
  | 'image_input'
  | 'image_output'
  | 'image'
  | 'megapixel'
  | 'second'
  | 'character'
  | 'request'
  | 'web_search'
  | 'web_fetch'
  | 'file_search'
  | 'code_session'
  | 'grounding_query'
  | 'mcp_call';

/**
 * `{"amount":"2.125","per":1000000,"unit":"token","class":"cached_input"}`: as many decimals as it
 * has, at least two.
 */
export interface UnitPrice {
  readonly amount: string;
  readonly per: 1 | 1_000_000;
  readonly unit: PriceUnit;
  readonly class: PriceClass;
  /**
   * Of a class whose price depends on it: `1024x1024/hd`, `720p`, or the terms that a user reads
   * beside the plain price: `fast`, `us`, `peak`.
   */
  readonly variant?: string;
  /** Of requests with more input tokens than this. */
  readonly above_input_tokens?: number;
}

/** Tokens by class, always beside the money that they cost. */
export interface TokenMix {
  /** All input, cached and written included. */
  readonly input: number;
  readonly cached_input: number;
  readonly cache_write: number;
  /** All output, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

export type ModelKindName =
  | 'chat'
  | 'completion'
  | 'embedding'
  | 'image'
  | 'transcription'
  | 'speech'
  | 'rerank'
  | 'moderation'
  | 'video';

/**
 * How a request ended. `cut`: its vendor broke off · `left`: its client did · `length`: the money
 * ended.
 */
export type ChargeStatus = 'ok' | 'cut' | 'left' | 'length' | 'error';
