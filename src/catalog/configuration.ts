import type { Env } from '../base/env.ts';
import type { Serves } from './build-snapshot.ts';
import { type Bundled, defaultUsdRatePpm } from './bundled.ts';
import { exactDecimal, ppmPlaces } from './decimal.ts';
import type { ConfigProblem } from './problem.ts';
import type { ChannelFacts, Group, ModelFacts } from './snapshot.ts';

/**
 * The models that the operator sells, the groups that may buy them and the channels that serve
 * them: read from a file or from environment variables, and recorded in the database.
 */
export interface Configuration {
  readonly groups: readonly Group[];
  readonly models: readonly ModelFacts[];
  readonly channels: readonly ChannelFacts[];
  /**
   * Groups, models and channels only fill an empty catalog. From then on they belong to the
   * database, where the console changes them.
   */
  readonly seed?: true;
  /** The written members of `settings.media`; the others have their defaults. */
  readonly media?: MediaSettings;
  /** The written members of `payments`; the others come from the environment. */
  readonly payments?: WrittenPayments;
  /** The written members of `settings.video`. */
  readonly video?: VideoSettings;
  /** The group whose models and prices are readable without signing in; absent: none. */
  readonly publicModels?: string;
  /** The models for image and video requests that name none: the first that the key can use. */
  readonly defaultModels?: DefaultModels;
  /** The written members of `signin`; the others come from the environment. */
  readonly signin?: WrittenSignin;
  /**
   * Millionths of a yuan for a dollar, for the bundled prices that are in dollars; absent:
   * `defaultUsdRatePpm`.
   */
  readonly usdRatePpm?: bigint;
  /** Things that are valid but worth knowing before selling. One sentence each. */
  readonly warnings: readonly string[];
}

export interface DefaultModels {
  readonly image: readonly string[];
  readonly video: readonly string[];
}

/**
 * Limits of the files that Tollgate downloads and keeps for clients, and the private hosts that it
 * may read.
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

/** Limits of the generated files that Tollgate keeps for clients. */
export interface KeptSettings {
  readonly filesMax?: number;
  readonly bytesMax?: number;
  readonly fileBytesMax?: number;
  readonly keptMs?: number;
}

/** Limits of tasks that outlive their request. */
export interface VideoSettings {
  /** A video that is not finished at this age is given up. */
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

/** The settings of a wallet by member, as texts. */
export type WalletTexts = Readonly<Record<string, string | undefined>>;

export interface WrittenPayments {
  readonly expiry_minutes?: number | undefined;
  readonly wechat_pay?: WalletTexts | undefined;
  readonly alipay?: WalletTexts | undefined;
}

/** The configuration, or all its problems, in the order of lines. */
export type ConfigurationResult =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** The facts about a vendor that the catalog needs. */
export interface VendorFacts {
  readonly id: string;
  readonly ownedBy: string;
  readonly baseUrl?: string;
  readonly env?: { readonly apiKey: string; readonly baseUrl?: string };
}

export interface ConfigurationContext {
  readonly env: Env;
  readonly vendors: readonly VendorFacts[];
  readonly serves: Serves;
  /** Wall clock, ms. */
  readonly now: number;
  /** The port that the gateway listens at; undefined: it listens nowhere. */
  readonly ownPort?: number;
}

export const defaultGroup: Group = {
  name: 'default',
  multiplierPpm: 1_000_000n,
  limits: { rpm: undefined, tpm: undefined, concurrency: undefined },
};

export const usdRateVariable = 'TOLLGATE_USD_RATE';

/** Yuan for a dollar as written → millionths, or the reason why it is wrong. */
export function usdRate(text: string): bigint | string {
  const rate = exactDecimal(text, ppmPlaces);
  if (typeof rate !== 'bigint') return rate.message;
  return rate === 0n ? 'must be more than 0' : rate;
}

/** The rate of the environment, or the usual one; the reason where the variable is wrong. */
export function environmentUsdRate(env: Env): bigint | string {
  const written = env[usdRateVariable];
  return written === undefined || written === '' ? defaultUsdRatePpm : usdRate(written);
}

export function utcDate(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

type SellableConfiguration = Omit<Configuration, 'warnings'>;

interface WarningContext {
  /** The ids that the file itself prices. */
  readonly own: readonly string[];
  /** The channels with the models that they list, without the old ids that they sell, too. */
  readonly asked: readonly ChannelFacts[];
  readonly bundled: Bundled;
  readonly serves: Serves;
}

/**
 * Valid entries that surprise: models that cannot be offered, and prices that no page of the vendor
 * confirms. An old id that nobody asked for has its last price, which no page shows any more: that
 * is no surprise.
 */
export function configurationWarnings(
  sold: SellableConfiguration,
  { own, asked, bundled, serves }: WarningContext,
): readonly string[] {
  const kinds = new Map(sold.models.map((model) => [model.id, model.kind]));
  const unserved = sold.channels.flatMap(({ name, vendor, models }) => {
    const ids = [...models.keys()].filter((id) => !serves(vendor, kinds.get(id) ?? 'chat'));
    return ids.length === 0
      ? []
      : [
          `channel ${name}: ${vendor} is not offered for ${listText(ids)}, which are of a kind that it is not spoken to about`,
        ];
  });
  const doubtful = sold.models
    .filter(
      ({ id }) =>
        !own.includes(id) &&
        bundled.get(id)?.doubtful === true &&
        asked.some(({ models }) => models.has(id)),
    )
    .map(({ id }) => id);
  return [
    ...nothingSold(sold),
    ...withoutChannel(sold, own),
    ...fallbacksUnsold(sold),
    ...unserved,
    ...doubtfulPrices(doubtful),
  ];
}

function doubtfulPrices(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  return [
    ids.length === 1
      ? `The bundled price of ${listText(ids)} does not come from the vendor's own price page: check it before you sell.`
      : `The bundled prices of ${listText(ids)} do not come from the vendor's own price page: check them before you sell.`,
  ];
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

/** Where there are channels: models that the file itself prices, and that no channel sells. */
function withoutChannel(
  { channels }: SellableConfiguration,
  own: readonly string[],
): readonly string[] {
  if (channels.length === 0) return [];
  const unsold = own.filter((id) => !channels.some(({ models }) => models.has(id)));
  if (unsold.length === 0) return [];
  return [
    unsold.length === 1
      ? `${listText(unsold)}: no channel sells it; add its id to \`models\` of a channel`
      : `${listText(unsold)}: no channel sells them; add their ids to \`models\` of a channel`,
  ];
}

/** Where there are channels: models of `fallback_models` that no channel sells. */
function fallbacksUnsold({ groups, channels }: SellableConfiguration): readonly string[] {
  if (channels.length === 0) return [];
  return groups.flatMap(({ name, fallbackModels = [] }) => {
    const unsold = fallbackModels.filter((id) => !channels.some(({ models }) => models.has(id)));
    return unsold.length === 0
      ? []
      : [`group ${name}: no channel sells ${listText(unsold)} of its fallback_models`];
  });
}

const namedMax = 5;

function listText(ids: readonly string[]): string {
  const rest = ids.length - namedMax;
  return rest > 0 ? `${ids.slice(0, namedMax).join(', ')} and ${rest} more` : ids.join(', ');
}
