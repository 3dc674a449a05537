/**
 * Yuan as a decimal string with nine decimals, minus sign ASCII: `-0.013577263`. Money is never a
 * number.
 */
export type Yuan = string;
/** ISO 8601 in UTC with milliseconds: `2026-11-21T06:03:22.000Z`. */
export type Instant = string;
/** A day of the account's zone: `2026-11-21`. */
export type Day = string;

/**
 * One page of a list: cursors are opaque and belong to the filter they were made with. It has no
 * totals: the summary of the same filter has them.
 */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Older items: `?after=`. */
  readonly next: string | null;
  /** Newer items: `?after=` as well. */
  readonly prev: string | null;
  readonly as_of: Instant;
}

/** Small lists without pages. */
export interface List<Item> {
  readonly items: readonly Item[];
}

/**
 * Every error response. `fields`: the wrong members of the body, each with its code
 * (`below_minimum`) or an English sentence; `reasons`: what the sentences say, for other languages.
 */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
    readonly fields?: Readonly<Record<string, string>>;
    readonly reasons?: Readonly<
      Record<string, { readonly code: string; readonly values: Readonly<Record<string, string>> }>
    >;
    readonly request_id: string;
  };
  /** With 409 `version_conflict`: the object as it is now. */
  readonly current?: unknown;
}

/** Units of sale. For tokens, `class` tells the kind. */
export type PriceUnit =
  | 'token'
  | 'image'
  | 'megapixel'
  | 'second'
  | 'character'
  | 'request'
  | 'call';

/** Classes of quantity are disjoint: `input` contains no cached tokens, `output` no reasoning. */
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
 * `{"amount":"2.125","per":1000000,"unit":"token","class":"cached_input"}`: all decimals, at least
 * two.
 */
export interface UnitPrice {
  readonly amount: string;
  readonly per: 1 | 1_000_000;
  readonly unit: PriceUnit;
  readonly class: PriceClass;
  /**
   * For a class whose price depends on it: `1024x1024/hd`, `720p`, or the terms beside the plain
   * price: `fast`, `us`, `peak`.
   */
  readonly variant?: string;
  /** For requests with more input tokens than this. */
  readonly above_input_tokens?: number;
}

/** Tokens by class, always shown beside their cost. */
export interface TokenMix {
  /** All input, including tokens read from and written to the cache. */
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
 * How a request ended. `cut`: its vendor broke off · `left`: its client disconnected · `length`:
 * the money ended.
 */
export type ChargeStatus = 'ok' | 'cut' | 'left' | 'length' | 'error';

export type RoleName = 'user' | 'operator';
export type SignInMethod = 'github' | 'wechat' | 'link';
export type WalletName = 'wechat_pay' | 'alipay';
/** A code to scan, the wallet's own page, or its app on the phone that shows the console. */
export type PayPage = 'qr' | 'web' | 'mobile';
export type Language = 'zh' | 'en';

/** Part of the session, the overview and every response that moved money. */
export interface BalanceView {
  /** The amount that can be spent: total − held. */
  readonly available: Yuan;
  /** Held for running tasks. */
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
  /** IANA name; decides where the statement's days begin. */
  readonly zone: string;
  readonly language: Language | null;
  /** Warns when less is available; null: by runway alone. */
  readonly low_balance: Yuan | null;
  /** The address that gets the warning as well, when `features.email`; null: none. */
  readonly email: string | null;
  readonly shortcuts: boolean;
}

/** PATCH `me`, with `if-match`: absent members stay. */
export type MeChange = Partial<Settings> & { readonly name?: string };

/** GET `session`, for anyone. Features that are not configured are absent. */
export interface SessionView {
  readonly site: string;
  /** The address for API clients: `{base_url}/v1`. */
  readonly base_url: string;
  readonly methods: readonly SignInMethod[];
  readonly wallets: readonly WalletName[];
  /** How each of them can be paid. */
  readonly wallet_pages: Readonly<Partial<Record<WalletName, readonly PayPage[]>>>;
  /** The limits of one order. */
  readonly top_up: { readonly least: Yuan; readonly most: Yuan };
  /** By which days and months of keys' limits run: `UTC+8`. */
  readonly limit_zone: string;
  readonly features: {
    readonly payments: boolean;
    readonly playground: boolean;
    readonly email: boolean;
    /** Models and prices can be read without a session. */
    readonly public_models: boolean;
    /** A demo: its vendors, sign-ins and wallets are simulated. */
    readonly demo: boolean;
    /** In a demo: the page on which the simulated wallets' orders are paid. */
    readonly demo_wallets?: string;
  };
  /** Its path, for operators alone; absent: the gateway reads none. */
  readonly configuration_file?: string;
  readonly me: Me | null;
  /** The value of `x-csrf-token` for everything but GET; null when signed out. */
  readonly csrf: string | null;
  readonly balance: BalanceView | null;
  readonly as_of: Instant;
}

/** GET `sessions`. `way`: the method of the sign-in. */
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

/** GET `identities`. The last one that the gateway offers cannot be unlinked. */
export interface IdentityView {
  readonly provider: Exclude<SignInMethod, 'link'>;
  readonly name: string;
  readonly linked_at: Instant;
  readonly removable: boolean;
}

/** GET `announcements`: the current ones for this user. */
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
