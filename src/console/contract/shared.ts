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

export type RoleName = 'user' | 'operator';
export type SignInMethod = 'github' | 'wechat' | 'link';
export type WalletName = 'wechat_pay' | 'alipay';
export type Language = 'zh' | 'en';

/** Of the shell, the overview and every answer that moved money. */
export interface BalanceView {
  /** What can be spent: total − held. */
  readonly available: Yuan;
  /** For running tasks. */
  readonly held: Yuan;
  readonly total: Yuan;
  readonly tasks_running: number;
  readonly runway: Runway;
  /** The cheapest listed model cannot be paid. */
  readonly empty: boolean;
  /** Nothing was ever paid in. */
  readonly unfunded: boolean;
}

/** available ÷ mean of the last 7 full days. `unknown`: less than two days of data. */
export type Runway =
  | {
      readonly state: 'unknown' | 'over_a_year';
      readonly days: null;
      readonly mean_per_day: Yuan | null;
    }
  | { readonly state: 'days'; readonly days: number; readonly mean_per_day: Yuan };

export interface Me {
  readonly id: string;
  readonly name: string;
  readonly role: RoleName;
  readonly settings: Settings;
  readonly version: number;
  readonly created_at: Instant;
}

export interface Settings {
  /** IANA name; cuts the days of the statement. */
  readonly zone: string;
  readonly language: Language | null;
  /** Warn when less is available; null: by runway alone. */
  readonly low_balance: Yuan | null;
  /** Where that is told as well, when `features.email`; null: nowhere. */
  readonly email: string | null;
  readonly shortcuts: boolean;
}

/** PATCH `me`, with `if-match`: what is left out stays. */
export type MeChange = Partial<Settings> & { readonly name?: string };

/** GET `session`, for anyone. What is not configured is not shown. */
export interface SessionView {
  readonly site: string;
  /** Where clients call: `{base_url}/v1`. */
  readonly base_url: string;
  readonly methods: readonly SignInMethod[];
  readonly wallets: readonly WalletName[];
  /** The least and the most of one order. */
  readonly top_up: { readonly least: Yuan; readonly most: Yuan };
  readonly features: {
    readonly payments: boolean;
    readonly playground: boolean;
    readonly email: boolean;
  };
  readonly me: Me | null;
  /** Goes into `x-csrf-token` of everything but GET; null when signed out. */
  readonly csrf: string | null;
  readonly balance: BalanceView | null;
  readonly as_of: Instant;
}

/** GET `sessions`. `way`: how it was signed in. */
export interface DeviceView {
  readonly id: string;
  readonly way: string;
  readonly current: boolean;
  readonly browser: string;
  readonly ip: string;
  readonly created_at: Instant;
  readonly seen_at: Instant;
  readonly expires_at: Instant;
}

/** GET `identities`. The last one cannot be unlinked. */
export interface IdentityView {
  readonly provider: Exclude<SignInMethod, 'link'>;
  readonly name: string;
  readonly linked_at: Instant;
  readonly removable: boolean;
}

/** GET `announcements`: those that this user should see now. */
export interface AnnouncementView {
  readonly id: string;
  readonly title: { readonly zh: string; readonly en: string };
  readonly text: { readonly zh: string; readonly en: string };
  readonly level: 'info' | 'warn' | 'bad';
  readonly from: Instant;
  readonly to: Instant | null;
}

/** GET `find?q=`: at most five of each kind. `path` is the client's route. */
export interface Found {
  readonly kind: 'key' | 'model' | 'request' | 'order' | 'task' | 'user' | 'channel';
  readonly id: string;
  readonly title: string;
  readonly detail: string | null;
  readonly path: string;
}
