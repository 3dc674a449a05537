import type { Instant, Yuan } from './shapes.ts';

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
