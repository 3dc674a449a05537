import type { Serves } from './build-snapshot.ts';
import type { Bundled } from './bundled.ts';
import { exactDecimal } from './decimal.ts';
import type { ConfigProblem } from './problem.ts';
import type { ChannelFacts, Group, ModelFacts } from './snapshot.ts';
import type { Environment } from './yaml-source.ts';

/**
 * What the operator sells, to whom and from where: read from a file or from environment variables,
 * and recorded in the database.
 */
export interface Configuration {
  readonly groups: readonly Group[];
  readonly models: readonly ModelFacts[];
  readonly channels: readonly ChannelFacts[];
  /** What of `settings.media` is written; the rest is as usual. */
  readonly media?: MediaSettings;
  /** What of `payments` is written; the rest comes from the environment. */
  readonly payments?: WrittenPayments;
  /** The same of `settings.video`. */
  readonly video?: VideoSettings;
  /**
   * The models of requests for pictures or videos that name none: the first that the key can use.
   */
  readonly defaultModels?: DefaultModels;
  /** What of `signin` is written; the rest comes from the environment. */
  readonly signin?: WrittenSignin;
  /**
   * Millionths of a yuan for a dollar, where the bundled list's prices are in dollars; absent: the
   * usual.
   */
  readonly usdRatePpm?: bigint;
  /** Nothing wrong, but worth knowing before selling. One sentence each. */
  readonly warnings: readonly string[];
}

export interface DefaultModels {
  readonly image: readonly string[];
  readonly video: readonly string[];
}

/**
 * Limits of what is downloaded and kept for clients, and which hosts beside the public ones may be
 * read.
 */
export interface MediaSettings {
  readonly urlsMax?: number;
  readonly fileBytesMax?: number;
  readonly requestBytesMax?: number;
  readonly redirectsMax?: number;
  readonly totalMs?: number;
  readonly idleMs?: number;
  readonly atOnceMax?: number;
  readonly allowPrivate?: readonly string[];
  readonly kept?: KeptSettings;
}

/** Limits of what is generated and kept for clients. */
export interface KeptSettings {
  readonly filesMax?: number;
  readonly bytesMax?: number;
  readonly fileBytesMax?: number;
  readonly keptMs?: number;
}

/** Limits of work that outlives its request. */
export interface VideoSettings {
  /** A video that is not there by then is given up. */
  readonly ageMs?: number;
}

/** Ways to sign in. Addresses without `/` at their end; absent: the provider's own. */
export interface WrittenSignin {
  readonly signUp?: boolean;
  readonly github?: {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly baseUrl?: string;
    readonly apiUrl?: string;
  };
  readonly wechat?: {
    readonly appId: string;
    readonly appSecret: string;
    readonly baseUrl?: string;
    readonly apiUrl?: string;
  };
}

type WalletTexts = Readonly<Record<string, string | undefined>>;

/** Of each wallet the members as they are written. */
export interface WrittenPayments {
  readonly expiry_minutes?: number | undefined;
  readonly wechat_pay?: WalletTexts | undefined;
  readonly alipay?: WalletTexts | undefined;
}

/** The configuration, or all that is wrong with it, in the order of lines. */
export type ConfigurationResult =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** What the catalogue must know of a vendor. */
export interface VendorFacts {
  readonly id: string;
  readonly ownedBy: string;
  readonly baseUrl?: string;
  readonly env?: { readonly apiKey: string; readonly baseUrl?: string };
}

export interface ConfigurationContext {
  readonly env: Environment;
  readonly vendors: readonly VendorFacts[];
  readonly serves: Serves;
  /** Wall clock, ms. */
  readonly now: number;
}

export const defaultGroup: Group = {
  name: 'default',
  multiplierPpm: 1_000_000n,
  limits: { rpm: undefined, tpm: undefined, concurrency: undefined },
};

export const usdRateVariable = 'TOLLGATE_USD_RATE';

/** Yuan for a dollar as written → millionths, or why not. */
export function usdRate(text: string): bigint | string {
  const rate = exactDecimal(text, 6);
  return rate === 0n ? 'must be more than 0' : rate;
}

export function utcDate(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

type SellableConfiguration = Omit<Configuration, 'warnings'>;

/**
 * What is not wrong but surprises: models that cannot be offered, and prices that nobody vouches
 * for. `own` are the ids that the file itself prices.
 */
export function configurationWarnings(
  sold: SellableConfiguration,
  own: readonly string[],
  bundled: Bundled,
  { serves }: { readonly serves: Serves },
): readonly string[] {
  const kinds = new Map(sold.models.map((model) => [model.id, model.kind]));
  const unserved = sold.channels.flatMap(({ name, vendor, models }) => {
    const ids = [...models.keys()].filter((id) => !serves(vendor, kinds.get(id) ?? 'chat'));
    return ids.length === 0
      ? []
      : [
          `channel ${name}: ${vendor} is not offered for ${inWords(ids)}, which are of a kind that it is not spoken to about`,
        ];
  });
  const borrowed = sold.models
    .filter(({ id }) => !own.includes(id) && bundled.get(id)?.doubtful === true)
    .map(({ id }) => id);
  const doubtful =
    borrowed.length === 0
      ? []
      : [
          `the bundled prices of ${inWords(borrowed)} come from no word of the vendor: check them before selling`,
        ];
  return [...nothingSold(sold), ...unserved, ...doubtful];
}

function nothingSold({ models, channels }: SellableConfiguration): readonly string[] {
  if (channels.length === 0)
    return [
      `nothing can be asked for: there are no ${models.length === 0 ? 'models and no ' : ''}channels`,
    ];
  return channels
    .filter((channel) => channel.models.size === 0)
    .map(({ name }) => `channel ${name}: it has no models`);
}

const namedMax = 5;

function inWords(ids: readonly string[]): string {
  const rest = ids.length - namedMax;
  return rest > 0 ? `${ids.slice(0, namedMax).join(', ')} and ${rest} more` : ids.join(', ');
}
