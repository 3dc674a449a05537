import type { RoutingPolicy } from '../base/routing-policy.ts';
import type { ImageTerms } from './image-terms.ts';
import type { Price, Rates, Tariff } from './price.ts';

export type ModelKind =
  | 'chat'
  | 'completion'
  | 'embedding'
  | 'image'
  | 'transcription'
  | 'speech'
  | 'rerank'
  | 'moderation'
  | 'video';

/** The facts about a model, from the bundled list, a file or the database. */
export interface ModelFacts {
  readonly id: string;
  readonly ownedBy: string;
  readonly kind: ModelKind;
  /** Tokens; undefined = not known, then not enforced. */
  readonly context: number | undefined;
  readonly outputTokensMax: number | undefined;
  /** Undefined = unrestricted. */
  readonly modalities:
    | { readonly in: readonly string[]; readonly out: readonly string[] }
    | undefined;
  /** The most output tokens per second, for models that think without streaming their reasoning. */
  readonly topSpeed: number | undefined;
  /**
   * Milliseconds without a byte of a stream after which a second channel gets the request too;
   * absent: never.
   */
  readonly hedgeAfterMs?: number | undefined;
  readonly durations: readonly number[] | undefined;
  /** For image models. */
  readonly image?: ImageTerms | undefined;
  readonly shutdownDate: string | undefined;
  readonly price: Price;
}

export interface Model extends ModelFacts {
  /** Unix seconds, fixed once recorded. */
  readonly created: number;
}

export interface GroupLimits {
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly concurrency: number | undefined;
}

export interface Group {
  readonly name: string;
  /** Price multiplier in millionths: 1.0 = 1_000_000n. */
  readonly multiplierPpm: bigint;
  readonly limits: GroupLimits;
  /** Absent: `weighted`. */
  readonly policy?: RoutingPolicy;
  /** Models that answer, in this order, when the model of a request cannot. */
  readonly fallbackModels?: readonly string[];
}

/** vendor + base URL + secret + weight. */
export interface ChannelFacts {
  readonly name: string;
  readonly vendor: string;
  readonly baseUrl: string | undefined;
  readonly secret: string | undefined;
  /**
   * Further keys of the same vendor, of one or several accounts. Each is used as if it were a
   * channel of its own.
   */
  readonly moreSecrets?: readonly string[];
  readonly groups: readonly string[];
  /** Lower first. */
  readonly priority: number;
  readonly weight: number;
  /** Public model id → the vendor's id. */
  readonly models: ReadonlyMap<string, string>;
  /**
   * Public model id → the lengths, in seconds, of the videos that it makes over this channel.
   * Absent: the lengths that the vendor's adapter knows.
   */
  readonly durations?: ReadonlyMap<string, readonly number[]>;
  /**
   * The vendor bills the input of requests that are cancelled before their first byte, and so does
   * Tollgate.
   */
  readonly billsCancelledInput?: true;
  /** Public model id → the vendor's price. Absent: the operator has entered none. */
  readonly costs?: ReadonlyMap<string, Price>;
}

export interface Channel extends ChannelFacts {
  /**
   * Counts the changes of vendor, base URL and secret: a channel that points elsewhere starts with
   * a clean record.
   */
  readonly revision: number;
  /**
   * Drained or switched off: the channel gets no new requests; tasks that it has accepted are
   * polled to their end.
   */
  readonly resting?: true;
  /** The number of the key in `secret`, from 2 on; absent: the first. */
  readonly keyNumber?: number;
}

/** One copy of the channel for each of its keys. */
export function withEachKey(channel: Channel): readonly Channel[] {
  const { moreSecrets } = channel;
  if (moreSecrets === undefined) return [channel];
  return [channel, ...moreSecrets.map((secret, i) => ({ ...channel, secret, keyNumber: i + 2 }))];
}

/**
 * The id under which health is recorded and a task remembers its channel: the channel at its
 * present revision, and the key.
 */
export function channelId({ name, revision, keyNumber }: Channel): string {
  return keyNumber === undefined ? `${name}@${revision}` : `${name}@${revision}#${keyNumber}`;
}

/** One channel and key that can serve one model; routing chooses among candidates. */
export interface Candidate {
  readonly channel: Channel;
  /** The channel, its revision and its key. Each id has one circuit breaker. */
  readonly id: string;
  readonly priority: number;
  readonly weight: number;
  readonly upstreamModel: string;
  /** The vendor's price of a usual request in nano-yuan; absent: not entered. */
  readonly cost?: number;
  /** The channel and the model, which together decide how fast a response is. */
  readonly latencyKey: string;
  readonly durations?: readonly number[];
  /** The list fees of its vendor's tools, where the model's price takes them. */
  readonly listFees?: Rates;
}

/** A model that a group may buy, at the group's multiplier, from these channels. */
export interface Offer {
  readonly model: Model;
  readonly group: Group;
  /** The model's price, with the list fees that it takes. */
  readonly price: Price;
  /** This price at the group's multiplier. */
  readonly tariff: Tariff;
  readonly candidates: readonly Candidate[];
}

/** All catalog data that admission needs. Immutable; a change replaces the whole snapshot. */
export interface Snapshot {
  readonly version: string;
  readonly groups: ReadonlyMap<string, Group>;
  readonly models: ReadonlyMap<string, Model>;
  readonly channels: ReadonlyMap<string, Channel>;
  /**
   * Undefined when the model does not exist and when the group may not use it: a client must not be
   * able to distinguish the two.
   */
  offer(group: string, model: string): Offer | undefined;
  /** The models that the group can reach, by id. */
  listing(group: string): readonly Model[];
}
